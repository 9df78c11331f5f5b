package opt_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

var (
	seed     = flag.Uint64("seed", 0, "run the random schedules of this seed, in place of the usual ones")
	seedsRun = flag.Uint64("seeds", 1, "with -seed: the number of seeds to run, from that one on")
)

// Random schedules: they are made from the seed and the number in the name of a
// test. The races between calls are not repeatable.
const (
	perSeed = 30 // objectives
	editors = 2  // clients that change each of them at once
	rounds  = 40 // of helping an objective, at most
)

var seeds = []uint64{1, 2, 51}

// randomly has clients change objectives while they are carried out. However that
// goes, each comes to what it should, by moves that the tables allow; nothing is run
// twice, or after it was taken away; every reader sees the same.
func randomly(t *testing.T, s *service) {
	list := seeds
	if *seed != 0 {
		list = nil
		for n := range *seedsRun {
			list = append(list, *seed+n)
		}
	}
	for _, seed := range list {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			for n := range perSeed {
				s.each(t, fmt.Sprint(n), func(c *client) { newSchedule(c, seed, uint64(n)).run() })
			}
		})
	}
}

// A schedule is one objective and what happens to it.
type schedule struct {
	*client
	r       *rand.Rand
	name    string
	id      string
	made    bool // by objectives/create, so that a message starts it
	attempt int
	begun   int                 // the latest attempt that was started
	said    int                 // messages
	readers map[string][]reader // by root task
}

// A reader follows a root task.
type reader struct {
	*harness.Follower
	fresh bool // from the task as it was then, which is not possible once it has ended
}

func newSchedule(c *client, seed, n uint64) *schedule {
	return &schedule{client: c, r: rand.New(rand.NewPCG(seed, n)), name: fmt.Sprintf("random-%d-%d", seed, n), attempt: 1, readers: map[string][]reader{}}
}

func (s *schedule) run() {
	s.open()
	s.follow(s.id, 0)
	var all sync.WaitGroup
	for range editors {
		e := &editor{schedule: s, r: rand.New(rand.NewPCG(s.r.Uint64(), s.r.Uint64())), name: fmt.Sprintf("%s-%d", s.name, s.r.Uint32())}
		all.Go(e.run)
	}
	s.follow(s.id, harness.Fresh)
	all.Wait()
	for {
		st := s.settle()
		for ; s.attempt <= st.o.Attempt; s.attempt++ { // a client may have begun others
			s.read(opt.RootID(s.id, s.attempt), s.attempt == st.o.Attempt)
		}
		if !s.again(st) {
			return
		}
	}
}

// follow has one more reader read what happens to a root task.
func (s *schedule) follow(root string, after int64) {
	s.readers[root] = append(s.readers[root], reader{s.c.Follow(s.ctx, root, after), after == harness.Fresh})
}

// open makes the objective in a random way.
func (s *schedule) open() {
	var plans []*harness.Plan
	for i := range s.r.IntN(4) {
		p := randomPlan(s.r)
		for j := range i {
			if s.r.IntN(3) == 0 {
				p.Dependencies = append(p.Dependencies, fmt.Sprintf("plan-%d", j))
			}
		}
		if p.Dependencies == nil && s.r.IntN(4) == 0 {
			p.Dependencies = []string{}
		}
		plans = append(plans, p)
	}
	if s.r.IntN(2) == 0 {
		task := s.c.MustSend(s.ctx, s, harness.Message{ID: s.name, Text: randomScript(s.r), Plans: plans})
		s.id = task.ID
		return
	}
	s.made = true
	o := s.create(s.name)
	for _, p := range plans {
		for i, ref := range p.Dependencies {
			var n int
			if _, err := fmt.Sscanf(ref, "plan-%d", &n); err != nil {
				s.Fatal(err)
			}
			p.Dependencies[i] = o.Plans[n].ID
		}
		o.Plans = append(o.Plans, *s.add(o.ID, p))
	}
	s.id = o.ID
}

