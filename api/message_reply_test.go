package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestReply_letters(t *testing.T) {
	obj, plan, task := "obj-"+u("m"), "plan-"+u("m")+"-1", "task-"+u("m")+"-1-0"
	other := "task-" + u("m") + "-1-1"
	reply := func(gateTask string, r opt.Reply) *opt.Reply {
		r.GateID, r.MessageID, r.DecidedBy = gateTask+":1", "r", "ann"
		return &r
	}
	engineers := []opt.Answer{{ID: "audience", Answer: json.RawMessage(`"Engineers"`)}}
	for name, tc := range map[string]struct {
		work, taskID, parts, more string
		want                      opt.Letter
	}{
		"to the root task": {"approve", obj, `{"data":{"action":"accept","feedback":"F","decidedBy":"x","decidedAt":"y"}}`, "",
			opt.Letter{PlanID: plan, TaskID: obj, ForTask: task, Reply: reply(task, opt.Reply{Action: opt.Accept, Feedback: "F"})}},
		"to the plan task": {"approve", task, `{"data":{"action":"reject"}}`, "",
			opt.Letter{PlanID: plan, TaskID: task, Reply: reply(task, opt.Reply{Action: opt.Reject})}},
		"by word": {"approve", obj, `{"text":"  ACCEPT\n"}`, "",
			opt.Letter{PlanID: plan, TaskID: obj, ForTask: task, Reply: reply(task, opt.Reply{Action: opt.Accept})}},
		"beside text": {"approve", obj, `{"text":"Looks good."},{"data":{"action":"accept"}},{"data":{"other":1}}`, "",
			opt.Letter{PlanID: plan, TaskID: obj, ForTask: task, Reply: reply(task, opt.Reply{Action: opt.Accept})}},
		"in old words": {"approve", obj, `{"data":{"decision":"rejected"}}`, "",
			opt.Letter{PlanID: plan, TaskID: obj, ForTask: task, Reply: reply(task, opt.Reply{Action: opt.Reject})}},
		"at one of two gates": {"two", obj, `{"data":{"action":"accept","interruptId":"` + other + `:1"}}`, "",
			opt.Letter{PlanID: plan, TaskID: obj, ForTask: other, Reply: reply(other, opt.Reply{Action: opt.Accept})}},
		"at one of two gates, by metadata": {"two", obj, `{"text":"accept"}`, `,"metadata":{"opt/v1/taskId":"` + other + `"}`,
			opt.Letter{PlanID: plan, TaskID: obj, ForTask: other, Reply: reply(other, opt.Reply{Action: opt.Accept})}},
		"by metadata alone": {"two", "", `{"text":"accept"}`, `,"metadata":{"opt/v1/taskId":"` + other + `"}`,
			opt.Letter{PlanID: plan, TaskID: other, Reply: reply(other, opt.Reply{Action: opt.Accept})}},
		"answers": {"clarify", task, `{"data":{"answers":[{"id":"audience","answer":"Engineers"}]}}`, "",
			opt.Letter{PlanID: plan, TaskID: task, Reply: reply(task, opt.Reply{Answers: engineers})}},
		"an answer of null": {"clarify", task, `{"data":{"answers":[{"id":"audience","answer":null}]}}`, "",
			opt.Letter{PlanID: plan, TaskID: task, Reply: reply(task, opt.Reply{Answers: []opt.Answer{{ID: "audience", Answer: json.RawMessage("null")}}})}},
		"a note to the root task": {"slow", obj, `{"text":"accept"}`, "", opt.Letter{TaskID: obj}},
		"a note to a plan task":   {"slow", task, `{"data":{"hint":1}}`, "", opt.Letter{PlanID: plan, TaskID: task}},
		"a note for a plan task":  {"slow", obj, `{"text":"x"}`, `,"metadata":{"opt/v1/taskId":"` + task + `"}`, opt.Letter{PlanID: plan, TaskID: obj, ForTask: task}},
		"talk about a login":      {"auth", obj, `{"text":"accept"}`, "", opt.Letter{TaskID: obj}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			s.send(t, "m", tc.work)
			n := s.say(t, tc.taskID, "r", tc.parts, tc.more)
			if n.has("error") {
				t.Fatalf("refused: %v", n)
			}
			got := s.world.Letters()[0]
			if got.Message.MessageID != "r" || got.Message.ContextID != "" {
				t.Errorf("the message was not kept as it was sent: %+v", got.Message)
			}
			got.Message = a2a.Message{}
			if got.Reply != nil {
				got.Reply.At = a2a.Time{}
			}
			tc.want.ObjectiveID, tc.want.Principal = obj, "ann"
			test.Equal(t, "letter", tc.want, got, cmp.AllowUnexported(a2a.Time{}))
		})
	}
}

