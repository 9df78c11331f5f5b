package rehearse_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/journal"
	"longhaul/internal/serve"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/rehearse"
)

var (
	books = flag.Int("books", 20, "compare so many random playbooks")
	seed  = flag.Uint64("seed", 1, "of the random playbooks")
)

const (
	atOnce = 12              // objectives that run at a time
	within = 2 * time.Minute // one of them ends

	lag = 20 * time.Second // that no course may depend on
)

// always is a file with a calendar in which all time is working time.
const always = "calendars: {always: {time-zone: UTC, hours: {mon-sun: [00:00-24:00]}, default: true}}\n"

// A sample is a random playbook whose course does not depend on how long its tasks take.
type sample struct {
	name, yaml string
	plan       rehearse.Planner
	a          rehearse.Assumptions
	course     map[string][]string
	status     opt.ObjectiveStatus
}

// rehearsal rehearses a playbook.
func (s *sample) rehearsal(t *testing.T, a rehearse.Assumptions) *rehearse.Report {
	t.Helper()
	r, err := rehearse.Run(s.plan, a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(s.name)}}, a)
	if err != nil {
		t.Fatalf("%v in\n%s", err, s.yaml)
	}
	return r
}

// delayed returns a with tasks that take longer, and people who do by the same time.
func delayed(r *rand.Rand, a rehearse.Assumptions) rehearse.Assumptions {
	late := func(s rehearse.Spread[time.Duration], by time.Duration) rehearse.Spread[time.Duration] {
		return rehearse.SpreadOf(s.At(0.5) + by)
	}
	tasks := map[string]rehearse.Work{}
	for name, w := range a.Tasks {
		w.Takes = late(w.Takes, time.Duration(r.Int64N(int64(lag))))
		tasks[name] = w
	}
	a.Tasks, a.People = tasks, slices.Clone(a.People)
	by := time.Duration(r.Int64N(int64(lag)))
	for i := range a.People {
		a.People[i].After = late(a.People[i].After, by)
	}
	return a
}

// newSample makes the random playbook of a number, false if its course depends on how long its tasks take.
func newSample(t *testing.T, n uint64) (*sample, bool) {
	m := &maker{Rand: rand.New(rand.NewPCG(*seed, n))}
	name := fmt.Sprint("book", n)
	m.make(name)
	m.a.At = time.Now().UTC()
	s := &sample{name: name, yaml: m.String(), a: m.a}
	dir := t.TempDir()
	var err error
	if s.plan, _, err = (serve.Build{}).Rehearsing(harness.WriteFile(t, dir, "book.yaml", s.yaml), harness.WriteFile(t, dir, "calendars.yaml", always)); err != nil {
		t.Fatalf("%v in\n%s", err, s.yaml)
	}
	r := s.rehearsal(t, s.a)
	s.course, s.status = courses(r.Events), r.Status
	if wrong := disorder(r.Events); len(wrong) > 0 {
		t.Errorf("%s: in the rehearsal %q\n%s", name, wrong, s.yaml)
	}
	for range 12 {
		if other := s.rehearsal(t, delayed(m.Rand, s.a)); len(differences(s.course, courses(other.Events))) > 0 || !other.Status.Ended() {
			return s, false
		}
	}
	return s, s.status.Ended() && r.Took.Likely < time.Minute
}

// For random playbooks, a run has the events of its rehearsal.
func TestReality(t *testing.T) {
	var samples []*sample
	tried := uint64(0)
	for ; len(samples) < *books; tried++ {
		if s, ok := newSample(t, tried); ok {
			samples = append(samples, s)
		}
	}
	kinds := map[opt.ObjectiveStatus]int{}
	for _, s := range samples {
		kinds[s.status]++
	}
	t.Logf("of %d playbooks, %d have a course that does not depend on times: %v", tried, len(samples), kinds)
	o := newOffice(t, samples)
	var wg sync.WaitGroup
	next := make(chan *sample)
	for range atOnce {
		wg.Go(func() {
			for s := range next {
				o.compare(t, s)
			}
		})
	}
	for _, s := range samples {
		next <- s
	}
	close(next)
	wg.Wait()
}

// An office is the service with its people.
type office struct {
	site    *harness.Site
	books   string            // directory of the playbooks
	keys    map[string]string // of people
	journal *journal.Journal
	clients map[string]*harness.Client
}

