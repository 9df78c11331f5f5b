package rehearse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// randomBook returns a random playbook, and how its tasks and people go. No two figures are equal.
func randomBook(r *rand.Rand) (yaml string, a rehearse.Assumptions) {
	a = rehearse.Assumptions{Requester: "carol", Tasks: map[string]rehearse.Work{}, Limits: opt.Limits{Parallel: 1 + r.IntN(4)}}
	for i, name := range []string{"ann", "bob", "carol", "dora"} {
		p := rehearse.Person{Name: name, Groups: []string{[]string{"legal", "leads"}[i%2]}, After: rehearse.SpreadOf(span(r, 6*time.Hour))}
		p.Action = []opt.Action{opt.Accept, opt.Accept, opt.Accept, opt.Refine, opt.Reject}[r.IntN(5)]
		a.People = append(a.People, p)
	}
	var b strings.Builder
	b.WriteString("name: random\ndefault: true\nplans:\n")
	unordered := r.IntN(2) == 0
	for p := range 1 + r.IntN(3) {
		fmt.Fprintf(&b, "  - name: Plan %d\n", p)
		if unordered {
			fmt.Fprintf(&b, "    dependencies: [%s]\n", some(r, p, "Plan %d"))
		}
		b.WriteString("    tasks:\n")
		ordered := r.IntN(3) == 0
		for n := range 1 + r.IntN(6) {
			randomTask(r, &b, fmt.Sprintf("Task %d-%%d", p), n, a)
			if !ordered {
				fmt.Fprintf(&b, "        dependencies: [%s]\n", some(r, n, fmt.Sprintf("Task %d-%%d", p)))
			}
		}
	}
	return b.String(), a
}

// randomTask writes a task: mostly one of an executor, else one for people.
func randomTask(r *rand.Rand, b *strings.Builder, form string, n int, a rehearse.Assumptions) {
	name := fmt.Sprintf(form, n)
	fmt.Fprintf(b, "      - name: %s\n", name)
	switch k := r.IntN(6); {
	case k == 0:
		fmt.Fprintf(b, "        human: {approve: \"Go on?\"%s}\n", asking(r))
	case k == 1:
		b.WriteString("        human: {questions: [{question: \"Which?\"}]}\n")
	default:
		work := rehearse.Work{Takes: rehearse.SpreadOf(span(r, 20*time.Minute)), Cost: rehearse.SpreadOf(opt.Money(1 + r.IntN(9)))}
		if r.IntN(4) == 0 {
			work.Fails = 1 + r.IntN(3)
		}
		if r.IntN(12) == 0 {
			work.Ends = opt.TaskFailed
		}
		a.Tasks[name] = work
		optional := r.IntN(4) == 0
		fmt.Fprintf(b, "        executor: shell\n        retry: {attempts: %d, wait: %ds}\n        optional: %v\n", 1+r.IntN(3), 1+r.IntN(90), optional)
		if !optional && r.IntN(4) == 0 {
			verdict := []opt.Action{opt.Accept, opt.Reject, opt.Ask}[r.IntN(3)]
			a.Tasks["Check "+name] = rehearse.Work{Takes: rehearse.SpreadOf(span(r, time.Minute)), Verdict: verdict}
			fmt.Fprintf(b, "        accept: {checks: [{name: Check %s, schema: {}}], rounds: %d%s}\n", name, 1+r.IntN(2), asking(r))
		}
	}
}

// asking returns who may answer, and the ladder.
func asking(r *rand.Rand) string {
	text := ""
	switch r.IntN(4) {
	case 0:
		text += ", responders: {groups: [legal], not-requester: true}"
	case 1:
		text += fmt.Sprintf(", responders: {groups: [legal, leads], accepts: %d}", 1+r.IntN(2))
	case 2:
		text += ", responders: {principals: [dora]}"
	}
	steps := []string{"{after: %ds, do: remind}", "{after: %ds, do: escalate, to: {groups: [leads]}}", "{after: %ds, do: reassign, to: {principals: [ann, bob]}}"}
	var wait []string
	at := 0
	for _, s := range steps {
		if at += 60 + r.IntN(3*3600); r.IntN(2) == 0 {
			wait = append(wait, fmt.Sprintf(s, at))
		}
	}
	if r.IntN(2) == 0 || len(wait) == 0 {
		wait = append(wait, fmt.Sprintf("{after: %ds, do: expire}", at+4*3600))
	}
	return text + ", wait: [" + strings.Join(wait, ", ") + "]"
}

// some lists some of the n before.
func some(r *rand.Rand, n int, form string) string {
	var out []string
	for i := range n {
		if r.IntN(3) == 0 {
			out = append(out, fmt.Sprintf(form, i))
		}
	}
	return strings.Join(out, ", ")
}

// span returns a random time up to most.
func span(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(1+r.Int64N(most.Milliseconds())) * time.Millisecond
}
