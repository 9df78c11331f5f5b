package machine

import (
	"fmt"
	"slices"
	"time"

	"longhaul/a2a"
	"longhaul/opt"
)

// A Context gives the turn in a context to one objective at a time, in the order of their places. It runs only
// while several objectives use the context: the first objective of a context begins without it, and gets a
// message when others enter. It is for one goroutine.
type Context struct {
	State ContextState

	now    a2a.Time
	leaves bool // this run is about to continue as new, and leaves the rest of the roll to the next
}

// ContextState is all that a context knows. Each member is in one of its lists.
type ContextState struct {
	Rules     int       `json:"rules"`
	Tenant    string    `json:"tenant"`
	ContextID string    `json:"contextId"`
	Turns     int64     `json:"turns,omitempty"`   // number of the latest message to a member
	Holder    *Member   `json:"holder,omitempty"`  // has the turn
	Front     []*Member `json:"front,omitempty"`   // had the turn, can continue, and come first
	Waiting   []*Member `json:"waiting,omitempty"` // in the order of their places
	Resting   []*Member `json:"resting,omitempty"` // had the turn, and cannot continue; or have to answer the roll
	Opened    bool      `json:"opened,omitempty"`  // it has got its first input
	Rolls     int       `json:"rolls,omitempty"`   // how often it has called the roll, or tried to
	Lists     bool      `json:"lists,omitempty"`   // it does not have the objectives in the journal yet
}

// A Member is an objective that uses the context.
type Member struct {
	ID        string   `json:"id"`
	Attempt   int      `json:"attempt,omitempty"`
	Request   int64    `json:"request,omitempty"` // number of its latest request
	At        a2a.Time `json:"at,omitzero"`       // of its place
	Entered   bool     `json:"entered,omitempty"` // the API has entered it, rather than others behind it
	Joined    bool     `json:"joined,omitempty"`  // it began when it was alone, and needs a message about the others
	Begun     bool     `json:"begun,omitempty"`   // likewise; if its workflow does not exist, it has ended
	Silent    bool     `json:"silent,omitempty"`  // likewise, and has not reported yet whether it works
	Turn      Turn     `json:"turn,omitzero"`     // the latest message to it
	Delivered int64    `json:"told,omitempty"`    // number of the latest delivered message
	Tries     int      `json:"tries,omitempty"`   // of messages that found no workflow
	RetryAt   a2a.Time `json:"retryAt,omitzero"`
	Roll      int64    `json:"roll,omitempty"`    // number of the roll that it has to answer
	Unheard   int      `json:"unheard,omitempty"` // how many rolls were delivered without an answer
	Works     bool     `json:"works,omitempty"`   // as its answer says
	Waits     bool     `json:"waits,omitempty"`   // for its first turn, as the journal says
}

// An objective enters before it is started, so that none is missing. If its workflow does not exist after turnTries
// seconds, its start has failed. One that began when it was alone may also be starting, but has most likely ended.
const (
	turnTries = 20
	joinTries = 5
	turnWait  = time.Second
)

// An objective under earlier rules that has made no request yet answers no roll. After rollTries of them, each with
// rollWait for the answer, it counts as one that works, or that waits if the journal says so. Temporal refuses more than
// 2,000 messages at a time.
const (
	rollTries   = 3
	rollWait    = 20 * time.Second
	mostSignals = 100 // on their way
)

// NewContext returns the machine of a context with a version of the rules.
func NewContext(tenant, contextID string, rules int) *Context {
	return &Context{State: ContextState{Rules: rules, Tenant: tenant, ContextID: contextID}}
}

// Handle handles one input. A context records no events.
func (m *Context) Handle(now a2a.Time, in Input) []opt.Event {
	m.now = now
	if m.begins(in) {
		m.callRoll()
	}
	switch in := in.(type) {
	case Leaving:
		m.leaves = m.State.Rules >= rulesLeave
	case Rewound:
		m.callRoll()
	case Listed:
		m.onListed(in)
	case Enter:
		m.onEnter(in)
	case TurnRequest:
		m.onRequest(in)
	case Elapsed:
		m.onElapsed(in.Key)
	case Delivered:
		m.onDelivered(in)
	}
	m.grant()
	m.address()
	return nil
}

