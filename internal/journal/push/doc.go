// Package push keeps push configs, and the deliveries of states to them and of notices to
// channels: who has asked for them, which are due, and what became of the attempts. Package
// record makes deliveries as it writes events.
package push
