package rehearse_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// The people of all playbooks: carol asks for the work, eve is the deputy of dora.
var people = []rehearse.Person{
	{Name: "ann", Groups: []string{"legal"}},
	{Name: "bob", Groups: []string{"leads"}},
	{Name: "carol", Groups: []string{"legal"}},
	{Name: "dora", Groups: []string{"leads", "heads"}},
	{Name: "eve", For: []string{"dora"}},
}

const requester = "carol"

// A maker writes a random playbook, and how its tasks and people go.
type maker struct {
	*rand.Rand
	strings.Builder
	a rehearse.Assumptions
}

// make writes the playbook for messages with a keyword.
func (m *maker) make(name string) {
	m.a = rehearse.Assumptions{Requester: requester, Tasks: map[string]rehearse.Work{}, People: m.crew()}
	fmt.Fprintf(m, "name: %s\nmatch: {keywords: [%[1]s]}\n", name)
	if m.IntN(4) == 0 {
		m.budget()
	}
	if m.IntN(6) == 0 {
		m.accept("Result", "")
	}
	m.WriteString("plans:\n")
	unordered := m.IntN(2) == 0
	for p := range 1 + m.IntN(3) {
		fmt.Fprintf(m, "  - name: Plan %d\n", p)
		if unordered {
			fmt.Fprintf(m, "    dependencies: [%s]\n", m.some(p, "Plan %d"))
		}
		if m.IntN(6) == 0 {
			fmt.Fprintf(m, "    optional: true\n")
		}
		if m.IntN(8) == 0 {
			m.accept(fmt.Sprintf("Plan %d", p), "    ")
		}
		m.WriteString("    tasks:\n")
		ordered := m.IntN(3) == 0
		for n := range 1 + m.IntN(6) {
			before := m.some(n, fmt.Sprintf("Task %d-%%d", p))
			m.task(fmt.Sprintf("Task %d-%d", p, n), ordered && n > 0 || before != "")
			if !ordered {
				fmt.Fprintf(m, "        dependencies: [%s]\n", before)
			}
		}
	}
}

// crew draws who answers, all of them at once, and how.
func (m *maker) crew() (list []rehearse.Person) {
	for i, p := range people {
		p.After = rehearse.SpreadOf(time.Duration(i) * time.Millisecond)
		p.Action = []opt.Action{opt.Accept, opt.Accept, opt.Accept, opt.Refine, opt.Reject}[m.IntN(5)]
		p.Silent = m.IntN(3) == 0
		list = append(list, p)
	}
	return list
}

// budget limits the costs and questions, in a way that tasks reach.
func (m *maker) budget() {
	least := 1 + m.IntN(6)
	fmt.Fprintf(m, "budget: {cost: %d", least)
	if m.IntN(2) == 0 {
		fmt.Fprintf(m, ", questions: %d", m.IntN(4))
	}
	if m.IntN(3) == 0 {
		m.WriteString(", on-exceeded: fail")
	}
	if m.IntN(2) == 0 {
		fmt.Fprintf(m, ", most: {cost: %d}", least+m.IntN(6))
	}
	m.WriteString("}\n")
}

// task writes a task: mostly one of an executor, else one for people. after says that others come before it.
func (m *maker) task(name string, after bool) {
	fmt.Fprintf(m, "      - name: %s\n", name)
	switch k := m.IntN(6); {
	case k == 0:
		object := ""
		if after {
			object = ", object: '{{results}}'"
		}
		fmt.Fprintf(m, "        standing: %v\n        human: {approve: \"Go on?\"%s%s}\n", after && m.IntN(4) > 0, object, m.asking())
	case k == 1:
		m.WriteString("        human: {questions: [{question: \"Which?\"}]}\n")
	default:
		work := rehearse.Work{Takes: rehearse.SpreadOf(m.span(time.Second)), Cost: rehearse.SpreadOf(opt.Money(m.IntN(3)) * 1_000_000)}
		if m.IntN(4) == 0 {
			work.Fails = 1 + m.IntN(3)
		}
		if m.IntN(12) == 0 {
			work.Ends = []opt.TaskState{opt.TaskFailed, opt.TaskRejected}[m.IntN(2)]
		}
		optional := m.IntN(4) == 0
		fmt.Fprintf(m, "        %s\n        retry: {attempts: %d, wait: %ds}\n        optional: %v\n", m.works(name, work), 1+m.IntN(3), 1+m.IntN(2), optional)
		if !optional && m.IntN(3) == 0 {
			m.accept(name, "        ")
		}
	}
}

// works keeps what a task does, and returns its executor and input.
func (m *maker) works(name string, w rehearse.Work) string {
	m.a.Tasks[name] = w
	return fmt.Sprintf("executor: assumed\n        input: %s", inputOf(w))
}

