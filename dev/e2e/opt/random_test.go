package opt_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/opt"
)

var seed = flag.Uint64("seed", 0, "run the random schedules of this seed, in place of the usual ones")

// Random schedules: what they are follows from the seed and the number in the name
// of a test. How the calls race does not.
const (
	perSeed = 40 // objectives
	editors = 2  // clients that change each of them at once
	rounds  = 40 // of doing what an objective waits for, at most
)

var seeds = []uint64{1, 2}

// randomly has clients change objectives while they are carried out. However that
// goes, each comes to what it should, by moves that the tables allow; nothing is run
// twice, or after it was taken away; every reader sees the same.
func randomly(t *testing.T, s *service) {
	list := seeds
	if *seed != 0 {
		list = []uint64{*seed}
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
	attempt int
	said    int // messages
	late    *harness.Follower
	whole   *harness.Follower
}

func newSchedule(c *client, seed, n uint64) *schedule {
	return &schedule{client: c, r: rand.New(rand.NewPCG(seed, n)), name: fmt.Sprintf("random-%d-%d", seed, n), attempt: 1}
}

func (s *schedule) run() {
	s.open()
	s.whole = s.c.Follow(s.ctx, s.id, 0)
	var all sync.WaitGroup
	for range editors {
		e := &editor{schedule: s, r: rand.New(rand.NewPCG(s.r.Uint64(), s.r.Uint64())), name: fmt.Sprintf("%s-%d", s.name, s.r.Uint32())}
		all.Go(e.run)
	}
	s.late = s.c.Follow(s.ctx, s.id, harness.Fresh)
	all.Wait()
	for s.settle() {
		s.readers()
		if !s.again() {
			return
		}
	}
}

// open makes the objective, in one of the ways there are.
func (s *schedule) open() {
	var plans []*harness.Plan
	for i := range s.r.IntN(4) {
		p := randomPlan(s.r)
		for j := range i {
			if s.r.IntN(3) == 0 {
				p.Dependencies = append(p.Dependencies, fmt.Sprintf("plan-%d", j))
			}
		}
		plans = append(plans, p)
	}
	if s.r.IntN(2) == 0 {
		task, err := s.c.Send(s.ctx, harness.Message{ID: s.name, Text: randomScript(s.r), Plans: plans})
		if err != nil {
			s.Fatal(err)
		}
		s.id = task.ID
		return
	}
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
// before them, in an order that is not that of the list.
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
	}
	return tasks
}

// tell returns the story of the objective up to now.
func (s *schedule) tell() *story {
	events, err := s.journal.Events(s.ctx, s.id, 0, 0)
	if err != nil {
		s.Fatal(err)
	}
	st := newStory()
	st.tell(events)
	return st
}

// quiet waits until nothing goes on by itself, and checks that all is as it should
// be then.
func (s *schedule) quiet() *story {
	w := s.journal.Watch(s.id)
	defer w.Close()
	timer := time.NewTimer(settling)
	defer timer.Stop()
	for {
		st := s.tell()
		busy := st.busy()
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
			s.Fatalf("%s does not come to rest: %v; it is %s", s.id, busy, st.shape())
		}
	}
}

// compare says how clients are shown something else than events tell.
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

// check fails the test for what is wrong with a story at rest.
func (s *schedule) check(st *story) {
	s.Helper()
	if err := errors.Join(append(st.wrong, st.agrees())...); err != nil {
		s.Fatalf("%s: %v", s.id, err)
	}
}

// settle does what the objective waits for until it has ended.
func (s *schedule) settle() bool {
	for range rounds {
		st := s.quiet()
		if st.o.Status.Ended() {
			return true
		}
		for _, n := range st.needs() {
			if err := s.help(st, n); err != nil {
				s.Fatalf("%s, %s %s: %v", s.id, n.what, n.id, err)
			}
		}
	}
	s.Fatalf("%s has not ended: %s", s.id, s.tell().shape())
	return false
}

