package agui

import (
	"cmp"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/shown"
	optwire "longhaul/opt/wire"
)

// An entry is a message of a thread.
type entry struct {
	ID      string   `json:"id"`
	Role    string   `json:"role"`
	Content string   `json:"content"`
	Calls   []object `json:"toolCalls,omitempty"` // the call that a gate is about
}

// entriesOf returns the messages of a root task with its history: those of clients, questions, what the
// agent has said at the task, and its artifacts before the last words.
func entriesOf(t a2a.Task) (list []entry) {
	add := func(m entry) {
		if i := slices.IndexFunc(list, func(had entry) bool { return had.ID == m.ID }); i >= 0 {
			list[i] = m
		} else {
			list = append(list, m)
		}
	}
	for _, m := range t.History {
		switch id, _ := m.Metadata.String(keyMessage); {
		case m.Role == a2a.RoleUser:
			add(entry{ID: cmp.Or(id, m.MessageID), Role: "user", Content: textOf(m.Parts)})
		case m.TaskID == t.ID || opt.GateIn(m) != nil: // at a task of it
			add(spoken(m))
		}
	}
	for _, a := range t.Artifacts {
		add(entry{ID: artifactID(t.ID, a.ArtifactID), Role: "assistant", Content: textOf(a.Parts)})
	}
	if says(t.Status) {
		add(spoken(*t.Status.Message))
	}
	return list
}

// says reports whether a status has words for the conversation. Those of a task that works are
// progress, which the state shows.
func says(s a2a.TaskStatus) bool { return s.Message != nil && s.State != a2a.Working }

func artifactID(taskID, artifactID string) string { return taskID + "/" + artifactID }

// spoken returns what the agent has said. At a gate that is its question.
func spoken(m a2a.Message) entry {
	out := entry{ID: m.MessageID, Role: "assistant", Content: textOf(m.Parts)}
	if g := opt.GateIn(m); g != nil {
		out.Content = g.Prompt()
		if c, ok := g.Call(); ok {
			out.Calls = []object{{"id": g.ID, "type": "function", "function": object{"name": c.Tool, "arguments": string(c.Arguments)}}}
		}
	}
	return out
}

// textOf returns parts as text: data as JSON, and files by their names.
func textOf(parts []a2a.Part) string {
	var texts []string
	for _, p := range a2a.AppendParts(nil, parts...) {
		text, ok := p.Content()
		if !ok || p.URL != nil {
			text = "[" + p.String() + "]"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n")
}

// joined returns the messages of a thread with those of the client that it does not know, such
// as a greeting of the page. A client's own messages stay as it has sent them.
func joined(own []sent, thread []entry) []any {
	out, next := []any{}, 0
	unknownUntil := func(end int) {
		for ; next < end; next++ {
			if !slices.ContainsFunc(thread, func(m entry) bool { return m.ID == own[next].ID }) {
				out = append(out, own[next])
			}
		}
	}
	for _, m := range thread {
		i := slices.IndexFunc(own, func(s sent) bool { return s.ID == m.ID })
		unknownUntil(i)
		if i >= 0 && m.Role == "user" {
			out = append(out, own[i])
		} else {
			out = append(out, m)
		}
	}
	unknownUntil(len(own))
	return out
}

// interruptOf returns a gate that the caller may answer as an interrupt. Its id has the digest of
// the object that it shows, so that a decision counts only for what its client has seen.
func interruptOf(i shown.Interrupt) object {
	g := &i.Gate
	_, isCall := g.Call()
	out := object{
		"id": g.ID, "reason": "confirmation", "message": g.Prompt(), "responseSchema": actionsSchema(g, isCall),
		"metadata": object{opt.KeyInterrupt: optwire.InterruptOf(i)},
	}
	if g.ObjectDigest != "" {
		out["id"] = g.ID + "#" + g.ObjectDigest
	}
	if !g.ExpiresAt.IsZero() {
		out["expiresAt"] = g.ExpiresAt
	}
	switch {
	case g.Kind == opt.Clarification:
		out["reason"], out["responseSchema"] = "input_required", questionsSchema(g)
	case g.Kind == opt.Credential:
		out["reason"] = "longhaul:authorization" // from elsewhere
	case isCall:
		out["reason"], out["toolCallId"] = "tool_call", g.ID
	}
	return out
}

// questionsSchema describes the answers to a clarification: one member per question.
func questionsSchema(g *opt.Gate) object {
	members, ids := object{}, []string{}
	for _, q := range g.Questions {
		member := object{"description": q.Question}
		_ = a2a.Decode(q.Schema, &member) // an unlimited answer
		members[q.ID] = member
		ids = append(ids, q.ID)
	}
	return object{"type": "object", "properties": members, "required": ids}
}

// actionsSchema describes a decision: approved as AG-UI has it, or one of the actions of the
// gate.
func actionsSchema(g *opt.Gate, isCall bool) object {
	text := object{"type": "string"}
	members := object{"approved": object{"type": "boolean"}, "action": object{"type": "string", "enum": g.Actions}, "feedback": text}
	if g.Allows(opt.EditAccept) {
		members["editedArtifactData"] = object{"description": "Replaces the object, for the action edit-accept."}
		if isCall {
			members["editedArgs"] = object{"type": "object", "description": "Replaces the arguments. Not merged."}
		}
	}
	if g.Allows(opt.Ask) {
		members["question"] = text
	}
	return object{"type": "object", "properties": members, "anyOf": []object{{"required": []string{"approved"}}, {"required": []string{"action"}}}}
}
