// Package receive receives callbacks of programs that work on a task elsewhere, and delivers
// progress at a pace that histories can bear.
package receive
