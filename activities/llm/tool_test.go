package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/activities/llm"
	"longhaul/activities/llm/llmtest"
	"longhaul/internal/test"
	"longhaul/opt"
)

// lastResult returns the latest tool result that the model got.
func lastResult(w world) string {
	r := w.server.Requests()
	messages := r[len(r)-1].Messages
	return messages[len(messages)-1].Text
}

// The model gets the result of a call, or the reason why there is none.
func TestExecutor_calls(t *testing.T) {
	for _, tt := range []struct{ tool, args, result, calls string }{
		{"desk/note", `{"text":"x"}`, "noted x", "note x"},
		{"desk/look", `{"text":"x"}`, "seen x", "look x"},
		{"desk/fail", `{"text":"x"}`, "the tool has failed", "fail x"},
		{"closed/note", `{"text":"x"}`, "This tool may not be called here.", ""},
		{"desk/note", `["x"]`, "The arguments are not a JSON object. The call was not made.", ""},
		{"desk/note", `{"text":7}`, "The arguments are invalid: at /text: it must be a text. The call was not made.", ""},
		{"desk/note", ``, "The arguments are invalid: it needs text. The call was not made.", ""},
	} {
		for _, model := range []string{"main", "claude"} {
			t.Run(tt.tool+tt.args+model, func(t *testing.T) {
				name := strings.Replace(tt.tool, "/", "__", 1)
				w := newWorld(t, llmtest.Turns(use(name, tt.args), say("Done.")))
				p := play(t, w.player(), work(fmt.Sprintf(`{"model":%q,"prompt":"x","tools":[%q]}`, model, tt.tool)))
				if p.Outcome.State != opt.TaskCompleted || answerOf(p) != "Done." || lastResult(w) != tt.result {
					t.Errorf("outcome %+v; the model got %q", p.Outcome, lastResult(w))
				}
				test.Is(t, "calls", tt.calls, strings.Join(w.tools.Calls(), ", "))
				if first := w.server.Requests()[0]; !cmp.Equal(first.Tools, []string{name}) {
					t.Errorf("the model has the tools %q", first.Tools)
				}
			})
		}
	}
}

// Arguments that are no JSON are the model's mistake.
func TestExecutor_brokenArguments(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("desk__note", `{"text":`), say("Done.")))
	p := play(t, w.player(), work(`{"model":"main","prompt":"x","tools":["desk/note"]}`))
	if want := "The arguments are not a JSON object. The call was not made."; lastResult(w) != want || p.Outcome.State != opt.TaskCompleted {
		t.Errorf("outcome %+v; the model got %q", p.Outcome, lastResult(w))
	}
}

// Calls of one turn are made one after the other, each in a leg of its own, and have a
// key that a server can recognise a repeat by.
func TestExecutor_severalCalls(t *testing.T) {
	w := newWorld(t, llmtest.Turns(llmtest.Turn{Calls: []llmtest.Call{
		{Name: "desk__note", Args: `{"text":"a"}`}, {Name: "nothing", Args: `{}`}, {Name: "desk__look", Args: `{"text":"b"}`}, {Name: "desk__note", Args: `{"text":"c"}`},
	}}, say("Done.")))
	p := play(t, w.player(), work(`{"model":"claude","prompt":"x","tools":["desk/*"]}`))
	test.Equal(t, "calls", []string{"note a", "look b", "note c"}, w.tools.Calls())
	test.Equal(t, "keys", []string{"task-1:0", "task-1:2", "task-1:3"}, w.tools.Keys())
	if want := "noted a\nThere is no tool with this name.\nseen b\nnoted c"; lastResult(w) != want || p.Legs != 7 {
		t.Errorf("%d legs; the model got %q", p.Legs, lastResult(w))
	}
}