// randomScript returns a script for one task.
func randomScript(r *rand.Rand) string {
	switch n := r.IntN(50); {
	case n < 18:
		return "say done"
	case n < 28:
		return fmt.Sprintf("work %dms; say worked", r.IntN(80))
	case n < 32:
		return "fail"
	case n < 34:
		return "fail 1; say at last"
	case n < 40:
		return "approve Go on?; say approved"
	case n < 43:
		return "ask Which one?"
	case n < 45:
		return "approve One?; work 5ms; approve Two?"
	case n < 47:
		return "stream 3 5ms"
	}
	return "pass"
}

// randomPlan makes a plan in list order or a graph, which may have no tasks at all.
func randomPlan(r *rand.Rand) *harness.Plan {
	p := harness.NewPlan("random")
	p.Tasks = randomTasks(r, 0, r.IntN(6))
	if r.IntN(5) == 0 {
		p.Metadata = harness.Optional()
	}
	return p
}

// randomTasks makes tasks that come after others. Those of a graph depend on any
// tasks before them, in an order that differs from the list, or follow the list.
func randomTasks(r *rand.Rand, there, n int) []harness.PlanTask {
	tasks := make([]harness.PlanTask, n)
	graph, place, density := r.IntN(5) < 2, r.Perm(n), r.Float64()
	for i := range tasks {
		script := randomScript(r)
		tasks[i] = harness.PlanTask{Name: script, Description: script}
		if r.IntN(5) == 0 {
			tasks[i].Metadata = harness.Optional()
		}
		for j := range n {
			if graph && place[j] < place[i] && r.Float64() < density {
				tasks[i].Dependencies = append(tasks[i].Dependencies, fmt.Sprintf("task-%d", there+j))
			}
		}
		follows := i == 0 || place[i-1] < place[i] && r.IntN(2) == 0
		if graph && tasks[i].Dependencies == nil && !follows {
			tasks[i].Dependencies = []string{}
		}
	}
	return tasks
}

// tell returns the story of the objective up to now.
func (s *schedule) tell() *story {
	events := test.Value(s.journal.Events(s.ctx, s.id, 0, 0))(s)
	st := newStory()
	st.tell(events)
	return st
}

// underWay reports whether an attempt at a round of a task has begun and has not
// ended.
func (s *schedule) underWay(taskID string, round int) bool {
	runs := test.Value(s.runs())(s)
	last := runs[fmt.Sprintf("%s:%d", taskID, round)].Last()
	return last != nil && last.What == ""
}

// quiet waits until nothing continues by itself, and checks that all is as it should
// be then.
func (s *schedule) quiet() *story {
	w := s.journal.Watch(s.id)
	defer w.Close()
	timer := time.NewTimer(settling)
	defer timer.Stop()
	for {
		st := s.tell()
		st.runs = s.underWay
		busy := st.busy()
		if busy == nil && s.begun == st.o.Attempt && !st.o.Started && !st.o.Status.Ended() {
			busy = errors.New("the objective was directed to begin")
		}
		if busy == nil && len(st.wrong) == 0 {
			busy = s.compare(st)
		}
		if busy == nil || len(st.wrong) > 0 {
			s.check(st)
			return st
		}
		select {
		case <-w.C():
		case <-timer.C:
			s.Fatalf("%s does not come to rest: %v\nit is %s\n%s", s.id, busy, st.shape(), s.events())
		}
	}
}

// compare reports a difference between the answers to clients and the events.
func (s *schedule) compare(st *story) error {
	o := s.get(s.id)
	shown := []string{o.Status}
	for _, p := range o.Plans {
		var tasks []string
		for _, t := range p.Tasks {
			tasks = append(tasks, t.Status)
		}
		shown = append(shown, fmt.Sprintf("%s%v", p.Status, tasks))
	}
	if got := fmt.Sprint(shown); got != "["+st.shape()+"]" {
		return fmt.Errorf("clients are shown %s", got)
	}
	return nil
}

// check fails the test if a story that has settled is wrong.
func (s *schedule) check(st *story) {
	s.Helper()
	if err := errors.Join(append(st.wrong, st.agrees())...); err != nil {
		s.Fatalf("%s: %v\n%s", s.id, err, s.events())
	}
}

