package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/planner"
	"longhaul/activities/refuse"
	"longhaul/internal/schema"
	"longhaul/opt"
)

// Skill is the id of the skill that a planner adds to the agent card.
const Skill = "general"

// A Planner plans messages that no playbook takes. The model may choose a skill of a
// playbook, or make plans of tasks for models, people and the executors that the file
// allows. It may be used from any goroutine.
type Planner struct {
	Models *Models
	Books  func() Books // the current playbooks; nil for none
	Log    *zap.Logger  // nil discards
}

// Books are the playbooks that a planner may choose from.
type Books interface {
	Skills() []planner.Skill
	Plan(ctx context.Context, r activities.Request) (activities.Planned, error)
}

var _ activities.Planner = Planner{}

// maxTries is how often the model is asked for plans that are valid.
const maxTries = 3

// maxMessage is how many bytes of a client's text a planner sees.
const maxMessage = 32 << 10

// Plan implements [activities.Planner]. The text of the request is untrusted: the plans
// use only models, tools and executors that the file allows.
func (p Planner) Plan(ctx context.Context, r activities.Request) (activities.Planned, error) {
	if r.Keep {
		return activities.Planned{Reason: "The existing plans stay."}, nil
	}
	p.Log = cmp.Or(p.Log, zap.NewNop())
	form := p.Models.Planner
	d := draft{form: form, skills: p.skills(), priced: p.Models.Models[form.TaskModel].Price != Price{}}
	q := request{system: d.system(), schema: d.schema(), messages: []message{{By: byUser, Text: question(r)}}}
	checked, err := schema.Parse(q.schema)
	if err != nil {
		return activities.Planned{}, fmt.Errorf("schema of plans: %w", err)
	}
	var used opt.Usage
	for try := 1; ; try++ {
		got, err := p.ask(ctx, &q)
		if err != nil {
			return activities.Planned{Usage: &used}, err
		}
		used = used.Plus(got.usage)
		made, err := p.parsePlans(ctx, r, d, checked, got.text)
		if err == nil || try == maxTries {
			p.Log.Info("A model has planned", zap.String("objectiveId", r.ObjectiveID), zap.Int64("inputTokens", used.Input), zap.Int64("outputTokens", used.Output), zap.Stringer("cost", used.Cost))
			used.Model = got.usage.Model
			made.Usage = &used
			return made, err
		}
		q.messages = append(q.messages, message{By: byModel, Text: got.text}, message{By: byUser, Text: fmt.Sprintf(
			"This cannot be used: %v. Answer again, with nothing but the JSON value.", err)})
	}
}

// Bounds of the waits for a busy server while a worker plans.
const (
	maxPlanWait  = time.Minute
	maxPlanWaits = 5
)

// ask asks the model that plans. It waits while the server is busy, and repeats a request
// without the schema if the server refuses that.
func (p Planner) ask(ctx context.Context, q *request) (reply, error) {
	model := p.Models.Models[p.Models.Planner.Model]
	for waits := 0; ; waits++ {
		got, err := p.Models.ask(ctx, model, *q, func(string) error { return nil }, p.Log)
		var busy *waitError
		switch {
		case errors.Is(err, errFormat):
			q.unforced = true
			continue
		case !errors.As(err, &busy) || waits == maxPlanWaits:
			return got, err
		}
		if err := activities.Sleep(ctx, min(cmp.Or(busy.wait, time.Second<<waits), maxPlanWait)); err != nil {
			return got, err
		}
	}
}

// skills returns the skills of the playbooks.
func (p Planner) skills() []planner.Skill {
	if p.Books == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Books().Skills()), func(s planner.Skill) bool { return s.ID == Skill })
}

// question returns the request as data.
func question(r activities.Request) string {
	text := ""
	if r.Message != nil {
		text = r.Message.Text()
	}
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	data, _ := json.Marshal(map[string]string{"name": r.Name, "description": r.Description, "message": text}) // cannot fail
	return "The request, as data:\n" + string(data)
}

// parsePlans returns the plans in the answer of the model. An error describes a mistake in
// the answer for the model; it is final if Plan returns it.
func (p Planner) parsePlans(ctx context.Context, r activities.Request, d draft, checked *schema.Schema, text string) (activities.Planned, error) {
	value := jsonIn(text)
	a, err := readProposal(checked, value)
	if err != nil {
		return activities.Planned{}, fmt.Errorf("%w: the answer of the model does not fit: %w", activities.ErrNoPlan, err)
	}
	out := activities.Planned{Planner: "llm " + d.form.Model, Reason: shortened(a.Reason)}
	switch {
	case a.Skill != "" && len(a.Plans) == 0:
		out.Plans, err = p.skillPlans(ctx, r, a.Skill)
	case a.Refuse != "" && len(a.Plans) == 0:
		out.Plans = []opt.PlanSpec{{Name: "Refuse", Tasks: []opt.TaskSpec{{Name: "Say why", Description: shortened(a.Refuse), Executor: refuse.Kind}}}}
		return out, nil
	default:
		out.Plans, err = d.plans(a)
	}
	if err == nil && d.form.ApprovePlan {
		out.Plans, err = approvalFirst(out.Plans, value)
	}
	if err == nil {
		_, err = (&opt.Objective{ID: r.ObjectiveID}).NewPlans(out.Plans, a2a.Time{})
	}
	if err != nil {
		return activities.Planned{}, fmt.Errorf("%w: %w", activities.ErrNoPlan, err)
	}
	return out, nil
}

func readProposal(checked *schema.Schema, value []byte) (a proposal, err error) {
	if err = checked.Check(value); err == nil {
		err = json.Unmarshal(value, &a)
	}
	return a, err
}

// skillPlans returns the plans of a skill of a playbook.
func (p Planner) skillPlans(ctx context.Context, r activities.Request, skill string) ([]opt.PlanSpec, error) {
	var m a2a.Message
	if r.Message != nil {
		m = *r.Message
	}
	m.Metadata = m.Metadata.With(opt.KeySkill, skill)
	r.Message = &m
	made, err := p.Books().Plan(ctx, r)
	return made.Plans, err
}
