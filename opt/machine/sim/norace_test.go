//go:build !race

package sim_test

// usual is how many schedules a test run plays.
const usual = 10_000
