package echo

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/internal/opfile"
	"longhaul/opt"
)

// A command is one thing that echo does.
type command struct {
	verb     string
	count    int
	duration time.Duration
	text     string
}

// limits of one command, against typing mistakes
const (
	maxWork  = time.Hour // all pieces of a stream together
	maxCount = 10_000
)

// IsScript reports whether text begins with a command, and so is meant for this
// executor.
func IsScript(text string) bool {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	first, _, _ = strings.Cut(first, ";")
	return len(parse(first)) > 0
}

// verbs has how the words behind each verb are read.
var verbs = map[string]func(c *command, words []string) bool{
	"approve": hasText, "ask": hasText, "heed": hasText, "say": hasText,
	"panic": isAlone, "pass": isAlone,
	"work":  hasTime,
	"write": func(c *command, words []string) bool { return hasTime(c, words) && c.duration <= maxWork/(2*maxPoints) },
	"fail": func(c *command, words []string) bool {
		c.text = strings.Join(words[min(1, len(words)):], " ")
		return len(words) == 0 || len(words) < 3 && parseCount(words[0], &c.count)
	},
	"stream": func(c *command, words []string) bool {
		c.duration = 10 * time.Millisecond
		if len(words) == 2 && !parseDuration(words[1], &c.duration) {
			return false
		}
		return len(words) > 0 && len(words) < 3 && parseCount(words[0], &c.count) && c.duration <= maxWork/time.Duration(c.count)
	},
}

func hasText(_ *command, words []string) bool { return len(words) > 0 }
func isAlone(_ *command, words []string) bool { return len(words) == 0 }
func hasTime(c *command, words []string) bool {
	return len(words) == 1 && parseDuration(words[0], &c.duration)
}

// others are words that people write in place of verbs.
var others = map[string]string{"sleep": "work", "wait": "work", "print": "say", "echo": "say", "error": "fail"}

// meant names the first line of a script that begins with a word like a verb. It returns "" for other
// text.
func meant(script string) string {
	for _, line := range lines(script) {
		verb, _, _ := strings.Cut(line, " ")
		like := others[verb]
		if near := opfile.Nearest(verb, slices.Sorted(maps.Keys(verbs))); len(near) > 0 && near[0][0] == verb[0] {
			like = near[0]
		}
		if like != "" && verbs[verb] == nil {
			return fmt.Sprintf("(%q is no command of echo. Did you mean %s?)", line, like)
		}
	}
	return ""
}

// lines returns the parts of a script that may be commands.
func lines(script string) (list []string) {
	for _, line := range strings.FieldsFunc(script, func(r rune) bool { return r == '\n' || r == ';' }) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// parse finds the commands in a description and ignores other text.
func parse(script string) []command {
	var out []command
	for _, line := range lines(script) {
		verb, rest, _ := strings.Cut(line, " ")
		if c, ok := parseOne(strings.ToLower(verb), strings.TrimSpace(rest)); ok {
			out = append(out, c)
		}
	}
	return out
}

func parseOne(verb, rest string) (command, bool) {
	c, read := command{verb: verb, text: rest}, verbs[verb]
	ok := read != nil && read(&c, strings.Fields(rest))
	return c, ok
}

func parseCount(word string, n *int) bool {
	v, err := strconv.Atoi(word)
	*n = v
	return err == nil && v > 0 && v <= maxCount
}

func parseDuration(word string, d *time.Duration) bool {
	v, err := time.ParseDuration(word)
	*d = v
	return err == nil && v >= 0 && v <= maxWork
}

// gate returns the gate that an approve or ask command opens.
func (c command) gate() opt.Gate {
	if c.verb == "ask" {
		return opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "q1", Question: c.text}}}
	}
	return opt.Gate{Kind: opt.Approval, Title: c.text, Actions: []opt.Action{opt.Accept, opt.Reject}}
}