// A result is cut where the server's limit is.
func TestExecutor_largeResult(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("desk__large", `{"text":"x"}`), say("Done.")))
	play(t, w.player(), work(`{"model":"main","prompt":"x","tools":["desk/large"]}`))
	if got := lastResult(w); len(got) > 33<<10 || !strings.HasSuffix(got, "[The rest of 100000 bytes was cut.]") {
		t.Errorf("%d bytes: …%s", len(got), got[len(got)-50:])
	}
}

// A tool over standard input and output gets only the variables that the file names.
func TestExecutor_program(t *testing.T) {
	program := test.Value(os.Executable())(t)
	calls := filepath.Join(t.TempDir(), "calls")
	s := llmtest.New(t, llmtest.Turns(use("local__note", `{"text":"x"}`), say("Done.")))
	text := fmt.Sprintf("models: {main: {provider: openai, url: %q, model: m}}\nservers: {local: {run: [%q], env: [%s], tools: {note: allow}}}\n", s.URL+"/v1", program, toolFile)
	m := test.Value(llm.Load(test.File(t, "models.yaml", text), func(name string) (string, bool) { return calls, name == toolFile }))(t)
	p := play(t, executortest.Player{Executor: llm.Executor{Models: m}}, work(`{"prompt":"x","tools":["local/note"]}`))
	made, err := os.ReadFile(calls)
	if err != nil || string(made) != "note x\n" || p.Outcome.State != opt.TaskCompleted {
		t.Errorf("calls %q, error %v, outcome %+v", made, err, p.Outcome)
	}
}

// A server that cannot be reached when the task begins fails the attempt; one that
// cannot be reached later has the task wait, and then the model gets an error.
func TestExecutor_serverGone(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("desk__note", `{"text":"x"}`), say("Done.")))
	_, err := w.Execute(t.Context(), work(`{"model":"main","prompt":"x","tools":["gone/note"]}`), &executortest.Stream{})
	var coded *activities.Error
	if !errors.As(err, &coded) || coded.Code != llm.CodeTools {
		t.Errorf("error %v", err)
	}
	task := work(`{"model":"main","prompt":"x","tools":["desk/note"]}`)
	first := test.Value(w.Execute(t.Context(), task, &executortest.Stream{}))(t)
	task.Leg, task.Memo = 1, json.RawMessage(strings.ReplaceAll(string(first.Memo), `"server":"desk"`, `"server":"gone"`))
	var waits []string
	p := w.player()
	p.Parked = func(_ activities.Work, o activities.Outcome) *activities.Outcome {
		if o.Park.Wait > 0 {
			waits = append(waits, fmt.Sprint(o.Park.Wait, o.Park.Text))
		}
		return nil
	}
	played := play(t, p, task)
	if len(waits) != 4 || waits[0] != `2000The server "gone" of tools cannot be reached.` || lastResult(w) != "The server of the tool cannot be reached. The call was not made." ||
		played.Outcome.State != opt.TaskCompleted || len(w.tools.Calls()) != 0 {
		t.Errorf("waits %q; the model got %q; %+v", waits, lastResult(w), played.Outcome)
	}
}

// asking is a task with a tool that a person must allow.
const asking = `{"model":"main","prompt":"x","tools":["guarded/note"]}`