// newServices returns a function that returns a service where a message with a text began
// work, the same service for the same text.
func newServices(t *testing.T) func(text string) *fixture {
	all := map[string]*fixture{}
	return func(text string) *fixture {
		if all[text] == nil {
			all[text] = newService(t)
			all[text].send(t, "m", text)
		}
		return all[text]
	}
}

// Replies that are refused before the engine gets them. What decisions and words mean at a gate is
// in the tests of package letter.
func TestReply_refused(t *testing.T) {
	obj, task, other := "obj-"+u("m"), "task-"+u("m")+"-1-0", "task-"+u("m")+"-1-1"
	serviceOf := newServices(t)
	for name, tc := range map[string]struct{ work, taskID, parts, more, code, says string }{
		"no known action":                      {"approve", obj, `{"data":{"action":"approve"}}`, "", "-32602", "message.parts[0].data.action: the action must be one of: accept, reject"},
		"an action of another type":            {"approve", obj, `{"data":{"action":true}}`, "", "-32602", "message.parts[0].data.action"},
		"no known decision":                    {"approve", obj, `{"data":{"decision":"ok"}}`, "", "-32602", "must be one of: approved, rejected"},
		"rejected with feedback":               {"approve", obj, `{"data":{"decision":"rejected","feedback":"shorter"}}`, "", "-32602", "accept, reject"},
		"two decisions":                        {"approve", obj, `{"data":{"action":"accept"}},{"data":{"action":"reject"}}`, "", "-32602", "message.parts[1].data"},
		"both kinds":                           {"approve", obj, `{"data":{"action":"accept","answers":[{"id":"a","answer":1}]}}`, "", "-32602", "either"},
		"another gate":                         {"approve", obj, `{"data":{"action":"accept","interruptId":"` + other + `:1"}}`, "", "-32004", "does not wait"},
		"which of two":                         {"two", obj, `{"data":{"action":"accept"}}`, "", "-32602", other + ":1"},
		"a task under another root":            {"approve", obj, `{"text":"accept"}`, `,"metadata":{"opt/v1/taskId":"task-` + u("x") + `-1-0"}`, "-32602", "opt/v1/taskId"},
		"a task beside a plan task":            {"two", task, `{"text":"accept"}`, `,"metadata":{"opt/v1/taskId":"` + other + `"}`, "-32602", "opt/v1/taskId"},
		"no answer":                            {"clarify", obj, `{"data":{"answers":[]}}`, "", "-32602", "at least one"},
		"an answer without an id":              {"clarify", obj, `{"data":{"answers":[{"answer":1}]}}`, "", "-32602", "answers[0].id"},
		"an answer without an answer":          {"clarify", obj, `{"data":{"answers":[{"id":"audience"}]}}`, "", "-32602", "answers[0].answer"},
		"an unknown action while nothing asks": {"slow", obj, `{"data":{"action":"approve"}}`, "", "-32004", "does not wait"},
		"a decision while nothing asks":        {"slow", obj, `{"data":{"action":"accept"}}`, "", "-32004", "does not wait"},
		"answers while nothing asks":           {"slow", task, `{"data":{"answers":[{"id":"a","answer":1}]}}`, "", "-32004", "does not wait"},
		"another context":                      {"slow", obj, `{"text":"x"}`, `,"contextId":"other"`, "-32602", "message.contextId"},
		"a task that is not there":             {"slow", "t-nope", `{"text":"x"}`, "", "-32001", "Task not found"},
		"a task that is done":                  {"Write", obj, `{"text":"x"}`, "", "-32004", "ended"},
		"an unknown scope":                     {"outline", obj, `{"data":{"action":"refine","refineFeedback":{"scope":"half","text":"x"}}}`, "", "-32602", "whole, section, items"},
		"feedback that is text":                {"outline", obj, `{"data":{"action":"refine","refineFeedback":"x"}}`, "", "-32602", "must be an object"},
		"a type that nobody reads":             {"slow", obj, `{"raw":"aGk=","mediaType":"video/mp4"}`, "", "-32005", "content types"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serviceOf(tc.work)
			got := wantCode(t, s.say(t, tc.taskID, "r", tc.parts, tc.more), tc.code)
			test.Contains(t, "message", tc.says, got)
			if tc.work != "outline" && strings.Contains(got, "refine") || strings.Contains(got, "ask,") {
				t.Errorf("message is %q, which names actions that are not offered", got)
			}
			test.Is(t, "the engine", 0, len(s.world.Letters()))
		})
	}
}

