// Package operate has the commands for operators. They use the journal and Temporal
// themselves, beside the processes that serve: operators.go lists them.
package operate