// help does what the objective waits for. That it waits for it no longer, since
// other help has come, is no error.
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
		if harness.Code(err) == -32602 { // there are as many as there can be
			_, err = s.try("objectives/update", params{"id": s.id, "status": "completed"})
		}
	case "start":
		if s.r.IntN(2) == 0 {
			_, err = s.try("objectives/update", params{"id": s.id, "status": "working"})
			break
		}
		_, err = s.c.Send(s.ctx, harness.Message{ID: s.message(), Text: "say go", ContextID: s.id})
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

// readers checks that all readers of the root task have seen the same, and what
// clients are shown.
func (s *schedule) readers() {
	root := opt.RootID(s.id, s.attempt)
	whole, err := s.c.All(s.ctx, root, 0)
	if err != nil || len(whole) == 0 {
		s.Fatalf("%s: %d events, %v", root, len(whole), err)
	}
	for _, f := range []*harness.Follower{s.whole, s.late} {
		events, err := f.Wait(s.ctx)
		if err != nil {
			s.Errorf("%s: %v", root, err)
		}
		if diff := harness.Differ(whole, events); diff != "" {
			s.Errorf("%s: another sequence (-whole +followed):\n%s", root, diff)
		}
	}
	after := whole[s.r.IntN(max(1, len(whole)-1))].ID
	rest, err := s.c.All(s.ctx, root, after)
	if want := harness.After(whole, after); err != nil || len(rest)+len(want) > 0 && harness.Differ(want, rest) != "" {
		s.Errorf("%s, resumed after %d: %v, %d events of %d", root, after, err, len(rest), len(want))
	}
	s.told(whole)
}

// A told is what an event of a stream says of the hierarchy.
type told struct {
	Result struct {
		StatusUpdate struct {
			Metadata struct {
				Event struct {
					Kind, ID, From, To string
					Revision           int64
				} `json:"opt/v1/event"`
			}
		}
	}
}

// told checks that the events of a stream follow on each other and lead to what
// clients are shown.
func (s *schedule) told(whole []harness.Event) {
	o := s.get(s.id)
	is := map[string]string{}
	revision := int64(0)
	for _, e := range whole {
		var t told
		if err := json.Unmarshal([]byte(e.Data), &t); err != nil {
			s.Fatal(err)
		}
		event := t.Result.StatusUpdate.Metadata.Event
		if event.ID == "" {
			continue
		}
		if was, ok := is[event.ID]; ok && event.From != was {
			s.Errorf("event %d of %s tells that %s was %s, which was %s", e.ID, s.id, event.ID, event.From, was)
		}
		if event.Revision < revision {
			s.Errorf("event %d of %s tells of revision %d after %d", e.ID, s.id, event.Revision, revision)
		}
		is[event.ID], revision = event.To, event.Revision
	}
	for id, got := range is {
		if want := statusIn(o, id); got != want {
			s.Errorf("the stream of %s leaves %s %s, which is %s", s.id, id, got, want)
		}
	}
}

// again begins another attempt now and then, and reports whether it did.
func (s *schedule) again() bool {
	if s.get(s.id).Status == "completed" || s.attempt > 2 || s.r.IntN(3) > 0 {
		return false
	}
	old := s.root(s.id, s.attempt)
	s.move(s.id, "submitted")
	s.attempt++
	root := opt.RootID(s.id, s.attempt)
	s.whole, s.late = s.c.Follow(s.ctx, root, 0), s.c.Follow(s.ctx, root, harness.Fresh)
	if now := s.root(s.id, s.attempt-1); string(now.Raw) != string(old.Raw) {
		s.Errorf("the root task of the attempt before was\n%s\nand is\n%s", old.Raw, now.Raw)
	}
	return true
}

// An editor is a client that changes an objective, whatever it is doing.
type editor struct {
	*schedule
	r    *rand.Rand
	name string
	n    int
}

func (e *editor) run() {
	edits := []func(*harness.Objective) error{
		e.addPlan, e.addPlan, e.addTasks, e.addTasks, e.addTasks, e.movePlan, e.movePlan, e.movePlan, e.moveTask, e.moveTask,
		e.moveObjective, e.moveObjective, e.replan, e.cancelTask, e.reply, e.reply, e.reply, e.linkTask, e.rename, e.reorder, e.reorder, e.note,
	}
	for range 3 + e.r.IntN(4) {
		var o *harness.Objective
		var err error
		if o, err = e.c.Objective(e.ctx, e.id); err == nil {
			err = edits[e.r.IntN(len(edits))](o)
		}
		if err != nil {
			e.Errorf("%s: %v", e.id, err)
		}
	}
}