func TestExecutor_ask(t *testing.T) {
	for _, tt := range []struct {
		name          string
		reply         opt.Reply
		result, calls string
	}{
		{"accept", opt.Reply{Action: opt.Accept}, "noted x", "note x"},
		{"reject", opt.Reply{Action: opt.Reject, Feedback: "Not on Sundays."}, "A person has rejected the call. It was not made. Not on Sundays.", ""},
		{"expiry", opt.Reply{Action: opt.Reject, DecidedBy: opt.ByTimer}, "No person has decided about the call in time. It was not made.", ""},
		{"edit", opt.Reply{Action: opt.EditAccept, Edited: edit("note", `{"text":"y"}`)}, "A person has changed the arguments to {\"text\":\"y\"}\nnoted y", "note y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, llmtest.Turns(use("guarded__note", `{"text":"x"}`), say("Done.")))
			p := play(t, w.player(), work(asking))
			g := p.Outcome.Gate
			if g == nil || g.Kind != opt.Approval || !g.Responders.NotRequester || g.Title != "Call the tool guarded/note?" || string(g.Object[0].Data) != `{"server":"guarded","tool":"note","arguments":{"text":"x"}}` {
				t.Fatalf("outcome %+v, gate %+v", p.Outcome, g)
			}
			if len(w.tools.Calls()) != 0 {
				t.Error("the tool was called before the decision")
			}
			tt.reply.ObjectDigest = g.Digest()
			p = play(t, w.player(), next(p, tt.reply))
			if p.Outcome.State != opt.TaskCompleted || lastResult(w) != tt.result || strings.Join(w.tools.Calls(), ", ") != tt.calls {
				t.Errorf("outcome %+v; calls %q; the model got %q", p.Outcome, w.tools.Calls(), lastResult(w))
			}
		})
	}
}

func edit(tool, args string) []a2a.Part {
	return []a2a.Part{{Data: fmt.Appendf(nil, `{"server":"guarded","tool":%q,"arguments":%s}`, tool, args)}}
}

// A decision counts only for the call that was shown, and an edit only for arguments.
func TestExecutor_decisionForAnotherCall(t *testing.T) {
	accepted := opt.Reply{Action: opt.Accept}
	for _, tt := range []struct {
		name   string
		reply  opt.Reply
		change [2]string // of the memo
	}{
		{"other digest", opt.Reply{Action: opt.Accept, ObjectDigest: "sha256:00"}, [2]string{}},
		{"other arguments", accepted, [2]string{`{\"text\":\"x\"}`, `{\"text\":\"z\"}`}},
		{"other tool", opt.Reply{Action: opt.EditAccept, Edited: edit("fail", `{"text":"x"}`)}, [2]string{}},
		{"no object", opt.Reply{Action: opt.EditAccept, Edited: edit("note", `[]`)}, [2]string{}},
		{"nothing", opt.Reply{Action: opt.EditAccept}, [2]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, llmtest.Turns(use("guarded__note", `{"text":"x"}`), say("Done.")))
			p := play(t, w.player(), work(asking))
			task := next(p, tt.reply)
			if tt.change[0] != "" {
				task.Memo = json.RawMessage(strings.ReplaceAll(string(task.Memo), tt.change[0], tt.change[1]))
			}
			p = play(t, w.player(), task)
			if p.Outcome.Gate == nil || len(w.tools.Calls()) > 0 {
				t.Errorf("calls %q, outcome %+v", w.tools.Calls(), p.Outcome)
			}
			p = play(t, w.player(), next(p, accepted))
			if len(w.tools.Calls()) != 1 || p.Outcome.State != opt.TaskCompleted {
				t.Errorf("after the second decision: calls %q, outcome %+v", w.tools.Calls(), p.Outcome)
			}
		})
	}
}

