package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/opt"
	"longhaul/opt/machine"
)

// Facts are the records of the invariants.
type facts struct {
	answers  map[string]int             // how often a command was answered
	taken    map[string]string          // commands that an objective has handled: its id
	judged   map[string]int             // how often a letter was judged
	again    map[string]bool            // letters that a later attempt at a plan has handled
	heard    map[string]string          // letters that a workflow has handled: its id
	applied  map[string]int64           // changes that were answered as applied, by objective
	revision map[string]int64           // by objective
	paused   map[string]bool            // objectives whose pause was answered and has not ended
	queue    map[string][]string        // by context: members that have not had their turn, in the order of their places
	since    map[string]int64           // the places of members
	endedAt  map[string]int64           // when the latest attempt at a round of a task ended
	attempts map[string]int             // latest attempt at a round of a task that has begun
	resent   map[string]bool            // runs with keys of activities that were sent back
	over     map[string]int             // latest one that has ended, and not only lost its worker
	names    map[string]string          // of applied commands that set a name: the objective with the name
	commands map[string]opt.Command     // by id
	refused  map[string]bool            // commands
	accepted map[string][]string        // who decided, by gate
	sending  map[string][]string        // A2A tasks that had made what a client wants to send back, by gate
	sentBack map[string][]string        // A2A tasks that had made a sent-back object, by the task with the gate
	chains   map[string]opt.Chain       // of decisions, by source
	notesAt  map[string]map[string]bool // ids of the notes when an approval was accepted, by its A2A task
	behind   map[string][]string        // attempts at plans that were over when an attempt at a plan was started, by that
	gates    map[string]*openGate       // by the A2A task that waits at it
	legs     map[string]*leg            // the latest one, by A2A task
	asked    map[string]int64           // when a client has last asked for another attempt, by objective
	retries  map[string]string          // commands that have begun a run of an objective that had ended: its id
	reopened map[string]bool            // objectives that were reset after the journal had their end
	begun    map[string]int             // how often its objective was reset when an attempt at a plan has begun
	cut      map[string]bool            // workflows that an operator has ended or reset: commands may have done less, or more, than was answered
	lost     map[string]bool            // moves of plans whose workflow an operator had ended, when their objective made them
	resets   map[string]int             // how often a workflow was reset, or has begun again as the same attempt after a reset of its objective
	setBack  map[string]bool            // plans whose rows their objective has set back, and that have not begun an epoch since: their events do not follow on the rows
}

func newFacts() facts {
	return facts{
		answers: map[string]int{}, taken: map[string]string{}, judged: map[string]int{}, heard: map[string]string{}, again: map[string]bool{}, applied: map[string]int64{},
		revision: map[string]int64{}, paused: map[string]bool{}, queue: map[string][]string{}, since: map[string]int64{}, attempts: map[string]int{}, resent: map[string]bool{}, over: map[string]int{}, endedAt: map[string]int64{},
		names: map[string]string{}, commands: map[string]opt.Command{}, refused: map[string]bool{},
		sentBack: map[string][]string{}, sending: map[string][]string{}, accepted: map[string][]string{},
		chains: map[string]opt.Chain{}, notesAt: map[string]map[string]bool{},
		behind: map[string][]string{}, gates: map[string]*openGate{}, legs: map[string]*leg{}, asked: map[string]int64{}, retries: map[string]string{}, cut: map[string]bool{}, lost: map[string]bool{}, resets: map[string]int{}, begun: map[string]int{}, reopened: map[string]bool{}, setBack: map[string]bool{},
	}
}

// move names a move of a plan, also in another epoch of its source.
func move(e opt.Event) string { return fmt.Sprint(e.PlanID, " ", e.N, " ", e.At) }

// forget removes the notes about tasks and gates whose ids have a prefix: their plan begins again.
func (f *facts) forget(prefix string) {
	forget(f.attempts, prefix)
	forget(f.over, prefix)
	forget(f.endedAt, prefix)
	forget(f.accepted, prefix)
	forget(f.sending, prefix)
	forget(f.sentBack, prefix)
	forget(f.notesAt, prefix)
	forget(f.gates, prefix)
	forget(f.legs, prefix)
	forget(f.chains, prefix)
}

