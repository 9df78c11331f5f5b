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

// NoteState is what a plan keeps of messages of clients that are no replies.
type NoteState struct {
	Notes    []a2a.Message    `json:"notes,omitempty"`    // messages to the root task
	Shows    map[string]Noted `json:"shows,omitempty"`    // the notes when an approval opened, by its task
	Approved map[string]Noted `json:"approved,omitempty"` // the notes that an approval covered, by its task
	Accepted a2a.Time         `json:"accepted,omitzero"`  // when the latest approval was
	Heard    int              `json:"heard,omitempty"`    // how many of Notes came from the objective
}

// Noted says how many notes there were: to the root task, and to tasks of the plan.
type Noted struct {
	Root  int            `json:"root,omitempty"`
	Tasks map[string]int `json:"tasks,omitempty"`
}

// count returns the number of notes now, with those to the tasks of p.
func (s *NoteState) count(p *opt.Plan) Noted {
	n := Noted{Root: len(s.Notes)}
	for _, t := range p.Tasks {
		if len(t.Notes) > 0 {
			n.Tasks = made(n.Tasks)
			n.Tasks[t.ID] = len(t.Notes)
		}
	}
	return n
}

// atOpening returns the gate that opens at t. An approval shows the notes that there are, and
// its digest covers them. Comments at other gates are none: they reach no other task.
func (s *NoteState) atOpening(p *opt.Plan, t *opt.Task, gate opt.Gate) opt.Gate {
	if gate.Kind != opt.Approval {
		return gate
	}
	s.Shows = made(s.Shows)
	s.Shows[t.ID] = s.count(p)
	all := slices.Clone(s.Notes)
	for _, of := range p.Tasks {
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
func (s *NoteState) approve(p *opt.Plan, t *opt.Task, reply opt.Reply) {
	if t.Gate.Kind != opt.Approval || t.Gate.Budget || reply.Action != opt.Accept && reply.Action != opt.EditAccept {
		return
	}
	covered := s.Shows[t.ID]
	latest := func(v opt.Vote) bool { return v.Action == opt.Reject || v.ObjectDigest == t.Gate.ObjectDigest }
	if reply.ObjectDigest != "" && !slices.ContainsFunc(t.Gate.Votes, func(v opt.Vote) bool { return !latest(v) }) {
		covered = s.count(p)
	}
	delete(s.Shows, t.ID)
	s.Approved = made(s.Approved)
	s.Approved[t.ID], s.Accepted = covered, reply.At
}

// approveShown is approve for an approval that does not open: it covers the notes that it would have
// shown.
func (s *NoteState) approveShown(t *opt.Task, at a2a.Time) {
	s.Approved = made(s.Approved)
	s.Approved[t.ID], s.Accepted = s.Shows[t.ID], at
	delete(s.Shows, t.ID)
}

// approved says which notes the approvals of the plan have covered, for the plans that follow
// it; nil if none was accepted.
func (s *NoteState) approved() *opt.Approved {
	if len(s.Approved) == 0 {
		return nil
	}
	out := &opt.Approved{At: s.Accepted}
	for _, n := range s.Approved {
		out.Notes = max(out.Notes, n.Root)
	}
	return out
}

// covered returns the notes that t may work with; all is set if no approval comes before it.
// Of several approvals the one that covered most notes counts: it came last. before is what the
// plans before have covered, as in [Directive.Covered].
func (s *NoteState) covered(p *opt.Plan, t *opt.Task, before int) (n Noted, all bool) {
	all = true
	if before > 0 {
		n, all = Noted{Root: before - 1}, false
	}
	for _, guard := range s.guards(p, t) {
		all = false
		by := s.Approved[guard.ID] // none after a retry: notes from before it were for the former attempt
		if by.Root > n.Root || by.Root == n.Root && by.Tasks[t.ID] >= n.Tasks[t.ID] {
			n = by
		}
	}
	return n, all
}

// isApproval reports whether t is an approval that was accepted.
func isApproval(t *opt.Task) bool {
	return t.State == opt.TaskCompleted && t.Ask != nil && t.Ask.Kind == opt.Approval && t.Link == "" && !t.ByHand
}

// guards lists the tasks with an accepted approval before t, and t itself if it has had one.
func (s *NoteState) guards(p *opt.Plan, t *opt.Task) (guards []*opt.Task) {
	seen := map[*opt.Task]bool{}
	var visit func(b *opt.Task)
	visit = func(b *opt.Task) {
		if seen[b] {
			return
		}
		seen[b] = true
		_, approved := s.Approved[b.ID]
		if approved || b != t && isApproval(b) {
			guards = append(guards, b)
		}
		for _, before := range p.Before(b) {
			visit(before)
		}
	}
	visit(t)
	return guards
}

// exchanged returns a note as a gate shows it.
func exchanged(l opt.Letter, at a2a.Time) opt.Exchange {
	return opt.Exchange{
		Question: cmp.Or(l.Message.Text(), "(a message without text)"), MessageID: l.Message.MessageID, AskedBy: l.Principal, AskedAt: at,
		Cut: slices.ContainsFunc(l.Message.Parts, func(p a2a.Part) bool { return p.Text == nil }),
	}
}

// made returns m, or an empty map for none.
func made[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// authored returns a message with its author, for executors.
func authored(message a2a.Message, principal string) a2a.Message {
	message.Metadata = message.Metadata.With(opt.KeyAuthor, principal)
	return message
}
