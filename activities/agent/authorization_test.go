package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/activities/agent"
	"longhaul/activities/executortest"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/letter"
	"longhaul/api/message"
	"longhaul/api/read"
	"longhaul/api/service"
	"longhaul/api/service/servicetest"
	"longhaul/api/work"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A desk is an API whose work other does, the agent of a fake.
type desk struct {
	t *testing.T
	*service.Service
	world  *servicetest.World
	remote *fake
	root   string
}

// newDesk returns a desk whose agent asks for an authorization. wake is the URL to which the
// agent may push, "" for none.
func newDesk(t *testing.T, word, wake string) *desk {
	t.Helper()
	d := &desk{t: t, remote: newFake(t, "1.0", false)}
	e := executor(t, d.remote, "")
	d.world = servicetest.New(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Plan", Tasks: []opt.TaskSpec{{Name: "Write", Executor: agent.Kind, Input: task(word).Input}}}}}, true
		},
		Script: func(w opt.Work) servicetest.Play {
			w.WakeURL = wake
			o, err := e.Execute(t.Context(), w, &executortest.Stream{})
			if err != nil {
				t.Errorf("leg %d: %v", w.Leg, err)
			}
			return servicetest.Play{Outcome: &o}
		},
	})
	d.Service = service.New(service.Config{
		Engine: d.world, Journal: d.world.Journal(), Pushes: d.world.Journal().Pushes, Watch: d.world.Watch, Agent: byWorkers{}, Now: d.world.Now,
		BlockingWait: time.Nanosecond, ReplyWait: 20 * time.Millisecond,
	})
	sent := d.send("start", a2a.Message{Parts: []a2a.Part{a2a.TextPart("Write.")}})
	d.root = sent.Task.ID
	for range 5 {
		d.world.Advance(time.Minute)
	}
	return d
}

// byWorkers leaves all planning to workers.
type byWorkers struct{}

func (byWorkers) Decide(context.Context, a2a.Message) (message.Decision, error) {
	return message.Decision{}, nil
}

func (d *desk) call() *call.Call {
	c := d.NewCall("")
	c.Caller, _ = servicetest.Caller("")
	return c
}

func (d *desk) send(id string, m a2a.Message) message.Sent {
	d.t.Helper()
	m.MessageID, m.Role = id, a2a.RoleUser
	sent, err := d.Messages.SendMessage(d.t.Context(), d.call(), message.SendParams{Message: m})
	if err != nil {
		d.t.Fatalf("%s: %v", id, err)
	}
	return sent
}

// say sends a text to the root task.
func (d *desk) say(text string) {
	d.t.Helper()
	d.send(text, a2a.Message{TaskID: d.root, Parts: []a2a.Part{a2a.TextPart(text)}})
}

// task returns the task that was handed over.
func (d *desk) task() *opt.Task { return d.world.Objective(d.root).Plans[0].Tasks[0] }

// gate returns the open gate.
func (d *desk) gate() *opt.Gate {
	d.t.Helper()
	g := d.task().Gate
	if d.task().State != opt.TaskAuthRequired || g == nil || g.Kind != opt.Credential {
		d.t.Fatalf("the task is %s at %+v", d.task().State, g)
	}
	return g
}

// completed checks that the remote task was completed after these answers.
func (d *desk) completed(answers string) {
	d.t.Helper()
	for range 5 {
		d.world.Advance(time.Minute)
	}
	v, err := d.Tasks.GetTask(d.t.Context(), d.call(), read.TaskParams{ID: d.root})
	if err != nil || v.Status.State != a2a.Completed || len(v.Artifacts) != 1 || v.Artifacts[0].Text() != answers {
		d.t.Errorf("the task is %s with %+v (%v), want %q", v.Status.State, v.Artifacts, err, answers)
	}
}