// begins reports whether the first input says that there was a workflow of this context before, which an operator has
// ended: an objective has heard of it, or more than one wait or have begun.
func (m *Context) begins(in Input) bool {
	first := !m.State.Opened && m.State.Turns == 0
	m.State.Opened = true
	enter, enters := in.(Enter)
	_, asks := in.(TurnRequest)
	return first && (asks || enters && (enter.Waiting > 0 || len(enter.Behind)+len(enter.Starting) > 1))
}

// callRoll asks all members, and those that the journal has, whether they work. No turn is given before all have answered.
func (m *Context) callRoll() {
	s := &m.State
	if s.Rules < rulesRoll {
		return
	}
	s.Resting = s.members()
	s.Holder, s.Front, s.Waiting, s.Lists = nil, nil, nil, true
	s.Rolls++
	for _, r := range s.Resting {
		r.Silent, r.Works, r.Waits, r.Roll, r.Unheard, r.Request = true, false, false, 0, 0, 0 // a later attempt counts from 1 again
		r.Turn, r.Tries, r.RetryAt = Turn{N: r.Turn.N}, 0, a2a.Time{}
	}
}

// rollKey returns the key of the activity that lists the objectives in the journal.
func (s *ContextState) rollKey() string { return fmt.Sprintf("roll:%d", s.Rolls) }

// onListed adds the open objectives in the journal to the roll. Those in a list that has failed, as in a reset, are
// listed again.
func (m *Context) onListed(in Listed) {
	s := &m.State
	switch {
	case !s.Lists || in.Key != s.rollKey():
		return
	case in.Failed:
		s.Rolls++
		return
	}
	for i, root := range slices.Concat(in.Begun, in.Waiting) {
		m.join(root, i < len(in.Begun), "")
		id, attempt := opt.SplitRoot(root)
		member := m.member(id)
		member.Waits = i >= len(in.Begun) && member.Attempt == attempt
	}
	s.Lists = false
}

// onEnter adds an objective behind those that have begun, or are about to begin, without the context.
func (m *Context) onEnter(in Enter) {
	s := &m.State
	for _, root := range in.Starting {
		m.join(root, false, in.ObjectiveID)
	}
	for _, root := range in.Behind {
		m.join(root, true, in.ObjectiveID)
	}
	known := m.member(in.ObjectiveID)
	switch {
	case known == nil:
	case known.Silent && s.Rules >= rulesRoll && known.Attempt == in.Attempt:
		known.Entered, known.At, known.Begun = true, in.At, false
		return
	case known.Attempt > in.Attempt, known.Attempt == in.Attempt && (known.Entered || known.Request > 0):
		return
	case known.Attempt == in.Attempt && s.Holder == known: // others entered behind it first
		known.Entered, known.Turn.Held, known.Begun, known.Joined = true, false, false, false
		return
	default:
		m.remove(in.ObjectiveID)
	}
	entered := &Member{ID: in.ObjectiveID, Attempt: in.Attempt, At: in.At, Entered: true}
	if entered.Silent = s.Lists; s.Lists { // the workflow before may have given it the turn
		s.Resting = append(s.Resting, entered)
	} else {
		s.wait(entered)
	}
}

// wait has a member wait at its place.
func (s *ContextState) wait(member *Member) {
	i := len(s.Waiting)
	for i > 0 && s.Waiting[i-1].At.Millis() > member.At.Millis() {
		i--
	}
	s.Waiting = slices.Insert(s.Waiting, i, member)
}

// join makes a member of an objective that began, or is about to begin, alone. It has the turn if no member has.
func (m *Context) join(rootID string, begun bool, entering string) {
	s := &m.State
	id, attempt := opt.SplitRoot(rootID)
	member := &Member{ID: id, Attempt: attempt, Joined: true, Begun: begun}
	known := m.member(id)
	if id == entering || known != nil && known.Attempt >= attempt {
		return
	}
	m.remove(id)
	if s.Holder == nil && !s.Lists {
		s.Holder = member
		return
	}
	member.Silent = true
	s.Resting = append(s.Resting, member)
}

