package planner

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"longhaul/a2a"
)

// rules say which requests a playbook is for: one matching rule is enough.
type rules struct {
	skills   []string
	keywords []string
	pattern  *regexp.Regexp // nil matches nothing
	fallback bool           // for what no playbook matches
	anySkill bool           // with fallback: also for skills that no playbook has
}

func (r rules) empty() bool {
	return len(r.skills) == 0 && len(r.keywords) == 0 && r.pattern == nil && !r.fallback
}

// choose returns the playbook for a request, or nil, and the reason: the playbook
// whose skill m asks for, else the first whose keyword or pattern is in the
// request, else the default.
func (p *Playbooks) choose(m *a2a.Message, request string) (*playbook, string) {
	if skill, asked := skillOf(m); asked {
		switch b := cmp.Or(p.bySkill(skill), p.anySkill()); {
		case b != nil:
			return b, fmt.Sprintf("skill %q", skill)
		case p.fallback != nil:
			return nil, fmt.Sprintf("no playbook has the skill %q", skill)
		}
	}
	words := foldText(request)
	for _, b := range p.list {
		if why := b.rules.matched(request, words); why != "" {
			return b, why
		}
	}
	if b := p.first(func(b *playbook) bool { return b.rules.fallback }); b != nil {
		return b, "default"
	}
	if len(Rules{}.Steps(request)) > 0 {
		return nil, "no playbook matches the request, so each step that it names is a task"
	}
	return nil, "no playbook matches the request, so it is one task"
}

// matched returns why the playbook fits a request, which words are without case; "" if it does not.
func (r rules) matched(request, words string) (why string) {
	for _, k := range r.keywords {
		if strings.Contains(words, foldText(k)) {
			return fmt.Sprintf("keyword %q", k)
		}
	}
	if r.pattern != nil && r.pattern.MatchString(request) {
		return fmt.Sprintf("pattern %q", r.pattern)
	}
	return ""
}

// first returns the first playbook that is so, nil if there is none.
func (p *Playbooks) first(is func(*playbook) bool) *playbook {
	i := slices.IndexFunc(p.list, is)
	if i < 0 {
		return nil
	}
	return p.list[i]
}

// anySkill returns the playbook that takes whichever skill a message asks for.
func (p *Playbooks) anySkill() *playbook {
	return p.first(func(b *playbook) bool { return b.rules.anySkill })
}

// bySkill returns the playbook that offers a skill, or has its name.
func (p *Playbooks) bySkill(skill string) *playbook {
	return cmp.Or(
		p.first(func(b *playbook) bool { return slices.Contains(b.rules.skills, skill) }),
		p.first(func(b *playbook) bool { return b.name == skill }),
	)
}

// foldText makes texts comparable word by word: " one two ".
func foldText(s string) string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.In(r, unicode.Letter, unicode.Digit, unicode.Mark)
	})
	return " " + strings.Join(words, " ") + " "
}
