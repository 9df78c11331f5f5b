package served

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// request returns what the agent gets, as its server would make it. After the first run of the first
// round it has a stored task, with what the agent has sent; made are the artifacts in it.
func (e Executor) request(ctx context.Context, w activities.Work, in input) (c *a2asrv.ExecutorContext, made []a2a.Artifact, err error) {
	first := start(w, in)
	author, _ := first.Metadata.String(opt.KeyAuthor)
	c = &a2asrv.ExecutorContext{
		TaskID: sdk.TaskID(cmp.Or(w.RootID, w.TaskID)), ContextID: w.ContextID, ServiceParams: a2asrv.NewServiceParams(nil),
	}
	if w.Tenant != opt.DefaultTenant {
		c.Tenant = w.Tenant
	}
	message, reply := first, answer(w)
	if reply != nil {
		author = reply.DecidedBy
		message = a2a.Message{MessageID: reply.MessageID, Role: a2a.RoleUser, Parts: reply.Words()}
		if reply.Action == opt.Accept {
			message.Parts = append([]a2a.Part{a2a.TextPart("The authorization was given.")}, message.Parts...)
		}
	}
	c.User = &a2asrv.User{}
	if author != "" && author != opt.Anonymous {
		c.User = a2asrv.NewAuthenticatedUser(author, nil)
	}
	c.Message = new(sdk.Message)
	if err := convert(codec.V10.Message(own(c, message)), c.Message); err != nil {
		return nil, nil, err
	}
	if reply == nil {
		c.Message.TaskID = "" // it begins the task
	}
	if reply == nil && !repeated(w) {
		return c, nil, nil
	}
	sent, err := e.sent(ctx, w)
	if err != nil {
		return nil, nil, fmt.Errorf("read what the agent has sent: %w", err)
	}
	for _, a := range sent.Artifacts {
		a.ArtifactID = strings.TrimPrefix(a.ArtifactID, opt.ArtifactID(w.TaskID, ""))
		made = append(made, a)
	}
	sent.Artifacts, c.StoredTask = made, new(sdk.Task)
	return c, slices.Clone(made), convert(codec.V10.Task(stored(c, w, sent, first, message)), c.StoredTask)
}

// sent returns the task of w as clients see it.
func (e Executor) sent(ctx context.Context, w activities.Work) (t a2a.Task, err error) {
	v, err := e.Journal.Task(ctx, w.Tenant, w.TaskID, shown.TaskWant{History: -1, Scope: shown.ScopeTask, Artifacts: true})
	if err != nil {
		return t, err
	}
	t = v.Task
	t.Artifacts, t.History = slices.Clone(t.Artifacts), slices.Clone(t.History) // the journal keeps its own
	read := func(id string) ([]byte, error) { return e.Journal.ReadBlob(ctx, w.ObjectiveID, id) }
	for i := range t.Artifacts {
		if t.Artifacts[i].Parts, err = a2a.Attach(t.Artifacts[i].Parts, read); err != nil {
			return t, err
		}
	}
	for i := range t.History {
		if t.History[i].Parts, err = a2a.Attach(t.History[i].Parts, read); err != nil {
			return t, err
		}
	}
	return t, nil
}

// repeated reports whether another run of the round has begun before.
func repeated(w activities.Work) bool { return w.Try > 1 || w.Attempt > 1 }

// stored returns the stored task: the conversation, which is about sent, from its first to its latest
// message. When an answer begins a round, it is the task that has asked.
func stored(c *a2asrv.ExecutorContext, w activities.Work, sent a2a.Task, first, latest a2a.Message) a2a.Task {
	sent.ID, sent.ContextID, sent.Metadata = string(c.TaskID), c.ContextID, nil
	for _, m := range sent.History {
		if g := opt.GateIn(m); g != nil && !repeated(w) {
			sent.Status.State, sent.Status.Message = g.State().A2A(), new(m)
		}
	}
	said := slices.Concat([]a2a.Message{first}, sent.History, w.Messages[len(w.Messages)-w.Notes:], []a2a.Message{latest})
	sent.History = nil
	known := map[string]bool{}
	for _, m := range said {
		if !known[m.MessageID] {
			sent.History = append(sent.History, own(c, m))
		}
		known[m.MessageID] = true
	}
	if m := sent.Status.Message; m != nil {
		sent.Status.Message = new(own(c, *m))
	}
	return sent
}

// own returns m as the agent knows it: in its task, and without what only this server means.
func own(c *a2asrv.ExecutorContext, m a2a.Message) a2a.Message {
	m.TaskID, m.ContextID = string(c.TaskID), c.ContextID
	if g := opt.GateIn(m); g != nil {
		m.Parts = append([]a2a.Part{a2a.TextPart(g.Prompt())}, g.Object...)
	}
	var metadata a2a.Metadata
	for key, value := range m.Metadata {
		if key != opt.KeyAuthor {
			metadata = metadata.With(key, value)
		}
	}
	m.Metadata = metadata
	return m
}

// start returns the message with which the conversation begins.
func start(w activities.Work, in input) a2a.Message {
	m := a2a.Message{MessageID: w.Key, Role: a2a.RoleUser}
	if requests := w.Messages[:len(w.Messages)-w.Notes]; len(requests) > 0 {
		m = requests[0]
	}
	switch {
	case in.Message != "":
		m.Parts = []a2a.Part{a2a.TextPart(in.Message)}
	case len(m.Parts) == 0:
		m.Parts = []a2a.Part{a2a.TextPart(cmp.Or(w.Description, w.Name))}
	}
	for _, r := range w.Refined {
		m.Parts = append(slices.Clip(m.Parts), a2a.TextPart(r.Remark()))
	}
	return m
}

// convert gives a value the type of the SDK.
func convert(from, to any) error {
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	return err
}

// localID returns the id of an artifact of the agent as one of a task.
func localID(id string) string {
	if opt.IsPlainID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "artifact-" + hex.EncodeToString(sum[:16])
}
