package elsewhere_test

import (
	"encoding/json"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/elsewhere"
	"longhaul/activities/executortest"
	"longhaul/internal/test"
	"longhaul/opt"
)

func work(input string) activities.Work { return activities.Work{Input: json.RawMessage(input)} }

// TestExecutor plays the worker elsewhere: it returns what the data of the task say.
func TestExecutor(t *testing.T) {
	answers := func(data any) activities.Work {
		text := test.Value(json.Marshal(map[string]any{"queue": "q", "activity": "a", "data": data}))(t)
		return work(string(text))
	}
	large, untrusted := answers(strings.Repeat("x", executortest.LargeResult)), answers(executortest.Hostile)
	asks := answers(map[string]any{"state": "input-required", "gate": map[string]any{"kind": "approval", "title": "Go on?", "actions": []string{"accept"}}})
	executortest.Run(t, executortest.Config{
		Executor: elsewhere.Executor{}, Completes: answers("Done."), Fails: work(`{}`), Quick: true, Waits: &asks, Large: &large, Untrusted: &untrusted,
		Parked: func(_ activities.Work, o activities.Outcome) *activities.Outcome {
			var sent activities.Work
			test.OK(t, json.Unmarshal(o.Park.Elsewhere.Input, &sent))
			out := opt.ReadOutcome(sent.Input)
			if out.Gate != nil && len(sent.Replies) > 0 {
				out = opt.ReadOutcome(json.RawMessage(`"Accepted."`))
			}
			return &out
		},
	})
}

// A task parks until the activity has its outcome.
func TestExecutor_parks(t *testing.T) {
	w := work(`{"queue":"images","activity":"Resize","heartbeat":"90s","data":{"width":3}}`)
	w.Key = "key"
	p := executortest.Player{Executor: elsewhere.Executor{}, Twice: true, Parked: func(w activities.Work, o activities.Outcome) *activities.Outcome {
		e := *o.Park.Elsewhere
		var sent activities.Work
		test.OK(t, json.Unmarshal(e.Input, &sent))
		if string(sent.Input) != `{"width":3}` || sent.Key != "key" {
			t.Errorf("the activity gets %s", e.Input)
		}
		e.Input = nil
		test.Equal(t, "elsewhere", opt.Elsewhere{Queue: "images", Activity: "Resize", Heartbeat: 90}, e)
		done := opt.ReadOutcome(json.RawMessage(`"Resized."`))
		return &done
	}}
	played, err := p.Play(t.Context(), w)
	if err != nil || played.Outcome.State != opt.TaskCompleted || *played.Artifacts[0].Parts[0].Text != "Resized." {
		t.Errorf("got %+v, %v", played, err)
	}
}

func TestExecutor_rejects(t *testing.T) {
	large := work(`{"queue":"q","activity":"a"}`)
	large.Messages = []a2a.Message{{Parts: []a2a.Part{a2a.TextPart(strings.Repeat("x", 2<<20))}}}
	for name, tt := range map[string]struct {
		work activities.Work
		code string
	}{
		"no input":              {activities.Work{}, elsewhere.CodeInput},
		"no queue":              {work(`{"activity":"a"}`), elsewhere.CodeInput},
		"no activity":           {work(`{"queue":"q"}`), elsewhere.CodeInput},
		"another member":        {work(`{"queue":"q","activity":"a","url":"u"}`), elsewhere.CodeInput},
		"no duration":           {work(`{"queue":"q","activity":"a","heartbeat":"often"}`), elsewhere.CodeInput},
		"too short a time":      {work(`{"queue":"q","activity":"a","heartbeat":"1ms"}`), elsewhere.CodeInput},
		"too much for Temporal": {large, elsewhere.CodeTooLarge},
	} {
		out := test.Value(elsewhere.Executor{}.Execute(t.Context(), tt.work, nil))(t)
		test.Is(t, name, opt.TaskRejected, out.State)
		test.Is(t, name, tt.code, out.Code)
	}
}
