// Package push has the push configs of tasks and the deliveries to them. A config never returns
// its secrets. One that comes with a message is stored before the message is handed over, so
// that no state is missed, and removed if the message has no effect.
package push
