// Package process has what all commands share: the process that runs one, its errors with
// their exit codes, the release, words that can be copied into a shell, and tables.
//
// process.go has [Process] and the errors, run.go parses arguments and runs a command,
// report.go prints its error, ended.go keeps why a server has ended, output.go prints, word.go
// knows names, URLs and shells, version.go the release.
package process