// taken returns err unless a client can expect it: the thing may have moved on, or
// not be such that it can be changed like this.
func taken(err error, also ...int) error {
	if harness.Code(err) == -32001 && harness.Reason(err) != "STALE_REVISION" || slices.Contains(also, harness.Code(err)) {
		return nil
	}
	return err
}

// somePlan returns one of the plans, nil if there are none.
func (e *editor) somePlan(o *harness.Objective) *harness.ObjectivePlan {
	if len(o.Plans) == 0 {
		return nil
	}
	return &o.Plans[e.r.IntN(len(o.Plans))]
}

// someTask returns one of the tasks, nil if there are none.
func (e *editor) someTask(o *harness.Objective) *harness.TaskOfPlan {
	var all []*harness.TaskOfPlan
	for _, p := range o.Plans {
		for i := range p.Tasks {
			all = append(all, &p.Tasks[i])
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[e.r.IntN(len(all))]
}

// refusedAs checks that what cannot be was refused.
func refusedAs(err error, what string) error {
	switch harness.Code(err) {
	case -32602, -32001:
		return nil
	}
	return fmt.Errorf("%s was taken: %v", what, err)
}

func (e *editor) addPlan(o *harness.Objective) error {
	p := randomPlan(e.r)
	for _, other := range o.Plans {
		if e.r.IntN(4) == 0 {
			p.Dependencies = append(p.Dependencies, other.ID)
		}
	}
	if e.r.IntN(6) == 0 {
		p.Dependencies = append(p.Dependencies, opt.PlanID(o.ID, 99))
		_, err := e.c.CreatePlan(e.ctx, o.ID, p)
		return refusedAs(err, "a plan that depends on none")
	}
	_, err := e.c.CreatePlan(e.ctx, o.ID, p)
	if len(o.Plans) > opt.MaxPlans-2*editors {
		return taken(err, -32602)
	}
	return taken(err)
}

func (e *editor) addTasks(o *harness.Objective) error {
	p := e.somePlan(o)
	if p == nil {
		return nil
	}
	tasks := randomTasks(e.r, len(p.Tasks), 1+e.r.IntN(3))
	if e.r.IntN(5) == 0 { // a circle of any length, by ids
		first := opt.TaskID(p.ID, len(p.Tasks))
		last := &tasks[len(tasks)-1]
		for i := range tasks[1:] {
			tasks[i+1].Dependencies = []string{opt.TaskID(p.ID, len(p.Tasks)+i)}
		}
		tasks[0].Dependencies = []string{opt.TaskID(p.ID, len(p.Tasks)+len(tasks)-1)}
		_, err := e.try("plans/addTasks", params{"id": p.ID, "tasks": tasks})
		if err == nil { // others came first, and the ids are those of their tasks
			return e.acyclic(first, last.Name)
		}
		return refusedAs(err, "a circle")
	}
	_, err := e.try("plans/addTasks", params{"id": p.ID, "tasks": tasks})
	return taken(err)
}

// acyclic says that a circle was taken, unless the tasks before it were another's:
// then its references lead there.
func (e *editor) acyclic(first, name string) error {
	o, err := e.c.Objective(e.ctx, e.id)
	if err != nil {
		return err
	}
	for _, p := range o.Plans {
		if cyclic(p.Tasks, func(t harness.TaskOfPlan) (string, []string) { return t.ID, t.Dependencies }) {
			return fmt.Errorf("a circle was taken, from %s to %s", first, name)
		}
	}
	return nil
}

func (e *editor) movePlan(o *harness.Objective) error {
	p := e.somePlan(o)
	if p == nil {
		return nil
	}
	to := []string{"pending", "working", "working", "working", "blocked", "blocked", "completed", "failed", "skipped", "skipped"}[e.r.IntN(10)]
	_, err := e.try("plans/update", params{"id": p.ID, "status": to})
	return taken(err)
}

func (e *editor) moveTask(o *harness.Objective) error {
	t := e.someTask(o)
	if t == nil {
		return nil
	}
	states := []string{"pending", "submitted", "working", "working", "input-required", "auth-required", "completed", "completed", "completed", "failed", "canceled", "rejected"}
	_, err := e.try("tasks/updateStatus", params{"id": t.ID, "status": states[e.r.IntN(len(states))]})
	return taken(err)
}

func (e *editor) moveObjective(o *harness.Objective) error {
	to := []string{"working", "working", "working", "blocked", "blocked", "blocked", "planning", "submitted"}[e.r.IntN(8)]
	if e.r.IntN(8) == 0 {
		to = []string{"completed", "failed", "canceled"}[e.r.IntN(3)]
	}
	if opt.ObjectiveStatus(o.Status).Ended() {
		return nil // another attempt begins once this one was looked at
	}
	_, err := e.try("objectives/update", params{"id": o.ID, "status": to})
	return taken(err)
}

func (e *editor) replan(o *harness.Objective) error {
	if e.r.IntN(2) == 0 {
		return nil
	}
	_, err := e.try("objectives/replan", params{"id": o.ID, "reason": "Something else."})
	return taken(err)
}

func (e *editor) cancelTask(o *harness.Objective) error {
	t := e.someTask(o)
	if t == nil {
		return nil
	}
	_, err := e.c.Cancel(e.ctx, t.ID)
	return taken(err, -32002)
}

// reply answers the gate that the root task shows, there or at the task itself.
func (e *editor) reply(o *harness.Objective) error {
	task, err := e.c.Get(e.ctx, o.ID)
	if err != nil || task.Gate == nil {
		return err
	}
	to := []string{o.ID, task.Gate.TaskID}[e.r.IntN(2)]
	e.n++
	m := harness.Reply(fmt.Sprintf("%s-%d", e.name, e.n), to, task.Gate.ID, []string{"accept", "reject"}[e.r.IntN(2)])
	if task.Gate.Kind == string(opt.Clarification) {
		m.Data = map[string]any{"interruptId": task.Gate.ID, "answers": []any{map[string]any{"id": "q1", "answer": "that one"}}}
	}
	_, err = e.c.Send(e.ctx, m)
	return taken(err, -32004)
}

func (e *editor) linkTask(o *harness.Objective) error {
	t := e.someTask(o)
	if t == nil {
		return nil
	}
	_, err := e.try("tasks/link", params{"id": t.ID, "a2aTaskId": "elsewhere"})
	return taken(err)
}

// rename changes a name, and says now and then what it has seen.
func (e *editor) rename(o *harness.Objective) error {
	p := params{"id": o.ID, "name": "say renamed"}
	if e.r.IntN(2) == 0 {
		p["longhaul/v1/revision"] = o.Revision()
	}
	method := "objectives/update"
	if plan := e.somePlan(o); plan != nil && e.r.IntN(2) == 0 {
		method, p["id"] = "plans/update", plan.ID
	}
	_, err := e.try(method, p)
	if harness.Reason(err) == "STALE_REVISION" && p["longhaul/v1/revision"] != nil {
		return nil
	}
	return taken(err)
}

// reorder lets a plan depend on others, in a circle or not.
func (e *editor) reorder(o *harness.Objective) error {
	p := e.somePlan(o)
	if p == nil {
		return nil
	}
	on := []string{}
	for _, other := range o.Plans {
		if e.r.IntN(3) == 0 {
			on = append(on, other.ID)
		}
	}
	_, err := e.try("plans/update", params{"id": p.ID, "dependencies": on})
	return taken(err, -32602)
}

// note says something to the root task that answers nothing.
func (e *editor) note(o *harness.Objective) error {
	e.n++
	_, err := e.c.Send(e.ctx, harness.Message{ID: fmt.Sprintf("%s-%d", e.name, e.n), TaskID: o.ID, Data: map[string]any{"note": e.n}})
	return taken(err, -32004, -32602) // it may wait for an answer, which this is not
}