// The remote task is watched while the gate is open, by looking at it and by its pushes. The
// gate closes when the agent continues.
func TestAuthorization_elsewhere(t *testing.T) {
	for _, wake := range []string{"", "https://desk.example.com/wake"} {
		d := newDesk(t, "auth", wake)
		gate := d.gate()
		test.Is(t, "the gate offers", "[accept reject] Log in at https://example.com.", fmt.Sprint(gate.Actions, " ", gate.Description))
		d.world.Advance(10 * time.Minute)
		if again := d.gate(); again.ID != gate.ID {
			t.Errorf("the gate is another one: %+v", again)
		}
		d.remote.authorize()
		if wake != "" {
			test.OK(t, d.Callbacks.ReceiveCallback(t.Context(), d.call(), opt.Callback{ID: "push", TaskID: d.task().A2AID(), Round: 1}))
			if d.task().Gate != nil {
				t.Errorf("the push does not close the gate: the task is %s", d.task().State)
			}
		}
		d.completed("Done: auth ")
		test.Is(t, "messages were sent", 1, len(d.remote.params("send")))
	}
}

// A person says that it was given, with or without words.
func TestAuthorization_accepted(t *testing.T) {
	d := newDesk(t, "login", "")
	d.say("accept")
	d.completed("Done: login The authorization was given.")

	d = newDesk(t, "login", "")
	m := message.SendParams{Decision: &letter.GateDecision{Action: opt.Accept, Feedback: "Code 7."}, Message: a2a.Message{Role: a2a.RoleUser}}
	test.Value(d.Gates.AnswerInterrupt(t.Context(), d.call(), gate.AnswerParams{ID: d.gate().ID, Message: m}))(t)
	d.completed("Done: login The authorization was given. Code 7.")
}

// A person refuses: the remote task is canceled.
func TestAuthorization_refused(t *testing.T) {
	d := newDesk(t, "login", "")
	d.say("reject")
	if got := d.task(); got.State != opt.TaskFailed || got.Reason != "no-answer" || !slices.Contains(d.remote.log(), "cancel") {
		t.Errorf("the task is %s (%s) after %v", got.State, got.Reason, d.remote.log())
	}
}

// Words go to the agent and authorize nothing: it asks again, at another gate.
func TestAuthorization_words(t *testing.T) {
	d := newDesk(t, "login", "")
	first := d.gate()
	d.say("Which account?")
	d.world.Advance(time.Minute)
	second := d.gate()
	if second.ID == first.ID || second.Description != "Words do not log me in." {
		t.Errorf("the gate is %+v", second)
	}
	d.say("accept")
	d.completed("Done: login Which account?, The authorization was given.")
}

// An agent that shows the same request after words gets no authorization by that, and the
// gate opens again.
func TestAuthorization_sameRequest(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	p, _ := play(t, e, task("auth"))
	f.deaf = true
	if _, got := play(t, e, replied(p, opt.Reply{Feedback: "Wait."})); got != "auth-required|credential|Agent other needs an authorization\nLog in at https://example.com." {
		t.Errorf("got %q", got)
	}
}

// An agent that takes no message while it waits may continue by itself after a person has said
// that the authorization was given. If it does not, the gate opens again and says why.
func TestAuthorization_noMessages(t *testing.T) {
	for _, authorized := range []bool{true, false} {
		d := newDesk(t, "auth", "")
		first := d.gate()
		d.remote.refuse = map[string]rpcFault{"send": {-32603, "in progress"}}
		d.say("accept")
		if authorized {
			d.remote.authorize()
			d.completed("Done: auth ")
			continue
		}
		for range 8 {
			d.world.Advance(time.Minute)
		}
		if got, want := d.gate().Description, "The agent did not take the last answer: in progress\nLog in at https://example.com."; got != want || d.gate().ID == first.ID {
			t.Errorf("the gate says %q, want %q", got, want)
		}
	}
}

// Moving the task to working by hand says that the authorization was given.
func TestAuthorization_byHand(t *testing.T) {
	d := newDesk(t, "login", "")
	p := work.UpdateTaskStatusParams{ID: d.task().ID, State: opt.TaskWorking, Message: "Code 8."}
	test.Value(d.TaskWork.UpdateTaskStatus(t.Context(), d.call(), p))(t)
	d.completed("Done: login The authorization was given. Code 8.")
}

// A gate of a Longhaul gets the decision in its form.
func TestAuthorization_atLonghaul(t *testing.T) {
	d := newDesk(t, "credential", "")
	d.say("accept")
	var got any
	for _, sent := range d.remote.params("send")[1:] {
		got = sent["message"].(object)["parts"].([]any)[0].(object)["data"]
	}
	text, _ := json.Marshal(got)
	test.Is(t, "the agent got", `{"action":"accept","interruptId":"g:3"}`, string(text))
}
