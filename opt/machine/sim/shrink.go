package sim

import "strings"

// Shrink returns a short schedule that breaks the same rule as s: it removes
// steps, then lowers the numbers of the others. It plays at most tries schedules.
func Shrink(s Schedule, tries int) Schedule {
	rule := ruleOf(Run(s, false).Problem)
	breaks := func(t Schedule) bool {
		tries--
		return tries >= 0 && ruleOf(Run(t, false).Problem) == rule
	}
	for shorter := true; shorter && tries > 0; {
		shorter = false
		for size := max(1, len(s)/2); size >= 1; size /= 2 {
			for at := 0; at < len(s); {
				t := append(append(Schedule{}, s[:at]...), s[min(at+size, len(s)):]...)
				if breaks(t) {
					s, shorter = t, true
				} else {
					at += size
				}
			}
		}
		for i := range s {
			for k := range s[i] {
				shorter = lower(s, i, k, breaks) || shorter
			}
		}
	}
	return s
}

// lower makes one number as small as it can be.
func lower(s Schedule, i, k int, breaks func(Schedule) bool) bool {
	had := s[i][k]
	for _, to := range []byte{0, 1, had / 2, had - 1} {
		if to >= had {
			continue
		}
		s[i][k] = to
		if breaks(s) {
			return true
		}
		s[i][k] = had
	}
	return false
}

// ruleOf returns the rule in a problem.
func ruleOf(problem string) string {
	rule, _, _ := strings.Cut(problem, ":")
	return rule
}