// events lists the events, for a failure.
func (s *schedule) events() string {
	events, err := s.journal.Events(s.ctx, s.id, 0, 0)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, r := range events {
		e := r.Event
		fmt.Fprintf(&b, "%4d %s %s %s%s %s → %s %s %s\n", r.Seq, e.At, e.Kind, e.PlanID, e.TaskID, e.From, e.To, e.Reason, e.Verdict)
	}
	return b.String()
}

// settle helps the objective until it has ended.
func (s *schedule) settle() *story {
	for range rounds {
		st := s.quiet()
		if st.o.Status.Ended() {
			return st
		}
		for _, n := range st.needs() {
			if err := s.help(st, n); err != nil {
				s.Fatalf("%s, %s %s: %v", s.id, n.what, n.id, err)
			}
		}
	}
	s.Fatalf("%s has not ended: %s\n%s", s.id, s.tell().shape(), s.events())
	return nil
}

// help does what the objective waits for. It is no error if another client has
// done it meanwhile.
func (s *schedule) help(st *story, n need) error {
	var err error
	switch n.what {
	case "answer":
		err = s.answer(st, n.id)
	case "move":
		to := []string{"completed", "completed", "completed", "failed", "canceled"}[s.r.IntN(5)]
		_, err = s.try("tasks/updateStatus", params{"id": n.id, "status": to, "message": "By hand."})
	case "resume":
		_, err = s.try(mover(n.id), params{"id": n.id, "status": "working"})
	case "fill":
		_, err = s.try("plans/addTasks", params{"id": n.id, "tasks": specs("say filled")})
	case "plan":
		_, err = s.c.CreatePlan(s.ctx, s.id, harness.NewPlan("another", "say planned"))
		if harness.Code(err) == -32602 { // the limit is reached
			_, err = s.try("objectives/update", params{"id": s.id, "status": "completed"})
		}
	case "start":
		if s.made && st.o.Attempt == 1 && s.r.IntN(2) == 0 {
			_, err = s.c.Send(s.ctx, harness.Message{ID: s.message(), Text: "say go", ContextID: s.id})
			break
		}
		if _, err = s.try("objectives/update", params{"id": s.id, "status": "working"}); err == nil {
			s.begun = st.o.Attempt
		}
	}
	if harness.Code(err) == -32001 || harness.Code(err) == -32004 {
		return nil
	}
	return err
}

// message returns the id of another message.
func (s *schedule) message() string {
	s.said++
	return fmt.Sprintf("%s-%d", s.name, s.said)
}

// answer answers a gate, at the task itself.
func (s *schedule) answer(st *story, gateID string) error {
	for _, p := range st.ordered() {
		for _, t := range p.Waiting() {
			if t.Gate.ID != gateID {
				continue
			}
			action := []string{"accept", "accept", "accept", "reject"}[s.r.IntN(4)]
			reply := harness.Reply(s.message(), t.A2AID(), gateID, action)
			if t.Gate.Kind == opt.Clarification {
				reply = harness.Message{ID: reply.ID, TaskID: t.A2AID(), Text: "This one."}
			}
			_, err := s.c.Send(s.ctx, reply)
			return err
		}
	}
	return fmt.Errorf("there is no gate %s", gateID)
}

// again sometimes begins another attempt, and reports whether it did.
func (s *schedule) again(st *story) bool {
	if st.o.Status == opt.ObjectiveCompleted || s.attempt > 3 || s.r.IntN(3) > 0 {
		return false
	}
	old, _ := s.formerRoot()
	s.move(s.id, "submitted")
	root := opt.RootID(s.id, s.attempt)
	s.follow(root, 0)
	s.follow(root, harness.Fresh)
	if now, by := s.formerRoot(); !cmp.Equal(now, old) || by != root {
		s.Errorf("the root task of the attempt before is retried by %s, want %s; before and after: %s", by, root, cmp.Diff(old, now))
	}
	return true
}

// formerRoot returns the root task of the latest attempt that has ended, and the id
// of the task that has taken its place.
func (s *schedule) formerRoot() (task map[string]any, by any) {
	test.OK(s, json.Unmarshal(s.root(s.id, s.attempt-1).Raw, &task))
	metadata, _ := task["metadata"].(map[string]any)
	by = metadata["longhaul/v1/retriedBy"]
	delete(metadata, "longhaul/v1/retriedBy")
	return task, by
}
