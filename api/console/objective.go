package console

import (
	"net/url"
	"slices"
	"strconv"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// refreshEvery is after how many seconds a page about an objective may have changed
// without an event of its stream: places in a queue, and attempts.
const refreshEvery = 15

// How much of an objective its page shows.
const (
	latestEvents   = 15
	latestMessages = 20
)

// An objectivePage is the data of the page of an objective.
type objectivePage struct {
	*opt.Objective
	Look     shown.Look
	Reason   string // of the state, in plain words
	Skill    string // "" for none
	Schedule string // id of the schedule that has started it, "" for none
	Position int    // in the queue of its context, 0 outside
	Percent  *int   // done, nil before the work and after it
	Gates    []*opt.Gate
	Tree     *tree
	Sections []planSection

	Results  []shownArtifact
	More     int // results that are not shown
	Messages []shownMessage
	Moments  []moment
	Links    []link

	objectiveForms
}

// A link leads to another system.
type link struct{ Text, URL string }

// A planSection is a plan in the list of plans and tasks.
type planSection struct {
	*opt.Plan
	Look   shown.Look
	Key    string
	Reason string
	After  []string // names of the plans that it waits for
	Rows   []taskRow
	planForms
}

// A taskRow is a task in the list of tasks.
type taskRow struct {
	*opt.Task
	Key    string
	Number int
	Note   string // why it is in its state, or what it does; "" for nothing
	After  []int  // numbers of the tasks that it declares to wait for
}

// A shownMessage is a message of the conversation.
type shownMessage struct {
	ID, From string
	Task     string // address of the task that it is about, "" for the objective
	Name     string // of that task
	Parts    []object
	More     int // parts that are not shown
}

// showObjective shows an objective, or one of its tasks if the address names one.
func showObjective(v *visit) (view, error) {
	if to := pageOf(v.r.PathValue("id")); to != "" {
		return view{Location: to}, nil
	}
	if key := v.r.URL.Query().Get("task"); key != "" {
		return taskView(v, v.r.PathValue("id"), key, nil)
	}
	out, err := objectiveView(v, v.r.PathValue("id"), nil)
	p, ok := out.Data.(objectivePage)
	switch q := v.r.URL.Query(); {
	case ok && q.Has(unpausedField):
		out.Problem = unpausedText(p.Objective)
	case ok && q.Has(unstartedField):
		out.Problem = unstartedText(p.Objective)
	}
	return out, err
}

// pageOf returns the address of the page for an id of something else than an objective:
// a later attempt, a plan or a task. It returns "" for any other.
func pageOf(id string) string {
	switch ref, ok := opt.ParseID(id); {
	case !ok, ref.ObjectiveID == id:
		return ""
	case ref.TaskID != "":
		return taskPath(ref.ObjectiveID, keyOfTask(ref.TaskID))
	default:
		return objectivePath(ref.ObjectiveID)
	}
}

// objectiveView returns the page of an objective. refused is a form that was refused, whose
// contents stay; nil for none.
func objectiveView(v *visit, id string, refused *refusedForm) (view, error) {
	found, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: id, Plans: true, Tasks: true})
	if err != nil {
		return view{}, err
	}
	o := found.Objective
	root, err := v.cfg.Service.Tasks.OutlineTask(v.r.Context(), v.call, read.TaskParams{ID: o.RootID(), History: latestMessages, Scope: shown.ScopeObjective})
	if err != nil {
		return view{}, err
	}
	events, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, read.EventListParams{ObjectiveID: id, Limit: latestEvents})
	if err != nil {
		return view{}, err
	}
	look := shown.LookOf(o)
	p := objectivePage{Objective: o, Look: look, Reason: stageReason(look.Word, o.Reason), Tree: treeOf(o), Moments: momentsOf(o, events.Events)}
	p.Schedule, _ = o.Metadata.String(opt.KeySchedule)
	p.Skill, _ = o.Metadata.String(opt.KeySkill)
	_ = root.Metadata.Decode(opt.KeyQueuePosition, &p.Position) // stays 0
	_ = root.Metadata.Decode(opt.KeyProgress, &p.Percent)       // stays nil
	p.Links = linksOf(root.Metadata)
	space := newBudget()
	p.Results, p.More = artifactsOf(v, root.Task, space)
	p.Messages = messagesOf(v, o, root.History, space)
	forms := formsOf(v, o, refused)
	p.objectiveForms = forms.ofObjective()
	for _, plan := range o.Plans {
		p.Sections = append(p.Sections, sectionOf(o, plan, forms))
		for _, t := range plan.Waiting() {
			p.Gates = append(p.Gates, t.Gate)
		}
	}
	return addResult(v, view{Template: "objective", Title: a2a.Visible(o.Name), Data: p, Refresh: refreshEvery, Events: eventsOf(o)}, refused), nil
}