// A worker is lost in each leg, before its result is recorded: a call that may not be
// repeated is a person's decision, others are repeated. None that is recorded is made
// again.
func TestExecutor_crash(t *testing.T) {
	for _, tt := range []struct {
		tool, answer string
		calls        string // "" for a gate
		state        opt.TaskState
		result       string
	}{
		{"desk/look", "", "look x, look x", opt.TaskCompleted, "seen x"},
		{"again/note", "", "note x, note x", opt.TaskCompleted, "noted x"},
		{"desk/note", "run again", "note x, note x", opt.TaskCompleted, "noted x"},
		{"desk/note", "skip", "note x", opt.TaskCompleted, "It is not known whether the call was made, and it is not repeated. Continue without its result."},
		{"desk/note", "stop", "note x", opt.TaskFailed, "x"},
	} {
		t.Run(tt.tool+" "+tt.answer, func(t *testing.T) {
			w := newWorld(t, func(n int, r llmtest.Request) llmtest.Turn {
				if len(r.Messages) > 1 {
					return say("Done.")
				}
				return use(strings.Replace(tt.tool, "/", "__", 1), `{"text":"x"}`)
			})
			p := w.player()
			p.Twice = true
			played := play(t, p, work(fmt.Sprintf(`{"model":"main","prompt":"x","tools":[%q]}`, tt.tool)))
			if tt.answer != "" {
				g := played.Outcome.Gate
				if g == nil || g.Kind != opt.Clarification || g.Responders != nil || len(w.tools.Calls()) != 1 {
					t.Fatalf("calls %q, outcome %+v", w.tools.Calls(), played.Outcome)
				}
				answer, _ := json.Marshal(tt.answer)
				p.Twice = false
				played = play(t, p, next(played, opt.Reply{Answers: []opt.Answer{{ID: g.Questions[0].ID, Answer: answer}}}))
			}
			if got := strings.Join(w.tools.Calls(), ", "); got != tt.calls || played.Outcome.State != tt.state || lastResult(w) != tt.result {
				t.Errorf("calls %q, the model got %q, outcome %+v", got, lastResult(w), played.Outcome)
			}
		})
	}
}

// Who may decide about a call may decide whether it is made again, and no one else.
func TestExecutor_crashAfterApproval(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("guarded__note", `{"text":"x"}`), say("Done.")))
	p := play(t, w.player(), work(asking))
	twice := w.player()
	twice.Twice = true
	g := play(t, twice, next(p, opt.Reply{Action: opt.Accept, ObjectDigest: p.Outcome.Gate.Digest()})).Outcome.Gate
	if g == nil || g.Kind != opt.Clarification || g.Responders == nil || !g.Responders.NotRequester {
		t.Errorf("the gate is %+v", g)
	}
}

// An attempt that failed during a call leaves it unknown, too.
func TestExecutor_attemptAfterCall(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("desk__note", `{"text":"x"}`), say("Done.")))
	task := work(`{"model":"main","prompt":"x","tools":["desk/note"]}`)
	for leg := range 2 { // the model, the intent
		task.Leg = leg
		o, err := w.Execute(t.Context(), task, &executortest.Stream{})
		if err != nil || o.Park == nil {
			t.Fatalf("leg %d: %+v, %v", leg, o, err)
		}
		task.Memo = o.Memo
	}
	task.Attempt, task.Leg = 2, 0
	o, err := w.Execute(t.Context(), task, &executortest.Stream{})
	if err != nil || o.Gate == nil || len(w.tools.Calls()) != 0 {
		t.Errorf("calls %q, outcome %+v, error %v", w.tools.Calls(), o, err)
	}
}

// A call whose result does not come is unknown.
func TestExecutor_callTimeout(t *testing.T) {
	w := newWorld(t, llmtest.Turns(use("quick__hang", `{"text":"x"}`), say("Done.")))
	p := play(t, w.player(), work(`{"model":"main","prompt":"x","tools":["quick/hang"]}`))
	if p.Outcome.Gate == nil || p.Outcome.Gate.Kind != opt.Clarification || len(w.tools.Calls()) != 1 {
		t.Errorf("calls %q, outcome %+v", w.tools.Calls(), p.Outcome)
	}
}

