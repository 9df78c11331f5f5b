package api

import (
	"context"
	"mime"
	"strings"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// A delivery is what became of a message: an answer, or work on a task.
type delivery struct {
	answer  *a2a.Message // the whole answer; nothing else is set
	taskID  string       // that the message began or was for
	watch   Watch        // of its objective, attached before anything was written
	gate    string       // that the message answered, "" if it was not a reply
	pending bool         // the workflow has not judged it yet
}

// sendMessage takes a message and answers with what it began, or with the task
// it was for, by default when that has come to rest.
func (s *Server) sendMessage(ctx context.Context, c *call, p wire.SendParams) (wire.Sent, error) {
	d, err := s.deliver(ctx, c, p)
	if err != nil {
		return wire.Sent{}, err
	}
	if d.answer != nil {
		return wire.Sent{Message: d.answer}, nil
	}
	defer d.watch.Close()
	if !p.ReturnAtOnce && !d.pending {
		if err := s.settle(ctx, c, d); err != nil {
			return wire.Sent{}, err
		}
	}
	v, err := s.task(ctx, c, d.taskID, opt.TaskWant{History: p.History, Scope: p.Scope, Artifacts: true})
	if err != nil {
		return wire.Sent{}, err
	}
	t, err := s.show(ctx, c, v)
	if err != nil {
		return wire.Sent{}, err
	}
	if d.pending {
		t.Metadata = t.Metadata.With(opt.KeyReplyPending, true)
	}
	sent := wire.Sent{Task: &t}
	if p.Hints.PreferObjective && c.optByHeader() {
		sent.Objective, err = s.cfg.Journal.Objective(ctx, c.Tenant, v.ObjectiveID)
	}
	return sent, err
}

// streamMessage takes a message like sendMessage and streams what follows.
func (s *Server) streamMessage(ctx context.Context, c *call, p wire.SendParams) (*feed, error) {
	d, err := s.deliver(ctx, c, p)
	if err != nil {
		return nil, err
	}
	if d.answer != nil {
		return &feed{s: s, first: &a2a.Event{Message: d.answer}, done: true}, nil
	}
	return s.open(ctx, c, feedStart{
		id: d.taskID, watch: d.watch, history: p.History, scope: p.Scope, after: p.After, send: true, gate: d.gate, pending: d.pending,
	})
}

// deliver takes a message to where it belongs: new work, or a task that exists.
// When it returns nil, what the message asks for is durable. The caller closes
// the watch of what it returns.
func (s *Server) deliver(ctx context.Context, c *call, p wire.SendParams) (*delivery, error) {
	if p.Push {
		return nil, errPush
	}
	if p.Message.TaskID == "" && p.Hints.TaskID == "" {
		return s.begin(ctx, c, p)
	}
	return s.converse(ctx, c, p)
}

// checkMedia refuses files, and other parts that name a media type, which the
// agent does not take. Text as text and data as JSON are always welcome.
func (s *Server) checkMedia(m a2a.Message) error {
	for _, p := range m.Parts {
		if p.MediaType == "" {
			continue
		}
		media, _, err := mime.ParseMediaType(p.MediaType)
		switch {
		case err != nil:
			return errMediaType
		case p.Text != nil && strings.HasPrefix(media, "text/"), p.Data != nil && media == "application/json":
		case !takes(s.cfg.Card.inputModes(), media):
			return errMediaType
		}
	}
	return nil
}

// takes reports whether a media type is one of those accepted, which may be
// wildcards like image/* and */*.
func takes(accepted []string, media string) bool {
	kind, _, _ := strings.Cut(media, "/")
	for _, a := range accepted {
		if a == media || a == "*/*" || a == kind+"/*" {
			return true
		}
	}
	return false
}
