package wire_test

import (
	"testing"

	"longhaul/internal/test"
	"longhaul/opt/wire"
)

func TestUsage_String(t *testing.T) {
	test.Is(t, "one of each", (&wire.Usage{Questions: 1, Calls: 1}).String(), "1 question, 1 call")
	test.Is(t, "several", (&wire.Usage{Questions: 2, Calls: 3}).String(), "2 questions, 3 calls")
	test.Is(t, "of a limit", (&wire.Usage{Questions: 1, Calls: 1, Limit: &wire.Limit{Questions: 3, Calls: 2}}).String(), "1 of 2 questions, 1 of 1 call")
}