// A spent budget is a person's decision.
func TestExecutor_budget(t *testing.T) {
	const operator = "budget: {task: {tokens: 15}, objective: {tokens: 1000}}"
	for _, tt := range []struct {
		name, input string
		here, all   opt.Usage
		object      string // of the gate, "" for none
		reply       opt.Reply
		code        string // of the failure, "" for completed
		again       bool   // another gate opens
	}{
		{"room", `{"model":"main","prompt":"x"}`, opt.Usage{Input: 10, Output: 4}, opt.Usage{}, "", opt.Reply{}, "", false},
		{"tokens", `{"model":"main","prompt":"x"}`, opt.Usage{Input: 10, Output: 5}, opt.Usage{}, `{"task":{"tokens":30}}`, opt.Reply{Action: opt.Accept}, "", false},
		{"stop", `{"model":"main","prompt":"x"}`, opt.Usage{Input: 10, Output: 5}, opt.Usage{}, `{"task":{"tokens":30}}`, opt.Reply{Action: opt.Reject}, llm.CodeBudget, false},
		{"edit", `{"model":"main","prompt":"x"}`, opt.Usage{Input: 10, Output: 5}, opt.Usage{}, `{"task":{"tokens":30}}`,
			opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{{Data: json.RawMessage(`{"task":{"tokens":16}}`)}}}, "", false},
		{"edit too low", `{"model":"main","prompt":"x"}`, opt.Usage{Input: 10, Output: 5}, opt.Usage{}, `{"task":{"tokens":30}}`,
			opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{{Data: json.RawMessage(`{"task":{"tokens":5}}`)}}}, "", true},
		{"own budget", `{"model":"main","prompt":"x","budget":{"tokens":100}}`, opt.Usage{Input: 10, Output: 5}, opt.Usage{}, "", opt.Reply{}, "", false},
		{"objective", `{"model":"main","prompt":"x"}`, opt.Usage{}, opt.Usage{Input: 2000}, `{"objective":{"tokens":3000}}`, opt.Reply{Action: opt.Accept}, "", false},
		{"cost", `{"model":"claude","prompt":"x","budget":{"cost":0.5}}`, opt.Usage{Cost: 500_000}, opt.Usage{}, `{"task":{"cost":1}}`, opt.Reply{Action: opt.Accept}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, llmtest.Turns(say("Done.")), operator)
			task := work(tt.input)
			task.SpentHere, task.Spent = tt.here, tt.all
			p := play(t, w.player(), task)
			if tt.object != "" {
				if p.Outcome.Gate == nil || string(p.Outcome.Gate.Object[0].Data) != tt.object || len(w.server.Requests()) > 0 {
					t.Fatalf("outcome %+v, gate %+v", p.Outcome, p.Outcome.Gate)
				}
				p = play(t, w.player(), next(p, tt.reply))
			}
			if p.Outcome.Code != tt.code || (p.Outcome.Gate != nil) != tt.again || tt.code == "" && !tt.again && p.Outcome.State != opt.TaskCompleted {
				t.Errorf("outcome %+v", p.Outcome)
			}
		})
	}
}

