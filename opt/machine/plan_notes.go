package machine

import (
	"cmp"
	"slices"

	"longhaul/a2a"
	"longhaul/opt"
)

// An approval is about the work that follows it, and notes of clients may change that work. So
// a task behind an approval works with the notes that the approval covered: those that were
// there when it opened, and later ones only if every principal who accepted has named the
// digest that covers them. A later note is shown at open approvals, and changes their digest.
// A note that comes after the decision reaches no task behind it, also in the plans that follow.

// notes is the part of a Plan for messages of clients that are no replies.
type notes struct{ *Plan }

// Noted says how many notes there were: to the root task, and to tasks of the plan.
type Noted struct {
	Root  int            `json:"root,omitempty"`
	Tasks map[string]int `json:"tasks,omitempty"`
}

// count returns the number of notes now.
func (m notes) count() Noted {
	n := Noted{Root: len(m.State.Notes)}
	for _, t := range m.State.Plan.Tasks {
		if len(t.Notes) > 0 {
			n.Tasks = made(n.Tasks)
			n.Tasks[t.ID] = len(t.Notes)
		}
	}
	return n
}

// atOpening returns the gate that opens at t. An approval shows the notes that there are, and
// its digest covers them. Comments at other gates are none: they reach no other task.
func (m notes) atOpening(t *opt.Task, gate opt.Gate) opt.Gate {
	if gate.Kind != opt.Approval {
		return gate
	}
	m.State.Shows = made(m.State.Shows)
	m.State.Shows[t.ID] = m.count()
	all := slices.Clone(m.State.Notes)
	for _, of := range m.State.Plan.Tasks {
		if of == t || of.Ask == nil {
			all = append(all, of.Notes...)
		}
	}
	for _, message := range all {
		author, _ := message.Metadata.String(opt.KeyAuthor)
		gate = *gate.Extended(*gate.WithNote(exchanged(opt.Letter{Message: message, Principal: author}, a2a.Time{})))
	}
	return gate
}

// approve notes which notes an accepted approval at t has covered.
func (m notes) approve(t *opt.Task, reply opt.Reply) {
	s := &m.State
	if t.Gate.Kind != opt.Approval || reply.Action != opt.Accept && reply.Action != opt.EditAccept {
		return
	}
	covered := s.Shows[t.ID]
	latest := func(v opt.Vote) bool { return v.Action == opt.Reject || v.ObjectDigest == t.Gate.ObjectDigest }
	if reply.ObjectDigest != "" && !slices.ContainsFunc(t.Gate.Votes, func(v opt.Vote) bool { return !latest(v) }) {
		covered = m.count()
	}
	delete(s.Shows, t.ID)
	s.Approved = made(s.Approved)
	s.Approved[t.ID], s.Accepted = covered, m.now
}

// approved says which notes the approvals of the plan have covered, for the plans that follow
// it; nil if none was accepted.
func (m notes) approved() *opt.Approved {
	if len(m.State.Approved) == 0 {
		return nil
	}
	out := &opt.Approved{At: m.State.Accepted}
	for _, n := range m.State.Approved {
		out.Notes = max(out.Notes, n.Root)
	}
	return out
}

// covered returns the notes that t may work with; all is set if no approval comes before it.
// Of several approvals the one that covered most notes counts: it came last.
func (m notes) covered(t *opt.Task) (n Noted, all bool) {
	all = true
	if c := m.State.Directive.Covered; c > 0 {
		n, all = Noted{Root: c - 1}, false
	}
	for _, guard := range m.guards(t) {
		if all = false; m.State.Approved[guard.ID].Root >= n.Root {
			n = m.State.Approved[guard.ID] // none after a retry: notes from before it were for the former attempt
		}
	}
	return n, all
}

// isApproval reports whether t is an approval that was accepted.
func isApproval(t *opt.Task) bool {
	return t.State == opt.TaskCompleted && t.Ask != nil && t.Ask.Kind == opt.Approval && t.Link == "" && !t.ByHand
}

