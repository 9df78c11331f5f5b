package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/wire"
)

// messages makes the messages of a task to its agent. A task that is handed over whole carries
// those of the client as they are: with all parts and metadata, in the context of the client.
type messages struct {
	work  *activities.Work
	input *input
	memo  *memo
	agent string
}

// request returns the messages of the client that the work began with.
func (s messages) request() []a2a.Message { return s.work.Messages[:len(s.work.Messages)-s.work.Notes] }

// startID returns a new id for the message that starts the remote task. That of the client goes
// over once, if this objective is the one for it: the agent may take a known one for a repeat.
func (s messages) startID() string {
	made := digest(s.work.Tenant, s.work.Key, strconv.Itoa(s.memo.Sends))
	request, first := s.request(), opt.TaskID(opt.PlanID(s.work.ObjectiveID, 1), 0)
	if len(request) == 0 || s.memo.Sends > 1 || s.work.TaskID != first {
		return made
	}
	own, author := request[0].MessageID, authorOf(request[0])
	if !s.input.IDs && opt.DerivedObjectiveID(s.work.Tenant, author, own) != s.work.ObjectiveID {
		return made
	}
	return s.id(own, author, made)
}

// id returns the id of a message of a client, or else the one that was made for it: if clients are
// distinguished here, since two of them may choose the same, and if the agent has had it.
func (s messages) id(own, author, made string) string {
	if s.input.Whole && author == opt.Anonymous && own != "" && s.memo.Sends == 1 {
		return own
	}
	return made
}

// lostResponders returns who may say what happens to a lost task, since work may be done twice: who
// asked for it, and the operators; nil for everyone where callers are not known.
func (s messages) lostResponders(operators []string) *opt.Responders {
	authors := s.work.Authors()
	if len(authors) == 0 && (len(s.request()) > 0 || len(operators) == 0) {
		return nil
	}
	return &opt.Responders{Principals: authors, Groups: operators}
}

func authorOf(m a2a.Message) string {
	author, _ := m.Metadata.String(opt.KeyAuthor)
	return author
}

// start returns the message that starts the remote task.
func (s messages) start() a2a.Message {
	m := s.carry()
	if s.input.Whole {
		m = s.carry(s.request()...)
	}
	m.MessageID = s.memo.MessageID
	text := ""
	if len(m.Parts) == 0 {
		text = cmp.Or(s.input.Message, s.work.Description, s.work.RequestText(), s.work.Name)
	}
	for _, r := range s.work.Refined {
		text += "\n\n" + r.Remark()
	}
	if text != "" {
		m.Parts = append(m.Parts, a2a.TextPart(strings.TrimPrefix(text, "\n\n")))
	}
	if len(s.input.Data) > 0 {
		m.Parts = append(m.Parts, a2a.Part{Data: s.input.Data})
	}
	m.Parts = append(m.Parts, s.exchanges()...)
	if s.memo.Rest != (opt.Budget{}) && s.memo.At.Budget {
		m.Metadata = m.Metadata.With(a2a.ExtensionBudget, s.memo.Rest)
		m.Extensions = slices.Compact(slices.Sorted(slices.Values(append(m.Extensions, a2a.ExtensionBudget))))
	}
	return m
}

// note returns the oldest note of a client that the agent does not have yet, and its digest.
func (s messages) note() (m a2a.Message, known string, ok bool) {
	notes := s.work.Messages[len(s.work.Messages)-s.work.Notes:]
	digestOf := func(n a2a.Message) string { return digest(authorOf(n), n.MessageID)[:16] }
	next := slices.IndexFunc(notes, func(n a2a.Message) bool { return !slices.Contains(s.memo.Passed, digestOf(n)) })
	if !s.input.Whole || next < 0 {
		return m, "", false
	}
	n := notes[next]
	known = digestOf(n)
	m = s.carry(n)
	m.MessageID, m.TaskID = s.id(n.MessageID, authorOf(n), digest(s.work.Tenant, s.work.TaskID, "note", known, strconv.Itoa(s.memo.Sends))), s.memo.TaskID
	return m, known, true
}

// answer returns the message for the answer to a question.
func (s messages) answer(q question, r opt.Reply) a2a.Message {
	m := s.carry()
	m.MessageID = s.id(r.MessageID, r.DecidedBy, digest(s.work.Tenant, s.work.Key, "answer"))
	m.TaskID, m.Parts = s.memo.TaskID, q.answerParts(r)
	return m
}

// carry returns one message with the parts, metadata and extensions of messages of clients. Who
// sent them, and the criteria for the result, is for this server alone. The ids of tasks that they refer to mean nothing there.
func (s messages) carry(all ...a2a.Message) a2a.Message {
	out := a2a.Message{ContextID: s.memo.ContextID, Role: a2a.RoleUser}
	for _, m := range all {
		out.Parts = append(out.Parts, m.Parts...)
		out.Extensions = append(out.Extensions, m.Extensions...)
		for key, value := range m.Metadata {
			if key != opt.KeyAuthor && key != opt.KeyAccept {
				out.Metadata = out.Metadata.With(key, value)
			}
		}
	}
	out.Metadata = out.Metadata.With(KeyHops, s.memo.Hops)
	if s.input.Skill != "" {
		out.Metadata = out.Metadata.With(opt.KeySkill, s.input.Skill)
	}
	slices.Sort(out.Extensions)
	out.Extensions = slices.Compact(out.Extensions)
	return out
}

// digestForm is the form of a digest, which a client may have copied from another tenant.
var digestForm = regexp.MustCompile(`^[0-9a-f]{32}$`)

// context returns the context that is proposed for the remote task. The contexts of tenants are
// apart, and so is that of each task that is not handed over whole; a later attempt has no memo,
// but the same context.
func (s messages) context() string {
	ref, _ := opt.ParseID(s.work.TaskID)
	switch {
	case !s.input.Whole:
		return digest("context", s.work.Tenant, cmp.Or(ref.TaskID, s.work.TaskID), s.agent)
	case s.work.Tenant == opt.DefaultTenant && !digestForm.MatchString(s.work.ContextID):
		return s.work.ContextID
	}
	return digest("context", s.work.Tenant, s.work.ContextID)
}

// exchanges returns, for an agent that gets a task again, its questions and the answers.
func (s messages) exchanges() []a2a.Part {
	var out []a2a.Part
	for _, asked := range s.memo.Asks {
		reply, ok := replyTo(s.work.Replies, asked.GateID)
		if s.memo.Resends == 0 || !ok {
			continue
		}
		out = append(out, a2a.TextPart("You have asked: "+asked.Text), a2a.TextPart(strings.TrimSpace("The answer was: "+string(reply.Action))))
		out = append(out, question{Kind: opt.Clarification}.answerParts(reply)...)
	}
	return out
}

// answerParts returns the parts of the message to the agent: the decision at one of its gates,
// or the answer in the form in which a person gave it.
func (q question) answerParts(r opt.Reply) []a2a.Part {
	words := q.Kind == opt.Credential && r.Action == ""
	if q.Gate != "" && !words {
		decision := wire.Reply{GateID: q.Gate, Feedback: r.Feedback, Digest: q.Digest}
		if q.Kind != opt.Clarification {
			decision.Action = r.Action
		} else {
			decision.Answers = r.Answers
		}
		return append([]a2a.Part{a2a.DataPart(decision)}, r.Attached...)
	}
	var out []a2a.Part
	if q.Kind == opt.Credential && !words {
		out = append(out, a2a.TextPart("The authorization was given."))
	}
	return append(out, r.Words()...)
}
