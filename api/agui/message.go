package agui

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
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

// artifactID returns the id of the message for an artifact.
func artifactID(taskID, artifactID string) string { return taskID + "/" + artifactID }

// spoken returns what the agent has said. At a gate that is its question.
func spoken(m a2a.Message) entry {
	out := entry{ID: m.MessageID, Role: "assistant"}
	g := opt.GateIn(m)
	if g == nil {
		out.Content = textOf(m.Parts)
		return out
	}
	out.Content = g.Prompt()
	if name, args, ok := functionOf(g); ok {
		out.Calls = []object{{"id": g.ID, "type": "function", "function": object{"name": name, "arguments": args}}}
	}
	return out
}

// functionOf returns the call that a gate is about, as tasks of models show it; ok is false if
// the gate is about something else.
func functionOf(g *opt.Gate) (name, args string, ok bool) {
	var object struct {
		Server string          `json:"server"`
		Tool   string          `json:"tool"`
		Args   json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(g.Shown().ArtifactData, &object) != nil || object.Tool == "" || object.Server == "" || object.Args == nil {
		return "", "", false
	}
	return object.Tool, string(object.Args), true
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
