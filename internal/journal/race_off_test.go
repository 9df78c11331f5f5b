//go:build !race

package journal_test

// crowd is how many objectives make many.
const crowd = 10_000
