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
	answers  map[string]int         // how often a command was answered
	taken    map[string]string      // commands that an objective has handled: its id
	judged   map[string]int         // how often a letter was judged
	again    map[string]bool        // letters that a later attempt at a plan has handled
	heard    map[string]string      // letters that a workflow has handled: its id
	applied  map[string]int64       // changes that were answered as applied, by objective
	revision map[string]int64       // by objective
	paused   map[string]bool        // objectives whose pause was answered and has not ended
	queue    map[string][]string    // by context: members that have not had their turn, in the order of their places
	since    map[string]int64       // the places of members
	resent   map[string]bool        // runs with keys of activities that were sent back
	held     map[string]bool        // likewise of those that were sent back for a quota
	commands map[string]opt.Command // by id
	refused  map[string]bool        // commands
	behind   map[string][]string    // attempts at plans that were over when an attempt at a plan was started, by that
	asked    map[string]int64       // when a client has last asked for another attempt, by objective
	plans    map[string]*planFacts  // about the tasks of plans, by plan
	retries  map[string]string      // commands that have begun a run of an objective that had ended: its id
	reopened map[string]bool        // objectives that were reset after the journal had their end
	begun    map[string]int         // how often its objective was reset when an attempt at a plan has begun
	cut      map[string]bool        // workflows that an operator has ended or reset: commands may have done less, or more, than was answered
	lost     map[string]bool        // moves of plans whose workflow an operator had ended, when their objective made them
	resets   map[string]int         // how often a workflow was reset, or has begun again as the same attempt after a reset of its objective
	forked   map[string]takenTask   // tasks that forks have taken over, by their A2A tasks
	setBack  map[string]bool        // plans whose rows their objective has set back, and that have not begun an epoch since: their events do not follow on the rows

	unlimited map[string]int64 // questions that no budget limits, by objective
	gates     map[string][]int // behind which tasks that ask people a task is at first, or all if it asks itself, by its place and name

	looked map[string][]opt.StandingQuestion // about which standing decisions were looked up, by A2A task

	originals map[string]*forked // by fork
	kept      map[string]int     // how often a task of a fork has kept a decision
}

func newFacts() facts {
	return facts{
		answers: map[string]int{}, taken: map[string]string{}, judged: map[string]int{}, heard: map[string]string{}, again: map[string]bool{}, applied: map[string]int64{},
		revision: map[string]int64{}, paused: map[string]bool{}, queue: map[string][]string{}, since: map[string]int64{}, resent: map[string]bool{}, held: map[string]bool{},
		forked: map[string]takenTask{}, commands: map[string]opt.Command{}, refused: map[string]bool{}, plans: map[string]*planFacts{},
		behind: map[string][]string{}, asked: map[string]int64{}, retries: map[string]string{}, cut: map[string]bool{}, lost: map[string]bool{}, resets: map[string]int{}, begun: map[string]int{}, reopened: map[string]bool{}, setBack: map[string]bool{}, looked: map[string][]opt.StandingQuestion{}, unlimited: map[string]int64{}, gates: map[string][]int{},
		originals: map[string]*forked{}, kept: map[string]int{},
	}
}

// move names a move of a plan, also in another epoch of its source.
func move(e opt.Event) string { return fmt.Sprint(e.PlanID, " ", e.N, " ", e.At) }