// inputOf returns the input with which the executor works so.
func inputOf(w rehearse.Work) string {
	ends := opt.TaskCompleted
	if w.Ends != "" {
		ends = w.Ends
	}
	return fmt.Sprintf("{takes: %d, fails: %d, ends: %s, verdict: %q, cost: %v}", w.Takes.At(0.5).Milliseconds(), w.Fails, ends, w.Verdict, w.Cost.At(0.5))
}

// accept writes how the result of a task, a plan or all of them is accepted.
func (m *maker) accept(name, indent string) {
	var checks []string
	for i := range 1 + m.IntN(2) {
		w := rehearse.Work{Takes: rehearse.SpreadOf(m.span(300 * time.Millisecond)), Verdict: []opt.Action{opt.Accept, opt.Accept, opt.Reject, opt.Ask}[m.IntN(4)]}
		check := fmt.Sprintf("Check %d of %s", i, name)
		of := 1 + 2*m.IntN(2)
		for n := range of {
			m.a.Tasks[fmt.Sprintf("%s %d", check, n+1)] = w
		}
		m.a.Tasks[check] = w
		checks = append(checks, fmt.Sprintf("{name: %s, of: %d, executor: assumed, input: %s}", check, of, inputOf(w)))
	}
	only := ""
	if m.a.Tasks["Whether to ask"].Verdict == "" && m.IntN(3) == 0 { // all of them have one name
		asks := m.IntN(2) == 0
		only = fmt.Sprintf(", only-if: \"%v\"", asks)
		m.a.Tasks["Whether to ask"] = rehearse.Work{Verdict: map[bool]opt.Action{true: opt.Ask, false: opt.Accept}[asks], Takes: rehearse.SpreadOf(50 * time.Millisecond)}
	}
	fmt.Fprintf(m, "%saccept: {checks: [%s], rounds: %d%s%s}\n", indent, strings.Join(checks, ", "), 1+m.IntN(2), only, m.asking())
}

// asking returns who may answer, and the ladder. Steps are taken soon until one who answers may, and then late:
// no step and no answer are in a race.
func (m *maker) asking() string {
	text, r := "", &opt.Responders{}
	switch m.IntN(5) {
	case 0:
		text, r = ", responders: {groups: [legal], not-requester: true}", &opt.Responders{Groups: []string{"legal"}, NotRequester: true}
	case 1:
		text = fmt.Sprintf(", responders: {groups: [legal, leads], accepts: %d, veto: %v}", 1+m.IntN(2), m.IntN(2) == 0)
		r.Groups = []string{"legal", "leads"}
	case 2, 3:
		text, r.Principals = ", responders: {principals: [dora]}", []string{"dora"}
	}
	at, live := 0, false
	after := func() string {
		if live = live || m.answers(r); live {
			at += 24 * 3600
		}
		at++
		if live && m.IntN(2) == 0 {
			return fmt.Sprintf("after: %d working hours", at/3600)
		}
		return fmt.Sprintf("after: %ds", at)
	}
	var wait []string
	for i, form := range []string{"{%s, do: remind}", "{%s, do: escalate, to: {groups: [leads]}}", "{%s, do: reassign, to: {principals: [ann, bob]}}"} {
		if m.IntN(2) == 0 {
			continue
		}
		wait = append(wait, fmt.Sprintf(form, after()))
		switch i {
		case 1:
			r = r.Joined(&opt.Responders{Groups: []string{"leads"}})
		case 2:
			r = &opt.Responders{Principals: []string{"ann", "bob"}, NotRequester: r.NotRequester}
		}
	}
	end := ""
	if m.IntN(3) == 0 && !strings.Contains(text, "accepts") {
		end = ", action: accept"
	}
	return text + ", wait: [" + strings.Join(append(wait, fmt.Sprintf("{%s, do: expire%s}", after(), end)), ", ") + "]"
}

// answers reports whether one who may answer does.
func (m *maker) answers(r *opt.Responders) bool {
	return slices.ContainsFunc(m.a.People, func(p rehearse.Person) bool { return !p.Silent && may(p, &opt.Gate{Responders: r}) })
}

// may reports whether a person may answer at a gate, itself or as the deputy of dora.
func may(p rehearse.Person, g *opt.Gate) bool {
	seats := []opt.Seat{{Principal: "dora", Groups: people[3].Groups}}
	return g.Responders.Allow(p.Name, p.Groups, requester) || p.For != nil && g.DeputyFor(p.Name, p.Groups, seats, requester) != nil
}

// some lists some of the n before.
func (m *maker) some(n int, form string) string {
	var out []string
	for i := range n {
		if m.IntN(3) == 0 {
			out = append(out, fmt.Sprintf(form, i))
		}
	}
	return strings.Join(out, ", ")
}

// span returns a random time up to most.
func (m *maker) span(most time.Duration) time.Duration {
	return time.Duration(1+m.Int64N(most.Milliseconds())) * time.Millisecond
}
