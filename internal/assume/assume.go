// Package assume reads the file with the assumptions of a rehearsal. A figure in it is one value, or two
// or three from the least to the most: 10m, or 5m..10m..1h.
package assume

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/internal/opfile"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/rehearse"
)

type file struct {
	Requester string          `yaml:"requester"`
	At        string          `yaml:"at"` // when all begins, as RFC 3339 has it
	Within    time.Duration   `yaml:"within"`
	Budget    budget          `yaml:"budget"`
	Quotas    []string        `yaml:"quotas"` // as --quota
	Tasks     map[string]work `yaml:"tasks"`
	Executors map[string]work `yaml:"executors"`
	People    []person        `yaml:"people"`
}

type budget struct {
	Tokens int64  `yaml:"tokens"`
	Cost   string `yaml:"cost"`
}

type work struct {
	Takes   string `yaml:"takes"`
	Tokens  string `yaml:"tokens"`
	Cost    string `yaml:"cost"`
	Fails   int    `yaml:"fails"`
	Ends    string `yaml:"ends"`
	Verdict string `yaml:"verdict"`
	Stands  bool   `yaml:"standing"`
}

type person struct {
	Name   string   `yaml:"name"`
	Groups []string `yaml:"groups"`
	After  string   `yaml:"after"` // or never
	Action string   `yaml:"action"`
	For    []string `yaml:"for"` // absent people, whose deputy it is
}

// Read reads a file, "" for none.
func Read(path string) (a rehearse.Assumptions, err error) {
	var f file
	if path == "" {
		return a, nil
	}
	if err := opfile.Read(path, "assumptions", &f); err != nil {
		return a, err
	}
	wrong := &mistakes{path: path}
	a.Requester, a.Within = f.Requester, f.Within
	if f.At != "" {
		a.At, err = time.Parse(time.RFC3339, f.At)
		wrong.add("at", err)
	}
	a.Budget.Tokens = f.Budget.Tokens
	if list := spread(wrong, "budget", f.Budget.Cost, money); len(list) > 0 {
		a.Budget.Cost = list[0]
	}
	a.Quotas, err = access.Quotas{}.With(f.Quotas...)
	wrong.add("quotas", err)
	a.Tasks, a.Executors = works(wrong, f.Tasks), works(wrong, f.Executors)
	for _, p := range f.People {
		a.People = append(a.People, p.assumed(wrong))
	}
	return a, wrong.first
}

// mistakes keep the first mistake of a file.
type mistakes struct {
	path  string
	first error
}

func (m *mistakes) add(where string, err error) {
	if err != nil && m.first == nil {
		m.first = fmt.Errorf("%s: %s: %w", m.path, where, err)
	}
}

func works(wrong *mistakes, list map[string]work) map[string]rehearse.Work {
	out := map[string]rehearse.Work{}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		w := list[name]
		ends := opt.TaskState(w.Ends)
		if !slices.Contains([]opt.TaskState{"", opt.TaskCompleted, opt.TaskFailed, opt.TaskRejected}, ends) {
			wrong.add(name, fmt.Errorf("a task ends as completed, failed or rejected, not %q", w.Ends))
		}
		out[name] = rehearse.Work{
			Takes: spread(wrong, name, w.Takes, opt.ParseSpan), Cost: spread(wrong, name, w.Cost, money),
			Tokens: spread(wrong, name, w.Tokens, func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }),
			Fails:  w.Fails, Ends: ends, Verdict: action(wrong, name, w.Verdict), Stands: w.Stands,
		}
	}
	return out
}

func (p person) assumed(wrong *mistakes) rehearse.Person {
	out := rehearse.Person{Name: p.Name, Groups: p.Groups, For: p.For, Silent: p.After == "never", Action: action(wrong, p.Name, p.Action)}
	if !out.Silent {
		out.After = spread(wrong, p.Name, p.After, opt.ParseSpan)
	}
	return out
}

func action(wrong *mistakes, where, text string) opt.Action {
	if a := opt.Action(text); text == "" || a.Valid() {
		return a
	}
	wrong.add(where, fmt.Errorf("%q is none of %s", text, opt.Actions()))
	return ""
}

func money(text string) (m opt.Money, err error) { return m, m.UnmarshalText([]byte(text)) }

// spread reads a figure.
func spread[T ~int64](wrong *mistakes, where, text string, parse func(string) (T, error)) rehearse.Spread[T] {
	if text == "" {
		return nil
	}
	var values []T
	for one := range strings.SplitSeq(text, "..") {
		v, err := parse(strings.TrimSpace(one))
		wrong.add(where, err)
		values = append(values, v)
	}
	return rehearse.SpreadOf(values...)
}