// isReset reports whether one of these workflows was reset.
func (f *facts) isReset(ids ...string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return f.resets[id] > 0 })
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
	maps.DeleteFunc(f.heard, func(letter, by string) bool {
		only := by == id && len(j.letters[id+" "+letter]) == 0 // by the run
		if only {
			delete(f.judged, letter)
		}
		return only
	})
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
	endedAt      map[string]int64           // when the latest attempt at a round of a task ended
	attempts     map[string]int             // latest attempt at a round of a task that has begun
	over         map[string]int             // latest one that has ended, and not only lost its worker
	accepted     map[string][][2]string     // who decided, and in whose place, by gate
	sending      map[string][]string        // A2A tasks that had made what a client wants to send back, by gate
	sentBack     map[string][]string        // A2A tasks that had made a sent-back object, by the task with the gate
	chains       map[string]opt.Chain       // of decisions, by source
	notesAt      map[string]map[string]bool // ids of the notes when an approval was accepted, by its A2A task
	gates        map[string]*openGate       // by the A2A task that waits at it
	asked        map[string]bool            // A2A tasks at which a gate has opened
	rounds       map[string]int             // how often checks have sent an object back, by the A2A task with the gate
	legs         map[string]*leg            // the latest one, by A2A task
	attemptsUsed map[int]opt.Usage          // by attempt at the plan, when its last step began
	spend        int                        // how many legs have spent at a time, at most
	ordered      bool                       // a client has changed the order of its tasks
	at           int64                      // when it got its latest input
}

// plan returns the facts about a plan.
func (f *facts) plan(id string) *planFacts {
	if f.plans[id] == nil {
		f.plans[id] = &planFacts{
			endedAt: map[string]int64{}, attempts: map[string]int{}, over: map[string]int{}, accepted: map[string][][2]string{}, sending: map[string][]string{},
			sentBack: map[string][]string{}, chains: map[string]opt.Chain{}, notesAt: map[string]map[string]bool{}, gates: map[string]*openGate{}, legs: map[string]*leg{}, asked: map[string]bool{}, rounds: map[string]int{},
		}
	}
	return f.plans[id]
}

// copied returns facts that share no memory with p.
func (p *planFacts) copied() *planFacts {
	lists := func(v []string) []string { return slices.Clone(v) }
	return &planFacts{
		endedAt: maps.Clone(p.endedAt), attempts: maps.Clone(p.attempts), over: maps.Clone(p.over), chains: maps.Clone(p.chains),
		accepted: each(p.accepted, slices.Clone[[][2]string]), sending: each(p.sending, lists), sentBack: each(p.sentBack, lists),
		notesAt: each(p.notesAt, maps.Clone[map[string]bool]), gates: each(p.gates, duplicate), legs: each(p.legs, duplicate), asked: maps.Clone(p.asked), rounds: maps.Clone(p.rounds), spend: p.spend, attemptsUsed: maps.Clone(p.attemptsUsed), ordered: p.ordered, at: p.at,
	}
}

func duplicate[V any](v *V) *V { return new(*v) }

// each returns m with copies of its members.
func each[V any](m map[string]V, copied func(V) V) map[string]V {
	out := map[string]V{}
	for key, v := range m {
		out[key] = copied(v)
	}
	return out
}

// A leg is the record of the invariants about the latest leg of an A2A task.
type leg struct {
	memo     string
	onCancel bool
	due      int64 // when the next leg may begin
	hears    bool  // or after a note
	round    int
	parks    int       // in the attempt
	canceled bool      // the leg that cancels has ended
	returned bool      // a callback or an activity elsewhere has brought an outcome
	owed     bool      // the round must end with it
	needs    opt.Usage // of the next leg
	calls    int64     // of other agents, in its legs
	ran      int64     // milliseconds
	open     int64     // of these, in the leg that runs
	lost     int64     // of these, before a leg that a client had stopped and that ran when its plan ended for the next attempt, under rules before 42
	unsure   int64     // others, in legs that no worker has begun: until a client moves its task it seems to run
}

// leg returns the record of an A2A task.
func (p *planFacts) leg(taskID string) *leg {
	if p.legs[taskID] == nil {
		p.legs[taskID] = &leg{}
	}
	return p.legs[taskID]
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

// byClient reports whether a client has made what a task has.
func byClient(t *opt.Task) bool { return t.ByHand || t.Link != "" }

// opensGate reports whether a task begins to wait at a gate with a move.
func opensGate(e opt.Event) bool { return e.Gate != nil && e.From != e.To }