// guards lists the tasks with an accepted approval before t, and t itself if it has had one.
func (m notes) guards(t *opt.Task) (guards []*opt.Task) {
	seen := map[*opt.Task]bool{}
	var visit func(b *opt.Task)
	visit = func(b *opt.Task) {
		if seen[b] {
			return
		}
		seen[b] = true
		_, approved := m.State.Approved[b.ID]
		if approved || b != t && isApproval(b) {
			guards = append(guards, b)
		}
		for _, before := range m.State.Plan.Before(b) {
			visit(before)
		}
	}
	visit(t)
	return guards
}

// messages lists the messages of clients that t works with: the request, the notes for the
// objective and those for t, each oldest first. It returns how many are notes, and notes for t.
func (m notes) messages(t *opt.Task) (list []a2a.Message, notes, to int) {
	root, own := m.State.Notes, t.Notes
	if n, all := m.covered(t); !all {
		root, own = root[:min(len(root), n.Root)], own[:min(len(own), n.Tasks[t.ID])]
	}
	if m.State.Request != nil {
		list = append(list, *m.State.Request)
	}
	return slices.Concat(list, root, own), len(root) + len(own), len(own)
}

// note adds a message to the conversation of the task that it names, or of the
// root task and so of every later task.
func (m notes) note(l opt.Letter, e opt.Event) {
	e.Verdict = opt.Noted
	target := l.TaskID
	if l.ForTask != "" {
		target = l.ForTask
	}
	t := m.State.Plan.Task(target)
	switch {
	case t == nil:
		m.State.Notes = append(m.State.Notes, authored(l.Message, l.Principal))
	case t.State.Ended() || m.State.Plan.Status.Ended():
		e.Verdict = opt.TooLate
	default:
		kept := e
		kept.TaskID = t.A2AID()
		message := authored(l.Message, l.Principal)
		kept.Message = &message
		m.tasks().applyUnrecorded(kept)
	}
	m.record(e)
	if e.Verdict == opt.Noted {
		m.showNote(t, l)
	}
}

// showNote shows a note at the open approvals. A comment is shown at its own alone: it
// reaches no other task.
func (m notes) showNote(to *opt.Task, l opt.Letter) {
	if !l.Comment {
		m.shapedBy(l.Principal)
	}
	for _, t := range m.State.Plan.Tasks {
		if t.Gate != nil && t.Gate.Kind == opt.Approval && (t == to || !l.Comment) {
			m.extend(t, t.Gate.WithNote(exchanged(l, m.now)))
		}
	}
}

// extend shows an exchange at t's gate. The event has the exchange alone: it must not be
// recorded again with each one that comes after it.
func (m notes) extend(t *opt.Task, by *opt.Gate) {
	m.apply(opt.Event{Kind: opt.ExchangeAdded, TaskID: t.A2AID(), From: string(t.State), To: string(t.State), Reason: t.Reason, Gate: by})
}

// exchanged returns a note as a gate shows it.
func exchanged(l opt.Letter, at a2a.Time) opt.Exchange {
	return opt.Exchange{
		Question: cmp.Or(l.Message.Text(), "(a message without text)"), MessageID: l.Message.MessageID, AskedBy: l.Principal, AskedAt: at,
		Cut: slices.ContainsFunc(l.Message.Parts, func(p a2a.Part) bool { return p.Text == nil }),
	}
}

// onNotes takes in messages to the root task that a directive has brought, and shows them at
// the open approvals.
func (m notes) onNotes(notes []a2a.Message) {
	s := &m.State
	s.Notes = append(s.Notes, notes...)
	s.Heard += len(notes)
	for _, message := range notes {
		author, _ := message.Metadata.String(opt.KeyAuthor)
		m.showNote(nil, opt.Letter{Message: message, Principal: author})
	}
}