// The budget of a request is raised by the one who set it alone, and raises no other; with fail, the
// task fails. What the operator limits is asked about first.
func TestExecutor_budgetOfRequest(t *testing.T) {
	for _, tt := range []struct {
		name, budget string
		all          opt.Usage
		object       string // of the gate, "" for none
		principals   []string
		edit         string
		want         string // after the edit: the code of the failure, the object of another gate, or completed
	}{
		{"room", `{"tokens":20}`, opt.Usage{Input: 19}, "", nil, "", "completed"},
		{"spent", `{"tokens":20}`, opt.Usage{Input: 15, Output: 5}, `{"request":{"tokens":40}}`, []string{"ann"}, `{"request":{"tokens":21}}`, "completed"},
		{"edits another", `{"tokens":20}`, opt.Usage{Input: 20}, `{"request":{"tokens":40}}`, []string{"ann"}, `{"objective":{"tokens":9000}}`, `{"request":{"tokens":40}}`},
		{"fails", `{"tokens":20,"onExceeded":"fail"}`, opt.Usage{Input: 20}, "", nil, "", "budgetfailed"},
		{"the operator's, too", `{"tokens":20}`, opt.Usage{Input: 1000}, `{"objective":{"tokens":2000}}`, nil, `{"objective":{"tokens":2000},"request":{"tokens":9000}}`, `{"request":{"tokens":1020}}`},
		{"cost without a price", `{"cost":1}`, opt.Usage{}, "", nil, "", "bad-inputrejected"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, llmtest.Turns(say("Done.")), "budget: {objective: {tokens: 1000}}")
			task := work(`{"model":"main","prompt":"x"}`)
			task.Spent = tt.all
			task.Messages[0].Metadata = a2a.Metadata{a2a.ExtensionBudget: json.RawMessage(tt.budget)}.With(opt.KeyAuthor, "ann")
			p := play(t, w.player(), task)
			if g := p.Outcome.Gate; tt.object != "" {
				var who []string
				if g != nil && g.Responders != nil {
					who = g.Responders.Principals
				}
				if g == nil || string(g.Object[0].Data) != tt.object || !slices.Equal(who, tt.principals) {
					t.Fatalf("outcome %+v, gate %+v", p.Outcome, g)
				}
				p = play(t, w.player(), next(p, opt.Reply{Action: opt.EditAccept, Edited: []a2a.Part{{Data: json.RawMessage(tt.edit)}}}))
			}
			got := p.Outcome.Code + string(p.Outcome.State)
			if p.Outcome.Gate != nil {
				got = string(p.Outcome.Gate.Object[0].Data)
			}
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// An acceptance counts for the budget that was shown, not for another one.
func TestExecutor_budgetOfAnotherGate(t *testing.T) {
	w := newWorld(t, llmtest.Turns(say("Done.")), "budget: {task: {tokens: 15}, objective: {tokens: 1000}}")
	task := work(`{"model":"main","prompt":"x"}`)
	task.SpentHere = opt.Usage{Input: 15}
	p := play(t, w.player(), task)
	task = next(p, opt.Reply{Action: opt.Accept})
	task.Spent = opt.Usage{Input: 1000}
	p = play(t, w.player(), task)
	if g := p.Outcome.Gate; g == nil || string(g.Object[0].Data) != `{"task":{"tokens":30},"objective":{"tokens":2000}}` || !strings.Contains(g.Description, "changed") {
		t.Fatalf("outcome %+v, gate %+v", p.Outcome, g)
	}
	if p = play(t, w.player(), next(p, opt.Reply{Action: opt.Accept})); p.Outcome.State != opt.TaskCompleted {
		t.Errorf("after the second decision: %+v", p.Outcome)
	}
}

// The outcome of a turn has its cost, with less for input from a cache, and the budgets.
func TestExecutor_cost(t *testing.T) {
	turn := llmtest.Turn{Text: []string{"x"}, Input: 1_000_000, Output: 200_000, Cached: 500_000}
	w := newWorld(t, llmtest.Turns(turn, turn), "budget: {objective: {tokens: 5000000}}")
	p := play(t, w.player(), work(`{"model":"main","prompt":"x"}`))
	test.Equal(t, "usage without a price", &opt.Usage{Input: 1_000_000, Cached: 500_000, Output: 200_000, Model: "main"}, p.Outcome.Usage)
	p = play(t, w.player(), work(`{"model":"claude","prompt":"x","budget":{"cost":7}}`))
	test.Equal(t, "budgets", &opt.Budgets{Task: opt.SpendLimit{Cost: 7_000_000}, Objective: opt.SpendLimit{Tokens: 5_000_000}}, p.Outcome.Budgets)
	test.Equal(t, "usage", &opt.Usage{Input: 1_000_000, Cached: 500_000, Output: 200_000, Cost: 2_550_000, Model: "claude"}, p.Outcome.Usage)
}

// A conversation that grows without end fails the task.
func TestExecutor_longConversation(t *testing.T) {
	w := newWorld(t, llmtest.Turns(llmtest.Turn{Text: []string{strings.Repeat("x", 200<<10)}, Calls: []llmtest.Call{{Name: "desk__look", Args: `{"text":"x"}`}}}))
	p := play(t, w.player(), work(`{"model":"main","prompt":"x","tools":["desk/look"]}`))
	if p.Outcome.Code != llm.CodeTooLong {
		t.Errorf("outcome %+v", p.Outcome)
	}
}