// eventsOf returns the id of the task whose events report the changes of o, "" if o has
// ended.
func eventsOf(o *opt.Objective) string {
	if o.Settled() {
		return ""
	}
	return o.RootID()
}

func sectionOf(o *opt.Objective, p *opt.Plan, forms forms) planSection {
	look := shown.LookOfPlan(p)
	s := planSection{Plan: p, Look: look, Key: planKey(p), Reason: stageReason(look.Word, p.Reason), planForms: forms.ofPlan(p)}
	if o.Unordered() {
		for _, b := range o.Before(p) {
			s.After = append(s.After, nameOfPlan(o, b.ID))
		}
	}
	for i, t := range p.Tasks {
		r := taskRow{Task: t, Key: taskKey(t), Number: i + 1, Note: taskNote(t)}
		if p.Unordered() {
			for _, b := range p.Before(t) {
				r.After = append(r.After, slices.Index(p.Tasks, b)+1)
			}
		}
		s.Rows = append(s.Rows, r)
	}
	return s
}

// taskNote returns why a task is in its state, or what it does; "" for nothing.
func taskNote(t *opt.Task) string {
	if t.Failure != "" {
		return shorten(a2a.Visible(t.Failure), 300)
	}
	if t.State == opt.TaskWorking && t.Said != "" {
		return shorten(a2a.Visible(t.Said), 200)
	}
	if t.Reason == "" || t.Gate != nil {
		return ""
	}
	return reasonText(t.Reason)
}

// messagesOf returns messages as a page shows them, the latest first.
func messagesOf(v *visit, o *opt.Objective, list []a2a.Message, b *budget) []shownMessage {
	var out []shownMessage
	for i, m := range slices.Backward(list) {
		shown := shownMessage{ID: strconv.Itoa(i), From: "Agent"}
		if m.Role == a2a.RoleUser {
			shown.From = "Client"
		}
		if ref, ok := opt.ParseID(m.TaskID); ok && ref.TaskID != "" {
			shown.Task, shown.Name = taskPath(o.ID, keyOfTask(ref.TaskID)), nameOfTask(o, ref.TaskID)
		}
		for n, p := range m.Parts {
			if p.Data != nil && m.Text() != "" {
				continue // the same for programs
			}
			if b.parts--; b.parts < 0 {
				shown.More++
				continue
			}
			part := partOf(v.markdown, p, b)
			part.ID, part.Image = "m"+shown.ID+"-"+strconv.Itoa(n), "" // only artifacts can be downloaded
			shown.Parts = append(shown.Parts, part)
		}
		out = append(out, shown)
	}
	return out
}

// titleOfGate returns the title of a gate, or what it waits for if it has none.
func titleOfGate(g *opt.Gate) string {
	switch {
	case g.Title != "":
		return g.Title
	case g.Kind == opt.Credential:
		return "an authorization"
	case g.Kind == opt.Clarification:
		return "a question"
	}
	return "a decision"
}

// gatePath returns the address of the page of a gate.
func gatePath(id string) string { return GatesPath + url.PathEscape(id) }

// workflowKey is the key in the metadata of a task for the page of its workflow.
const workflowKey = "longhaul/v1/workflowUrl"

// traceKey is the key for the traces of its objective.
const traceKey = "longhaul/v1/traceUrl"

// linksOf returns the links to other systems of a task with metadata.
func linksOf(m a2a.Metadata) (out []link) {
	if address, _ := m.String(workflowKey); webLink(address) != "" {
		out = append(out, link{"The workflow in Temporal", webLink(address)})
	}
	if address, _ := m.String(traceKey); webLink(address) != "" {
		out = append(out, link{"The traces", webLink(address)})
	}
	return out
}
