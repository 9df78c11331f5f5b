// Package commands has the commands for people and scripts, which reach an agent over A2A:
// people.go lists them.
//
// remote.go reaches the agent, for all of them, and says what to do about its errors. watch.go
// follows a task on a display (display.go): print.go and gate.go print lines, live.go draws a
// tree (tree.go) on a terminal. inbox.go has a person at a terminal answer, with prompt.go; id.go
// completes ids.
package commands
