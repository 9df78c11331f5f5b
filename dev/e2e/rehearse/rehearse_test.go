package rehearse_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
	rehearsed  []rehearsed // and again, with standing decisions at all gates for which they may be
	status     opt.ObjectiveStatus
}

// A rehearsed is how the events of a run should be.
type rehearsed struct {
	by     rehearse.Assumptions
	course map[string][]string
	stands []string // for what people may make standing decisions in it
}

func newRehearsed(by rehearse.Assumptions, events []opt.Event) rehearsed {
	return rehearsed{by, courses(events), stands(events)}
}

// stands lists the gates that were opened about which people may decide beforehand.
func stands(events []opt.Event) (list []string) {
	for _, e := range events {
		if e.Gate != nil && e.Gate.Standing != "" && e.PlanID != "" {
			list = append(list, e.Gate.Standing)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
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
	for _, name := range slices.Sorted(maps.Keys(a.Tasks)) { // in order, so that a seed makes the same delays
		w := a.Tasks[name]
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
	r, ok := s.steady(t, m.Rand, s.a)
	s.rehearsed, s.status = []rehearsed{newRehearsed(s.a, r.Events)}, r.Status
	if a, any := standing(s.a, r.Events); any && ok {
		if again, ok := s.steady(t, m.Rand, a); ok {
			s.rehearsed = append(s.rehearsed, newRehearsed(a, again.Events))
		}
	}
	return s, ok
}

// late reports whether a rehearsal in which tasks and people are later has the course of a run: it depends on how long they
// take, although those of which the sample was made did not show that.
func (s *sample) late(t *testing.T, by rehearse.Assumptions, course map[string][]string) bool {
	r := rand.New(rand.NewPCG(*seed, 0))
	for range 1000 {
		if len(differences(courses(s.rehearsal(t, delayed(r, by)).Events), course)) == 0 {
			return true
		}
	}
	return false
}

// steady rehearses a playbook; ok is false if its course depends on how long its tasks take.
func (s *sample) steady(t *testing.T, r *rand.Rand, a rehearse.Assumptions) (first *rehearse.Report, ok bool) {
	first = s.rehearsal(t, a)
	course := courses(first.Events)
	if wrong := disorder(first.Events); len(wrong) > 0 {
		t.Errorf("%s: in the rehearsal %q\n%s", s.name, wrong, s.yaml)
	}
	for range 12 {
		if other := s.rehearsal(t, delayed(r, a)); len(differences(course, courses(other.Events))) > 0 || !other.Status.Ended() {
			return first, false
		}
	}
	return first, first.Status.Ended() && first.Took.Likely < time.Minute
}

// standing returns a with standing decisions about all that people were asked and may decide beforehand.
func standing(a rehearse.Assumptions, events []opt.Event) (_ rehearse.Assumptions, any bool) {
	names := map[string]string{}
	a.Tasks = maps.Clone(a.Tasks)
	for _, e := range events {
		if e.Plan != nil {
			for _, t := range e.Plan.Tasks {
				names[t.ID] = t.Name
			}
		}
		if ref, _ := opt.ParseID(e.TaskID); e.Gate != nil && e.Gate.Standing != "" && e.PlanID != "" {
			a.Tasks[names[ref.TaskID]], any = rehearse.Work{Stands: true}, true
		}
	}
	return a, any
}

// For random playbooks, a run has the events of its rehearsal; so has a second one, with the standing decisions that
// people have made in the first.
func TestReality(t *testing.T) {
	var samples []*sample
	tried := uint64(0)
	for ; len(samples) < *books; tried++ {
		if s, ok := newSample(t, tried); ok {
			samples = append(samples, s)
		}
	}
	kinds, stood := map[opt.ObjectiveStatus]int{}, 0
	for _, s := range samples {
		kinds[s.status]++
		if len(s.rehearsed) > 1 {
			stood++
		}
	}
	t.Logf("of %d playbooks, %d have a course that does not depend on times: %v, %d with standing decisions", tried, len(samples), kinds, stood)
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
	atMost := func(n *atomic.Int64, most int, what string) {
		t.Logf("%d %s; at most %d may", n.Load(), what, most)
		if n.Load() > int64(most) {
			t.Errorf("%d %s; at most %d may", n.Load(), what, most)
		}
	}
	atMost(&o.late, max(2, len(samples)/10), "runs have only the course of a rehearsal in which tasks and people are later")
	atMost(&o.left, max(1, stood/4), "second runs were left out")
}

// An office is the service with its people.
type office struct {
	late    atomic.Int64 // runs with the course of a rehearsal in which tasks and people are later
	left    atomic.Int64 // second runs that were left out
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

// compare runs a playbook, again if there are standing decisions then, and compares the runs with the rehearsals.
func (o *office) compare(t *testing.T, s *sample) {
	for i, want := range s.rehearsed {
		events, err := o.run(t.Context(), s, i > 0)
		if err != nil {
			t.Errorf("%s: %v\n%s", s.name, err, s.yaml)
			return
		}
		got := courses(events)
		wrong := differences(want.course, got)
		if len(wrong) > 0 && s.late(t, want.by, got) {
			o.late.Add(1)
			t.Logf("%s, run %d has the course of a rehearsal in which tasks and people are later", s.name, i+1)
			wrong = nil
		}
		if wrong = append(wrong, disorder(events)...); len(wrong) > 0 {
			t.Errorf("%s, run %d:\n%s\n%v\n%s", s.name, i+1, strings.Join(wrong, "\n"), s.a.People, s.yaml)
		}
		if got := stands(events); i == 0 && len(s.rehearsed) > 1 && !slices.Equal(got, want.stands) {
			o.left.Add(1)
			t.Logf("%s: people were asked about %q, in the rehearsal about %q", s.name, got, want.stands) // the failure of other work was first, or late
			return
		}
	}
}

// A shift is one run with the people who answer in it.
type shift struct {
	*office
	s      *sample
	asked  map[string]bool
	gates  map[string]opt.Gate
	stands map[string]string // gates at which people may make standing decisions; nil in a run that has them
	due    []answer
}

type answer struct {
	at   time.Time
	by   rehearse.Person
	gate string
}

// run runs a playbook to its end, for the first time or again, and returns its events.
func (o *office) run(ctx context.Context, s *sample, again bool) (events []opt.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	task, err := o.clients["carol"].Send(ctx, harness.Message{ID: fmt.Sprint(s.name, again), Text: s.name})
	if err != nil {
		return nil, err
	}
	id := task.ID // the root task of an objective has its id
	f := &shift{office: o, s: s, asked: map[string]bool{}, gates: map[string]opt.Gate{}}
	if len(s.rehearsed) > 1 && !again {
		f.stands = map[string]string{}
	}
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
				return events, f.decide(ctx)
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
	if _, known := f.stands[e.Gate.Standing]; f.stands != nil && e.Gate.Standing != "" && !known {
		f.stands[e.Gate.Standing] = e.Gate.ID
	}
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
	if err := f.decide(ctx); err != nil {
		return err
	}
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

// decide has people make a standing decision for each gate at which they may, all who may be behind it.
func (f *shift) decide(ctx context.Context) error {
	for of, gate := range f.stands {
		if gate == "" {
			continue
		}
		path, body := "/v1/standing", fmt.Sprintf(`{"interruptId": %q, "holds": "true", "for": "1h", "most": 9}`, gate)
		for _, p := range f.s.a.People {
			status, answer, err := f.clients[p.Name].With("Content-Type", "application/json").Page(ctx, "POST", path, body)
			if err != nil {
				return err
			}
			var made struct{ ID string }
			switch err := json.Unmarshal(answer, &made); {
			case err == nil && status == http.StatusOK:
				path, body = "/v1/standing/"+made.ID+"/approve", ""
			case status != http.StatusForbidden: // who may not decide
				return fmt.Errorf("the standing decision of %s: status %d, %s", p.Name, status, answer)
			}
		}
		f.stands[of] = "" // made
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