// onRequest handles the request of a member. Only its latest request counts.
func (m *Context) onRequest(in TurnRequest) {
	s := &m.State
	member := m.member(in.ObjectiveID)
	switch {
	case member == nil && in.Want != WantTurn, in.N == 0 && s.Rules < rulesRoll: // it has left, or does not need a turn; [Check] had refused it
		return
	case member == nil: // it was removed because its workflow was not found, or was no member of this workflow
		member = &Member{ID: in.ObjectiveID, Attempt: in.Attempt, Begun: s.Lists, Silent: s.Lists}
		s.Resting = append(s.Resting, member)
	case in.Attempt < member.Attempt:
		if in.Want == WantLeave && (member == s.Holder || member.Silent) { // the attempt that entered may have been refused
			m.missing(member)
		}
		return
	case in.N <= member.Request:
		return
	}
	member.Request, member.Attempt = in.N, max(member.Attempt, in.Attempt)
	if s.Rules >= rulesRoll {
		m.onAnswer(member, in)
		return
	}
	works := member.Silent && in.Want == WantTurn
	if h := s.Holder; works && h != nil && !h.Turn.Held { // the turn was about to be sent to it
		s.Holder, s.Waiting = nil, slices.Insert(s.Waiting, 0, h)
	}
	member.Silent = false
	m.place(member, in.Want, works)
}

// onAnswer handles a request under [rulesRoll]. That of a member which has to answer the roll counts if it does, or if
// the member leaves. One under earlier rules answers with its next request.
func (m *Context) onAnswer(member *Member, in TurnRequest) {
	s := &m.State
	silent, answers := member.Silent, member.Roll > 0 && in.Answers == member.Roll || !in.Answering
	if silent && !answers && in.Want != WantLeave {
		return
	}
	works := in.Want == WantTurn && in.claims(silent)
	if !in.At.IsZero() {
		member.At = in.At
	}
	if silent {
		member.RetryAt = a2a.Time{}
	}
	member.Silent, member.Works = false, works
	if waits := in.Want == WantTurn && !in.At.IsZero(); member != s.Holder && (works || waits) {
		m.work(member)
		return
	}
	m.place(member, in.Want, false)
}

// claims reports whether a member says that it works. One that waits for its first turn says so in a roll alone.
func (in TurnRequest) claims(silent bool) bool {
	return in.Works && (silent || in.At.IsZero()) || silent && !in.Answering
}

// work gives the turn to a member that works already; one that does not waits at its place. One that was about to get the
// turn waits, and one that works, too, keeps it.
func (m *Context) work(member *Member) {
	s := &m.State
	m.remove(member.ID)
	switch h := s.Holder; {
	case !member.Works:
		s.wait(member)
	case h == nil:
		s.Holder = member
	case h.Works || h.Turn.Held:
		s.Front = slices.Insert(s.Front, 0, member)
	default:
		s.Holder, s.Waiting = member, slices.Insert(s.Waiting, 0, h)
	}
}

// place places a member in the list of its latest want: in front of others that had the turn if it works already.
func (m *Context) place(member *Member, want TurnWant, works bool) {
	s := &m.State
	switch rests := slices.Contains(s.Resting, member); {
	case want == WantLeave:
		m.remove(member.ID)
	case want == WantRest && !rests:
		m.remove(member.ID)
		s.Resting = append(s.Resting, member)
	case want == WantTurn && rests:
		m.remove(member.ID)
		if works {
			s.Front = slices.Insert(s.Front, 0, member)
		} else {
			s.Front = append(s.Front, member)
		}
	}
}

// silent reports whether any member may be working without having reported it. No turn is given meanwhile.
func (m *Context) silent() bool {
	return m.State.Lists || slices.ContainsFunc(m.State.Resting, func(r *Member) bool { return r.Silent })
}

// grant gives the turn to the next member if none has it: to one of Front, else to the one that has waited longest.
func (m *Context) grant() {
	s := &m.State
	if s.Holder != nil || m.silent() {
		return
	}
	next := &s.Front
	if len(*next) == 0 {
		next = &s.Waiting
	}
	if len(*next) > 0 {
		s.Holder, *next = (*next)[0], (*next)[1:]
	}
}

// address makes the messages to members: to the holder about its turn, and to members that began alone about the others.
func (m *Context) address() {
	s := &m.State
	if h := s.Holder; h != nil && !m.silent() && !(h.Turn.Held && h.Turn.Request == h.Request) {
		m.notify(h, true)
	}
	for _, r := range s.Resting {
		if r.Joined && r.Turn.N == 0 || r.Silent && r.Roll == 0 && m.State.Rules >= rulesRoll {
			m.notify(r, false)
		}
	}
}

