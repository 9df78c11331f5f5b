package sim

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A Step has the random numbers of one step. Its first number decides the kind of
// event, the others which and how. Zero is the simplest choice.
type Step [8]byte

// A Schedule has all random decisions in a world.
type Schedule []Step

// Random returns the schedule of n steps for a seed.
func Random(seed uint64, n int) Schedule {
	r := rand.New(rand.NewPCG(seed, 8))
	s := make(Schedule, n)
	for i := range s {
		for k := range s[i] {
			s[i][k] = byte(r.Uint32())
		}
	}
	return s
}

// String returns s as Go source.
func (s Schedule) String() string {
	var b strings.Builder
	b.WriteString("Schedule{\n")
	for _, step := range s {
		fmt.Fprintf(&b, "\t{%d, %d, %d, %d, %d, %d, %d, %d},\n", step[0], step[1], step[2], step[3], step[4], step[5], step[6], step[7])
	}
	b.WriteString("}")
	return b.String()
}

// A choice reads the numbers of a step one after another, and then zeros.
type choice struct {
	step Step
	at   int
}

// pick returns a number below n, 0 if there is no choice.
func (c *choice) pick(n int) int {
	if n <= 1 || c.at >= len(c.step) {
		return 0
	}
	c.at++
	return int(c.step[c.at-1]) % n
}

// chance is true once in n.
func (c *choice) chance(n int) bool { return c.pick(n) == n-1 && n > 1 }