// setForward sets the facts about an objective, which were set back with a run that the journal has
// refused for good, to what that has. Who gets no answer from the run asks again.
func (f *facts) setForward(id string, j *journal) {
	r := j.rows[id]
	if r == nil { // it was removed
		r = &row{objective: opt.Objective{Revision: f.revision[id]}}
	}
	for _, calls := range []map[string]string{f.taken, f.retries} {
		maps.DeleteFunc(calls, func(command, objective string) bool {
			if objective == id && !r.answered[command] { // or only by the run
				delete(f.answers, command)
			}
			return objective == id
		})
	}
	for command := range r.answered {
		f.answers[command] = max(f.answers[command], 1)
	}
	for letter, by := range f.heard {
		if by == id && len(j.letters[id+" "+letter]) == 0 { // or only by the run
			delete(f.judged, letter)
			delete(f.heard, letter)
		}
	}
	for key := range j.letters {
		if letter, ok := strings.CutPrefix(key, id+" "); ok {
			f.judged[letter] = max(f.judged[letter], 1)
		}
	}
	delete(f.applied, id)
	f.revision[id] = r.objective.Revision
}

func forget[V any](m map[string]V, prefix string) {
	maps.DeleteFunc(m, func(id string, _ V) bool { return strings.HasPrefix(id, prefix) })
}

// planFacts are the facts about the tasks of a plan.
type planFacts struct {
	attempts, over    map[string]int
	endedAt           map[string]int64
	accepted, sending map[string][]string
	sentBack          map[string][]string
	notesAt           map[string]map[string]bool
	gates             map[string]openGate
	legs              map[string]leg
	chains            map[string]opt.Chain
}

// taskPrefix begins the ids of all that belongs to the tasks of a plan.
func taskPrefix(planID string) string { return strings.Replace(planID, "plan-", "task-", 1) + "-" }

// ofPlan returns a copy of the facts about the plan of r; nothing for another run.
func (f *facts) ofPlan(r *run) (out planFacts) {
	if _, plan := r.m.(planHost); !plan {
		return out
	}
	prefix := taskPrefix(r.id)
	same := func(v []string) []string { return slices.Clone(v) }
	return planFacts{
		attempts: those(f.attempts, prefix, value[int]), over: those(f.over, prefix, value[int]), endedAt: those(f.endedAt, prefix, value[int64]),
		accepted: those(f.accepted, prefix, same), sending: those(f.sending, prefix, same), sentBack: those(f.sentBack, prefix, same),
		notesAt: those(f.notesAt, prefix, maps.Clone[map[string]bool]),
		gates:   those(f.gates, prefix, func(g *openGate) openGate { return *g }),
		legs:    those(f.legs, prefix, func(l *leg) leg { return *l }),
		chains:  those(f.chains, prefix, value[opt.Chain]),
	}
}

// setPlan sets the facts about the plan of r to a copy that was made before.
func (f *facts) setPlan(r *run, to planFacts) {
	f.forget(taskPrefix(r.id))
	same := func(v []string) []string { return slices.Clone(v) }
	add(f.attempts, to.attempts, value[int])
	add(f.over, to.over, value[int])
	add(f.endedAt, to.endedAt, value[int64])
	add(f.accepted, to.accepted, same)
	add(f.sending, to.sending, same)
	add(f.sentBack, to.sentBack, same)
	add(f.notesAt, to.notesAt, maps.Clone[map[string]bool])
	add(f.gates, to.gates, func(g openGate) *openGate { return &g })
	add(f.legs, to.legs, func(l leg) *leg { return &l })
	add(f.chains, to.chains, value[opt.Chain])
}

func value[V any](v V) V { return v }

// those returns copies of the members of m whose keys have a prefix.
func those[V, W any](m map[string]V, prefix string, copied func(V) W) map[string]W {
	out := map[string]W{}
	for key, v := range m {
		if strings.HasPrefix(key, prefix) {
			out[key] = copied(v)
		}
	}
	return out
}

// add adds copies of the members of from to m.
func add[V, W any](m map[string]W, from map[string]V, copied func(V) W) {
	for key, v := range from {
		m[key] = copied(v)
	}
}

// A leg is the record of the invariants about the latest leg of an A2A task.
type leg struct {
	memo     string
	onCancel bool
	due      int64 // when the next leg may begin
	round    int
	parks    int  // in the attempt
	canceled bool // the leg that cancels has ended
	returned bool // a callback or an activity elsewhere has brought an outcome
	owed     bool // the round must end with it
}

// leg returns the record of an A2A task.
func (f *facts) leg(taskID string) *leg {
	if f.legs[taskID] == nil {
		f.legs[taskID] = &leg{}
	}
	return f.legs[taskID]
}

// An openGate is an open gate as it was opened, and how many of its steps were
// taken.
type openGate struct {
	opt.Gate
	steps int
}

// notesNow returns the ids of the notes that a plan has now.
func notesNow(s *machine.PlanState) map[string]bool {
	ids := map[string]bool{}
	for _, m := range s.Notes {
		ids[m.MessageID] = true
	}
	for _, t := range s.Plan.Tasks {
		for _, m := range t.Notes {
			ids[m.MessageID] = true
		}
	}
	return ids
}