// notify makes a new message to a member.
func (m *Context) notify(to *Member, held bool) {
	m.State.Turns = max(m.State.Turns+1, m.now.Millis()) // higher than in an earlier workflow of the context
	to.Turn = Turn{Attempt: to.Attempt, N: m.State.Turns, Request: to.Request, Held: held, Tenant: m.State.Tenant}
	to.Tries, to.RetryAt = 0, a2a.Time{}
	if to.Silent && m.State.Rules >= rulesRoll {
		to.Turn.Roll, to.Turn.Request, to.Roll = true, 0, to.Turn.N
	}
}

// onDelivered notes that a member has its message, or that its workflow was never started or has ended.
func (m *Context) onDelivered(in Delivered) {
	member := m.member(in.To)
	switch {
	case member == nil || in.N < member.Turn.N:
	case !in.Gone:
		if member.Delivered, member.Joined = in.N, false; member.Silent && m.State.Rules >= rulesRoll {
			member.RetryAt, member.Tries = a2a.At(m.now.Time().Add(rollWait)), 0
		}
	default:
		m.missing(member)
	}
}

// missing schedules another message to a member, or removes a member that will not come.
func (m *Context) missing(member *Member) {
	if member.Begun || member.Tries+1 >= turnTries || member.Joined && member.Tries+1 >= joinTries {
		m.remove(member.ID)
		return
	}
	member.Tries++
	member.RetryAt = a2a.At(m.now.Time().Add(turnWait))
}

func (m *Context) onElapsed(key string) {
	s := &m.State
	for _, member := range append(slices.Clone(s.Resting), s.Holder) {
		if member != nil && !member.RetryAt.IsZero() && retryKey(member) == key {
			tries := member.Tries
			if s.Rules >= rulesRoll && tries == 0 && member.Silent && member.Delivered == member.Turn.N { // it has the roll
				if member.Unheard++; member.Unheard >= rollTries {
					member.Silent, member.RetryAt, member.Works = false, a2a.Time{}, !member.Waits
					m.work(member)
					continue
				}
			}
			m.notify(member, member == s.Holder)
			member.Tries = tries
		}
	}
}

func retryKey(h *Member) string { return fmt.Sprintf("turn:%s:%d", h.ID, h.Turn.N) }

// Wants returns the messages that must still be sent to members.
func (m *Context) Wants() Wants {
	var w Wants
	s := &m.State
	if h := s.Holder; h != nil {
		w.add(h)
	}
	for _, r := range s.Resting {
		if len(w.Signals) < mostSignals && !m.leaves || s.Rules < rulesRoll || !r.RetryAt.IsZero() {
			w.add(r)
		}
	}
	switch {
	case s.Lists && !m.leaves:
		w.Activities = append(w.Activities, Activity{Key: s.rollKey(), Kind: CallRoll, Of: s.ContextID})
	case !s.Lists && s.Holder == nil && len(s.Front)+len(s.Waiting)+len(s.Resting) == 0:
		w.Done = &Done{}
	case m.leaves: // it has not left yet, and perhaps nothing comes that lets it try again
		w.Timers = append(w.Timers, Timer{Key: fmt.Sprint("leave:", m.now), At: a2a.At(m.now.Time().Add(turnWait)), Summary: "Leave the roll to the next run"})
	}
	return w
}

func (w *Wants) add(to *Member) {
	switch {
	case !to.RetryAt.IsZero():
		w.Timers = append(w.Timers, Timer{Key: retryKey(to), At: to.RetryAt, Summary: "Wait for the objective to begin"})
	case to.Turn.N > to.Delivered:
		w.Signals = append(w.Signals, Signal{To: to.ID, N: to.Turn.N})
	}
}

// Message returns the content of the signal to a member.
func (m *Context) Message(id string) Turn { return m.member(id).Turn }

func (m *Context) member(id string) *Member {
	for _, x := range m.State.members() {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// members returns the members of all lists.
func (s *ContextState) members() []*Member {
	all := slices.Concat([]*Member{s.Holder}, s.Front, s.Resting, s.Waiting)
	return slices.DeleteFunc(all, func(x *Member) bool { return x == nil })
}

func (m *Context) remove(id string) {
	s := &m.State
	if s.Holder != nil && s.Holder.ID == id {
		s.Holder = nil
	}
	for _, list := range []*[]*Member{&s.Front, &s.Waiting, &s.Resting} {
		*list = slices.DeleteFunc(*list, func(x *Member) bool { return x.ID == id })
	}
}