// Of many concurrent decisions, by data or by word, one counts, and a repeat of it gets the
// same answer.
func TestReply_firstWins(t *testing.T) {
	for name, parts := range map[string][2]string{
		"by data": {`{"data":{"action":"accept"}}`, `{"data":{"action":"accept"}}`},
		"by word": {`{"text":"accept"}`, `{"text":"reject"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.ReplyWait = time.Minute })
			root := s.send(t, "m", "approve").at("id").String()
			codes := make([]string, 50)
			var wg sync.WaitGroup
			for i := range codes {
				wg.Go(func() { codes[i] = s.say(t, root, fmt.Sprint("r", i), parts[i%2], "").at("error", "code").String() })
			}
			wg.Wait()
			winner := slices.Index(codes, "")
			for i, code := range codes {
				if i != winner && code != "-32004" {
					t.Errorf("reply %d gets %q, beside %d, which counts", i, code, winner)
				}
			}
			if winner < 0 {
				t.FailNow()
			}
			told := len(s.world.Letters())
			if again := s.say(t, root, fmt.Sprint("r", winner), parts[winner%2], ""); again.has("error") {
				t.Errorf("the repeat got %v", again)
			}
			wantCode(t, s.say(t, root, fmt.Sprint("r", winner), `{"data":{"action":"reject","feedback":"no"}}`, ""), "-32602")
			if len(s.world.Letters()) != told {
				t.Error("the engine got a repeat")
			}
		})
	}
}

// A refusal by the workflow is the answer, also to a repeat. Here the gate was
// answered after the journal was read.
func TestReply_verdicts(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "approve")
	s.world.Sleep()
	answers := make(chan node, 2)
	for i := range 2 {
		go func() { answers <- s.say(t, "obj-"+u("m"), fmt.Sprint("r", i), `{"data":{"action":"accept"}}`, "") }()
	}
	s.until(t, func() bool { return len(s.world.Letters()) == 2 })
	<-answers
	<-answers
	s.world.Wake()
	lost := s.world.Letters()[1].Message.MessageID
	for range 2 {
		wantCode(t, s.say(t, "obj-"+u("m"), lost, `{"data":{"action":"accept"}}`, ""), "-32004")
	}
}

// A decision by word is refused once the gate is closed, and is a comment if there
// was none; a repeat of the word that counted gets its first answer.
func TestReply_wordTooLate(t *testing.T) {
	obj, task, other := "obj-"+u("m"), "task-"+u("m")+"-1-0", "task-"+u("m")+"-1-1"
	newAnswered := func(t *testing.T) *fixture {
		s := newService(t)
		s.send(t, "m", "slow")
		s.world.Gate(task, *approval())
		if n := s.say(t, obj, "first", `{"text":"accept"}`, ""); n.has("error") {
			t.Fatal(n)
		}
		return s
	}
	for name, tc := range map[string]struct{ taskID, parts, more, code string }{
		"the same word":           {obj, `{"text":"accept"}`, "", "-32004"},
		"another word":            {obj, `{"text":" Reject\n"}`, "", "-32004"},
		"to the plan task":        {task, `{"text":"reject"}`, "", "-32004"},
		"by metadata":             {obj, `{"text":"reject"}`, `,"metadata":{"opt/v1/taskId":"` + task + `"}`, "-32004"},
		"a comment":               {obj, `{"text":"I would accept it"}`, "", ""},
		"a word beside something": {obj, `{"text":"accept"},{"data":{"other":1}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAnswered(t)
			told := len(s.world.Letters())
			n := s.say(t, tc.taskID, "r", tc.parts, tc.more)
			if got := n.at("error", "code").String(); got != tc.code {
				t.Errorf("code is %q, want %q: %v", got, tc.code, n)
			}
			if refused := len(s.world.Letters()) == told; refused != (tc.code != "") {
				t.Errorf("the engine got: %v", !refused)
			}
		})
	}
	t.Run("in 0.3", func(t *testing.T) {
		n := newAnswered(t).callIn(t, "0.3", "message/send", `{"message":{"kind":"message","messageId":"r","taskId":"`+obj+`","role":"user","parts":[{"kind":"text","text":"reject"}]}}`)
		wantCode(t, n, "-32004")
	})
	t.Run("repeated", func(t *testing.T) {
		if n := newAnswered(t).say(t, obj, "first", `{"text":"accept"}`, ""); n.has("error") {
			t.Error(n)
		}
	})
	t.Run("while the root task still shows the gate", func(t *testing.T) {
		s := newService(t)
		s.send(t, "m", "slow")
		s.world.Gate(task, *approval())
		s.world.SleepOn(obj)
		s.say(t, obj, "first", `{"text":"accept"}`, "")
		wantCode(t, s.say(t, obj, "second", `{"text":"reject"}`, ""), "-32004")
	})
	t.Run("beside an open gate", func(t *testing.T) {
		s := newService(t)
		s.send(t, "m", "two")
		s.say(t, task, "first", `{"text":"accept"}`, "")
		wantCode(t, s.say(t, task, "second", `{"text":"reject"}`, ""), "-32004")
		if n := s.say(t, other, "third", `{"text":"accept"}`, ""); n.has("error") {
			t.Error(n)
		}
	})
}

