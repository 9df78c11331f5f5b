// Package llm does tasks with language models. Use it for work that needs judgment
// about text: a task gives a model a prompt, tools from MCP servers if it needs them,
// and a JSON Schema if its answer must have a form.
//
// Every turn of the model and every call of a tool is a leg of the task: its result is
// in the memo, a conversation that belongs to no provider, before the next one begins.
// After a crash only the leg that was running is done again. If that was a call of a
// tool that must not be repeated, a person decides.
//
// [Load] reads which models and servers there are. The texts of clients, results of
// tools and answers of models are untrusted: nothing in them can add a tool, a policy
// or a budget.
package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/internal/schema"
	"longhaul/opt"
)

// Kind is the kind of tasks that the executor runs.
const Kind = "llm"

// Codes of failures and rejections.
const (
	CodeInput     = "bad-input"           // the input of the task is invalid
	CodeMemo      = "bad-memo"            // the memo of the task cannot be read
	CodeSchema    = "schema"              // the answer does not fit the schema
	CodeTooLong   = "too-long"            // an answer, or the conversation
	CodeTurns     = "too-many-turns"      // the model has not come to an end
	CodeRefused   = "model-refused"       // the model refuses to answer
	CodeBudget    = opt.CodeBudget        // a person has decided to spend no more
	CodeTools     = "tools-unreachable"   // a server does not list its tools
	CodeUncertain = "tool-result-unknown" // a person has stopped the task after a call with an unknown result
)

// defaultTurns is how many turns a task may have that does not say.
const defaultTurns = 20

// An Executor runs tasks with models. It may be used from any goroutine.
type Executor struct {
	Models *Models
	Log    *zap.Logger // nil discards
}

// An Input is the input of a task.
type Input struct {
	Model    string          `json:"model,omitempty"`    // may be left out if there is only one
	System   string          `json:"system,omitempty"`   // instructions
	Prompt   string          `json:"prompt,omitempty"`   // "" for the description of the task, or else the latest message
	Schema   json.RawMessage `json:"schema,omitempty"`   // of the answer; nil for text
	Tools    []string        `json:"tools,omitempty"`    // as server/tool, or server/* for all of one
	Budget   Budget          `json:"budget,omitzero"`    // of the task, in the place of the operator's
	MaxTurns int             `json:"maxTurns,omitempty"` // of the model; 0 means 20
}

// A task is one leg.
type task struct {
	Executor
	work   activities.Work
	out    activities.Stream
	in     Input
	model  *Model
	schema *schema.Schema // nil for a text
	memo   *memo
}

// Named implements [activities.Namer].
func (e Executor) Named() []activities.Named {
	return []activities.Named{{Member: "model", Names: slices.Sorted(maps.Keys(e.Models.Models)), Optional: len(e.Models.Models) == 1}}
}

// Execute implements [activities.Executor].
func (e Executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	e.Log = cmp.Or(e.Log, zap.NewNop())
	t := &task{Executor: e, work: w, out: out, memo: &memo{}}
	if problem := t.read(); problem != "" {
		return activities.Rejected(CodeInput, problem), nil
	}
	if err := activities.ReadMemo(w, t.memo); err != nil {
		return activities.Failed(CodeMemo, "The memo of the task cannot be read."), nil
	}
	o, err := t.leg(ctx)
	if err != nil && ctx.Err() != nil {
		return activities.Outcome{}, ctx.Err()
	}
	if coded, ok := errors.AsType[*activities.Error](err); ok {
		activities.Log(ctx, e.Log).Warn("A leg failed", zap.String("model", t.in.Model), zap.String("code", coded.Code))
	}
	return o, err
}

// read reads the input of the task. problem describes a mistake in it, for clients.
func (t *task) read() (problem string) {
	if err := activities.ReadInput(t.work, &t.in); err != nil {
		return "The input of the task must be an object with a prompt, and may have model, system, schema, tools, budget and maxTurns."
	}
	t.in.Model = cmp.Or(t.in.Model, t.Models.only())
	if t.model = t.Models.Models[t.in.Model]; t.model == nil {
		return fmt.Sprintf("There is no model %q on this worker: the input of the task must name one.", t.in.Model)
	}
	if err := check(t.in.Budget); err != nil || t.in.MaxTurns < 0 {
		return fmt.Sprintf("A limit in the input of the task is wrong: %v.", cmp.Or(err, errors.New("maxTurns is below 0")))
	}
	if max(t.in.Budget.Cost, t.work.Budget().Cost) > 0 && t.model.Price == (Price{}) {
		return fmt.Sprintf("The model %q has no price, so its cost cannot be limited.", t.in.Model)
	}
	t.in.MaxTurns = cmp.Or(t.in.MaxTurns, defaultTurns)
	if text := string(t.in.Schema); text == "" || text == "null" {
		t.in.Schema = nil
		return ""
	}
	var err error
	if t.schema, err = schema.Parse(t.in.Schema); err != nil {
		return fmt.Sprintf("The schema in the input of the task is invalid: %v.", err)
	}
	return ""
}

// leg does one step, and those before it that have no effect outside of the memo.
func (t *task) leg(ctx context.Context) (activities.Outcome, error) {
	if len(t.in.Tools) > 0 && t.memo.Tools == nil {
		problem, err := t.listTools(ctx)
		switch {
		case err != nil:
			return activities.Outcome{}, err
		case problem != "":
			return activities.Rejected(CodeInput, problem), nil
		}
	}
	for len(t.memo.Open) > 0 {
		o, err := t.advanceCall(ctx)
		if o != nil || err != nil {
			return *cmp.Or(o, &activities.Outcome{}), err
		}
	}
	if o := t.memo.checkBudget(t.work, t.in.budgets(t.work, t.Models.Budget)); o != nil {
		return *o, nil
	}
	return t.turn(ctx)
}
