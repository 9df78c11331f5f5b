package llm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/internal/schema"
)

// listTools finds the tools that the input names. problem says, for clients, which are not
// there.
func (t *task) listTools(ctx context.Context) (problem string, err error) {
	listed := map[string][]tool{} // by server
	t.memo.Tools = []tool{}
	for _, name := range t.in.Tools {
		server, function, _ := strings.Cut(name, "/")
		s := t.Models.Servers[server]
		if s == nil {
			return fmt.Sprintf("There is no server %q of tools on this worker.", server), nil
		}
		if listed[server] == nil {
			if listed[server], err = s.list(ctx, server, t.Log); err != nil {
				activities.Log(ctx, t.Log).Warn("A server does not list its tools", zap.String("server", server), zap.Error(err))
				return "", &activities.Error{Code: CodeTools, Message: fmt.Sprintf("The server %q does not list its tools.", server)}
			}
		}
		found := false
		for _, one := range listed[server] {
			if function != one.Function && function != "*" {
				continue
			}
			found = true
			if !slices.ContainsFunc(t.memo.Tools, func(u tool) bool { return u.Name == one.Name }) {
				t.memo.Tools = append(t.memo.Tools, one)
			}
		}
		if !found {
			return fmt.Sprintf("The server %q has no tool %q.", server, function), nil
		}
	}
	return "", nil
}

var nameForm = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// maxName is how long the name of a tool for a model may be.
const maxName = 64

// nameOf returns the name of a tool for models, which allow fewer characters than
// servers do.
func nameOf(server, function string) string {
	whole := server + "__" + function
	name := nameForm.ReplaceAllString(whole, "_")
	if name == whole && len(name) <= maxName {
		return name
	}
	sum := sha256.Sum256([]byte(whole))
	return name[:min(len(name), maxName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// advanceCall does the next step of the first open call. If it returns neither an outcome
// nor an error, it is to be called again for the calls that are still open.
func (t *task) advanceCall(ctx context.Context) (*activities.Outcome, error) {
	m := t.memo
	of, server, problem := t.openCall()
	if problem != "" {
		m.answer(problem, true)
		return nil, nil
	}
	if p := server.policy(of.Function); p.does == ask && m.Accepted != digest(of, m.Open[0].Args) {
		if o := m.askApproval(t.work, of, p.by); o != nil || len(m.Open) == 0 || m.Accepted == "" {
			return o, nil
		}
	}
	if of.Repeatable || slices.Contains(server.Repeat, of.Function) {
		return t.call(ctx, of, server)
	}
	now := calling{digest(of, m.Open[0].Args), t.work.Round, t.work.Attempt, t.work.Leg}
	switch {
	case m.Calling == nil:
		now.Leg++ // the next leg makes the call: then it is known that it may have begun
		m.Calling = &now
		return new(m.nextLeg()), nil
	case *m.Calling == now && t.work.Try <= 1:
		return t.call(ctx, of, server)
	}
	return m.askUnknown(t.work, of, server.policy(of.Function).again()), nil
}

// openCall returns the tool of the first open call and its server. problem says, for the model,
// why the call cannot be made.
func (t *task) openCall() (of tool, s *Server, problem string) {
	next := &t.memo.Open[0]
	i := slices.IndexFunc(t.memo.Tools, func(u tool) bool { return u.Name == next.Name })
	if i < 0 {
		return of, nil, "There is no tool with this name."
	}
	of = t.memo.Tools[i]
	if s = t.Models.Servers[of.Server]; s == nil || s.policy(of.Function).does == deny {
		return of, s, "This tool may not be called here."
	}
	next.Args = cmp.Or(next.Args, "{}") // some models leave them out
	if t.memo.Accepted == "" {
		problem = of.check(next.Args)
	}
	return of, s, problem
}

// check returns the mistake in the arguments of a call, for the model.
func (t tool) check(args string) string {
	if !isObject(json.RawMessage(args)) {
		return "The arguments are not a JSON object. The call was not made."
	}
	s, err := schema.Parse(t.Schema)
	if err != nil {
		return "" // the server checks them
	}
	if err := s.Check(json.RawMessage(args)); err != nil {
		return fmt.Sprintf("The arguments are invalid: %v. The call was not made.", err)
	}
	return ""
}

// maxStarts is how often in a row a server may be unreachable before the model gets an
// error.
const maxStarts = 4

// call makes the next call.
func (t *task) call(ctx context.Context, of tool, s *Server) (*activities.Outcome, error) {
	m := t.memo
	key := fmt.Sprintf("%s:%d", t.work.TaskID, m.Calls)
	text, failed, err := s.call(ctx, of, json.RawMessage(m.Open[0].Args), key, t.Log)
	var unbegun *notStartedError
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &unbegun) && m.Waits < maxStarts:
		m.Calling = nil // the call was not made
		m.Waits++
		return new(withMemo(activities.ParkFor(time.Second<<m.Waits, nil, fmt.Sprintf("The server %q of tools cannot be reached.", of.Server)), m)), nil
	case errors.As(err, &unbegun):
		text, failed = "The server of the tool cannot be reached. The call was not made.", true
	case err != nil && m.Calling != nil:
		activities.Log(ctx, t.Log).Warn("The result of a call was lost", zap.String("tool", of.title()), zap.Error(err))
		return m.askUnknown(t.work, of, s.policy(of.Function).again()), nil
	case err != nil:
		text, failed = "The call has failed: its result was lost.", true
	}
	if m.Edited {
		text = "A person has changed the arguments to " + m.Open[0].Args + "\n" + text
	}
	m.answer(text, failed)
	return new(m.nextLeg()), nil
}