// The verdict is recorded first, then the plan task moves, then the root task.
// The answered gate does not end the wait while it still shows; the next gate
// does.
func TestReply_waitsPastItsOwnGate(t *testing.T) {
	id, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	for name, tc := range map[string]struct {
		configuration string
		state         string
	}{
		"waiting": {`{}`, "TASK_STATE_INPUT_REQUIRED"},
		"at once": {`{"returnImmediately":true}`, "TASK_STATE_WORKING"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.BlockingWait, c.ReplyWait = time.Minute, time.Minute })
			s.must(t, "SendMessage", `{"message":`+messageJSON("m", "slow", "")+`,"configuration":{"returnImmediately":true}}`)
			s.world.Gate(task, *approval())
			s.world.Sleep()
			done := make(chan node)
			go func() {
				done <- s.call(t, "SendMessage", `{"message":{"messageId":"r","taskId":"`+id+`","role":"ROLE_USER","parts":[{"text":"accept"}]},"configuration":`+tc.configuration+`}`)
			}()
			s.until(t, func() bool { return len(s.world.Letters()) == 1 })
			s.world.SleepOn(id) // the plan takes the reply, and the objective does not get the report
			calls := s.journal.calls.Load()
			s.world.WakeOnly()
			s.until(t, func() bool { return s.journal.calls.Load() > calls }) // the call has read the journal
			select {
			case n := <-done:
				t.Fatalf("answered too early: %v", n)
			default:
			}
			s.world.Wake()
			if name == "waiting" {
				s.world.Gate(task, *approval())
			}
			got := (<-done).at("result", "task")
			if got.at("status", "state").String() != tc.state {
				t.Errorf("state is %v", got.at("status"))
			}
			if name == "waiting" && got.at("metadata", "openwop", "interrupt", "interruptId").String() != opt.GateID(task, 2) {
				t.Errorf("the task shows %v, want its second gate", got.at("metadata"))
			}
		})
	}
}

