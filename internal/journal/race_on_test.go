//go:build race

package journal_test

// crowd is how many objectives make many. The race detector makes SQLite slow.
const crowd = 1_000
