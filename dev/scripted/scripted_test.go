package scripted_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/dev/scripted"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestExecutor(t *testing.T) {
	waits := asked("tck-input-required-1")
	executortest.Run(t, executortest.Config{
		Executor:  scripted.Executor{},
		Completes: asked("tck-stream-artifact-chunked-1"),
		Fails:     asked("tck-reject-task-1"),
		Waits:     &waits,
		Long:      asked("test-resubscribe-message-id-1"),
		Reply: func(opt.Gate) opt.Reply {
			return opt.Reply{Answers: []opt.Answer{{ID: "q1", Answer: []byte(`"yes"`)}}}
		},
	})
}

// The results that the kits ask for.
func TestExecutor_Execute(t *testing.T) {
	text := func(s string) a2a.Part { return a2a.TextPart(s) }
	url := "https://example.com/output.txt"
	file := a2a.Part{Raw: []byte("Generated file content\n"), Filename: "output.txt", MediaType: "text/plain"}
	for id, want := range map[string]a2a.Part{
		"tck-complete-task-1":           text("Hello from TCK"),
		"tck-anything-1":                text("Hello from TCK"),
		"tck-artifact-text-1":           text("Generated text content"),
		"tck-artifact-file-1":           file,
		"tck-artifact-file-url-1":       {URL: &url, Filename: "output.txt", MediaType: "text/plain"},
		"tck-artifact-data-1":           {Data: []byte(`{"count":42,"key":"value"}`)},
		"tck-stream-001-1":              text("Stream hello from TCK"),
		"tck-stream-003-1":              text("Stream task lifecycle"),
		"tck-stream-ordering-001-1":     text("Ordered output"),
		"tck-stream-artifact-text-1":    text("Streamed text content"),
		"tck-stream-artifact-file-1":    file,
		"tck-stream-artifact-chunked-1": text("chunk-1 "),
	} {
		out := &executortest.Stream{}
		o, err := scripted.Executor{}.Execute(t.Context(), asked(id), out)
		if err != nil || o.State != opt.TaskCompleted {
			t.Errorf("%s: outcome %+v, error %v", id, o, err)
			continue
		}
		made := append(out.Artifacts(), o.Artifacts...)
		if len(made) != 1 {
			t.Errorf("%s: made %+v", id, made)
			continue
		}
		test.Equal(t, id+": made", want, made[0].Parts[0])
	}
}

// The latest message counts, so that a kit decides how a task continues.
func TestExecutor_Execute_latestReply(t *testing.T) {
	w := asked("tck-input-required-1")
	for _, step := range []struct {
		reply string
		want  opt.TaskState
	}{
		{"", opt.TaskInputRequired},
		{"tck-input-required-1", opt.TaskInputRequired},
		{"tck-complete-task-1", opt.TaskCompleted},
		{"tck-reject-task-1", opt.TaskRejected},
	} {
		if step.reply != "" {
			w.Replies = append(w.Replies, opt.Reply{MessageID: step.reply})
		}
		o, err := scripted.Executor{}.Execute(t.Context(), w, &executortest.Stream{})
		if err != nil || o.State != step.want {
			t.Errorf("after %q: %+v, error %v, want %s", step.reply, o, err, step.want)
		}
	}
}

// The kit for 0.3 sends more to a task while it works, and watches it.
func TestExecutor_Execute_takesItsTime(t *testing.T) {
	for id, want := range map[string]time.Duration{
		"test-history-create-message-id-1": 3 * time.Second,
		"test-resubscribe-message-id-1":    6 * time.Second,
		"tck-complete-task-1":              0,
		"":                                 3 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if o, err := (scripted.Executor{}).Execute(t.Context(), asked(id), &executortest.Stream{}); err != nil || o.State != opt.TaskCompleted {
				t.Errorf("%q: outcome %+v, error %v", id, o, err)
			}
			test.Is(t, fmt.Sprintf("%q took", id), want, time.Since(began))
		})
	}
}

func TestAgent_Decide(t *testing.T) {
	d, err := scripted.Agent{}.Decide(t.Context(), a2a.Message{MessageID: "tck-message-response-1"})
	if err != nil || d.Answer == nil || d.Answer.Text() != "Direct message response" || d.Plans != nil {
		t.Errorf("a message in place of a task: %+v, error %v", d, err)
	}
	for _, id := range []string{"tck-stream-001-1", "tck-x", "x"} {
		d, err := scripted.Agent{}.Decide(t.Context(), a2a.Message{MessageID: id})
		if err != nil || d.Answer != nil || len(d.Plans) != 1 || len(d.Plans[0].Tasks) != 1 {
			t.Errorf("%s: %+v, error %v", id, d, err)
			continue
		}
		if task := d.Plans[0].Tasks[0]; task.Executor != scripted.Kind || task.Name == "" {
			t.Errorf("%s: task %+v", id, task)
		}
	}
}

func asked(messageID string) activities.Work {
	return activities.Work{Messages: []a2a.Message{{MessageID: messageID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}}}
}