// A reply that finds no workflow may be repeated while the journal shows its gate: the workflow may have ended by
// the same reply, whose verdict is not recorded yet.
func TestReply_notRecorded(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "approve")
	s.world.Terminate("obj-" + u("m"))
	n := s.say(t, "obj-"+u("m"), "r", `{"data":{"action":"accept"}}`, "")
	wantCode(t, n, "-32603")
	test.Contains(t, "a reply whose verdict may come", "UNAVAILABLE", fmt.Sprint(n))
}

// A reply is refused to a workflow that ends while the call waits for the verdict.
func TestReply_unheard(t *testing.T) {
	s := newService(t, func(c *config) { c.ReplyWait = time.Minute })
	s.send(t, "m", "approve")
	s.world.Before(func(ctx context.Context, _ string) error {
		s.world.Before(nil)
		return s.world.Cancel(ctx, "obj-"+u("m"), "ann", "")
	})
	wantCode(t, s.say(t, "obj-"+u("m"), "r", `{"data":{"action":"accept"}}`, ""), "-32004")
}

// In a later attempt the metadata of a reply names the same plan task, which is
// then another A2A task.
func TestReply_inALaterAttempt(t *testing.T) {
	s := newService(t)
	s.have(t)
	for _, status := range []string{"canceled", "submitted", "working"} {
		s.update(t, objectiveID, status)
	}
	root, waits := objectiveID+"~2", taskID+"~2"
	s.world.Gate(waits, *approval())
	s.world.Sleep()
	for i, taskIDs := range []string{``, `,"taskId":"` + root + `"`} {
		n := s.call(t, "SendMessage", `{"message":`+messageJSON(fmt.Sprint("m", i), "accept", taskIDs+`,"metadata":{"opt/v1/taskId":"`+taskID+`"}`)+`}`)
		if n.has("error") {
			t.Fatal(n)
		}
		l := s.world.Letters()[i]
		if l.PlanID != planID || l.Reply == nil || l.Reply.GateID != waits+":1" || l.TaskID != waits && l.ForTask != waits {
			t.Errorf("the letter is %+v", l)
		}
	}
	n := s.call(t, "SendMessage", `{"message":`+messageJSON("m", "accept", `,"taskId":"`+root+`","metadata":{"opt/v1/taskId":"`+opt.TaskID(planID, 1)+`"}`)+`}`)
	if letters := s.world.Letters(); len(letters) != 3 || letters[2].Reply != nil {
		t.Errorf("a note for a task that does not wait: %v", n)
	}
}

// A note to a task whose plan has not begun may be repeated: its workflow begins later than the task
// can be seen.
func TestSendMessage_noteBeforeThePlan(t *testing.T) {
	s := newService(t)
	s.have(t)
	s.world.Down(opt.ErrEnded)
	n := s.say(t, taskID, "early", `{"text":"please hurry"}`, "")
	wantCode(t, n, "-32603")
	test.Contains(t, "a note to a task that has not begun", "UNAVAILABLE", fmt.Sprint(n))
}