func newOffice(t *testing.T, samples []*sample) *office {
	dir := t.TempDir()
	for _, s := range samples {
		test.OK(t, os.WriteFile(filepath.Join(dir, s.name+".yaml"), []byte(s.yaml), 0o600))
	}
	site := harness.NewSite(t, "longhaul/dev/e2e/rehearse/assumed", "--auth", "keys", "--playbooks", dir, "--quota", "running-tasks=12",
		"--calendars", test.File(t, "calendars.yaml", always))
	o := &office{site: site, books: dir, keys: map[string]string{}, clients: map[string]*harness.Client{}}
	for _, p := range people {
		key := site.Key(p.Name, "--scopes", "all", "--groups", strings.Join(p.Groups, ","))
		o.keys[p.Name] = key
		o.clients[p.Name] = site.Client().With("Authorization", "Bearer "+key)
	}
	site.Start(harness.AllInOne)
	var err error
	if o.journal, err = journal.Open(t.Context(), journal.Config{Path: filepath.Join(site.Dir, "journal.db")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.journal.Close() })
	away := fmt.Sprintf(`{"deputy": "eve", "until": %q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	if status, body := o.clients["dora"].With("Content-Type", "application/json").MustPage(t, "POST", "/v1/absences", away); status != 200 {
		t.Fatalf("the absence of dora: %d: %s", status, body)
	}
	return o
}

// compare runs a playbook and compares the run with the rehearsal.
func (o *office) compare(t *testing.T, s *sample) {
	events, err := o.run(t.Context(), s)
	if err != nil {
		t.Errorf("%s: %v\n%s", s.name, err, s.yaml)
		return
	}
	if wrong := append(differences(s.course, courses(events)), disorder(events)...); len(wrong) > 0 {
		t.Errorf("%s:\n%s\n%v\n%s", s.name, strings.Join(wrong, "\n"), s.a.People, s.yaml)
	}
}

// A shift is one run with the people who answer in it.
type shift struct {
	*office
	s     *sample
	asked map[string]bool
	gates map[string]opt.Gate
	due   []answer
}

type answer struct {
	at   time.Time
	by   rehearse.Person
	gate string
}

// run runs a playbook to its end, and returns its events.
func (o *office) run(ctx context.Context, s *sample) (events []opt.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	task, err := o.clients["carol"].Send(ctx, harness.Message{ID: s.name, Text: s.name})
	if err != nil {
		return nil, err
	}
	id := task.ID // the root task of an objective has its id
	f := &shift{office: o, s: s, asked: map[string]bool{}, gates: map[string]opt.Gate{}}
	seq := int64(0)
	for {
		list, err := o.journal.Events(ctx, id, seq, 0)
		if err != nil {
			return nil, fmt.Errorf("%w: %v", err, events)
		}
		for _, r := range list {
			seq = r.Seq
			events = append(events, r.Event)
			f.notice(r.Event)
			if e := r.Event; e.TaskID == task.ID && e.Kind == opt.TaskMoved && opt.TaskState(e.To).Ended() {
				return events, nil
			}
		}
		if err := f.answer(ctx); err != nil {
			return nil, err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, fmt.Errorf("it does not end: %v", events)
		}
	}
}

// notice has people see what they are asked.
func (f *shift) notice(e opt.Event) {
	if e.Kind != opt.TaskMoved || e.PlanID == "" {
		return
	}
	for id, g := range f.gates {
		if g.TaskID == e.TaskID {
			delete(f.gates, id)
		}
	}
	if e.Gate == nil {
		return
	}
	f.gates[e.Gate.ID] = *e.Gate
	for _, p := range f.s.a.People {
		key := e.Gate.ID + p.Name
		if f.asked[key] || p.Silent || !may(p, e.Gate) {
			continue
		}
		f.asked[key] = true
		f.due = append(f.due, answer{e.At.Time().Add(p.After[0]), p, e.Gate.ID})
	}
	slices.SortStableFunc(f.due, func(x, y answer) int { return x.at.Compare(y.at) })
}

// answer sends the answers that are due at gates that are open.
func (f *shift) answer(ctx context.Context) error {
	for len(f.due) > 0 && !f.due[0].at.After(time.Now()) {
		a := f.due[0]
		f.due = f.due[1:]
		g, open := f.gates[a.gate]
		if !open {
			continue
		}
		data := replyTo(g, a.by)
		m := harness.Message{ID: "answer " + g.ID + " " + a.by.Name, TaskID: g.TaskID, Data: data}
		_, err := f.clients[a.by.Name].Send(ctx, m)
		if err != nil && harness.Reason(err) == "" {
			return fmt.Errorf("%s: %w", a.by.Name, err)
		}
	}
	return nil
}

// replyTo returns the answer of a person, as it is assumed.
func replyTo(g opt.Gate, p rehearse.Person) map[string]any {
	data := map[string]any{"interruptId": g.ID}
	if g.Kind == opt.Clarification {
		data["answers"] = []any{map[string]any{"id": g.Questions[0].ID, "answer": json.RawMessage(`"…"`)}}
		return data
	}
	action := opt.Accept
	if again := p.Action == opt.Refine && g.Again() != ""; g.Allows(p.Action) && !again {
		action = cmp.Or(p.Action, action)
	}
	data["action"] = action
	if action == opt.Refine {
		data["feedback"] = "As it is assumed."
	}
	return data
}
