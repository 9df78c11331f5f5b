// Package letter reads what a message decides at a gate: from its words, or from a decision in
// it. It knows the gate as it is shown, and nothing of calls: the workflow judges last.
package letter
