package console

import (
	"cmp"
	"fmt"
	"strings"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// timelineSize is how many events a page of a timeline shows.
const timelineSize = 50

// A moment is one line of a timeline.
type moment struct {
	Seq  int64
	At   a2a.Time
	Text string
	Task string     // address of the plan task that it is about, "" for none
	Name string     // of that task
	Gate string     // id of the gate that it has opened, "" for none
	Kind shown.Kind // of the state that it has led to, "" for none
}

// A timeline is the data of the page with the events of an objective.
type timeline struct {
	Objective *opt.Objective
	Moments   []moment
	Next      string // token of the page with earlier events, "" for none
	Decisions wire.DecisionPage
	Earlier   bool // it is not the first page
}

// showTimeline shows the events of an objective, the latest first, and the decisions at
// its gates.
func showTimeline(v *visit) (view, error) {
	if ref, ok := opt.ParseID(v.r.PathValue("id")); ok && ref.ObjectiveID != v.r.PathValue("id") {
		return view{Location: objectivePath(ref.ObjectiveID) + "/timeline"}, nil
	}
	o, err := v.objective(v.r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	q := v.r.URL.Query()
	page, err := v.cfg.Service.Events.ListEvents(v.r.Context(), v.call, read.EventListParams{ObjectiveID: o.ID, Limit: timelineSize, PageToken: q.Get("page")})
	if err != nil {
		return view{}, err
	}
	decisions, err := v.cfg.Service.Decisions.ListDecisions(v.r.Context(), v.call, read.DecisionListParams{ObjectiveID: o.ID, Limit: timelineSize, PageToken: q.Get("decisions")})
	out := view{Template: "timeline", Title: "Timeline of " + a2a.Visible(o.Name), Data: timeline{o, momentsOf(o, page.Events), page.Next, decisions, q.Get("page") != ""}}
	if q.Get("page") == "" {
		out.Events, out.Refresh = eventsOf(o), refreshEvery
	}
	return out, err
}

// momentsOf returns the lines of a timeline for events.
func momentsOf(o *opt.Objective, events []shown.Recorded) []moment {
	var out []moment
	for _, r := range events {
		e := r.Event
		m := moment{Seq: r.Seq, At: e.At, Text: eventText(o, e)}
		if e.Kind == opt.ObjectiveMoved || e.Kind == opt.PlanMoved || e.Kind == opt.TaskMoved {
			m.Kind = shown.Stage{Status: e.To, Reason: e.Reason}.Look().Kind
		}
		if id := eventTask(e); id != "" {
			m.Task, m.Name = taskPath(o.ID, keyOfTask(id)), nameOfTask(o, id)
		}
		if e.Gate != nil && e.PlanID != "" {
			m.Gate = e.Gate.ID
		}
		out = append(out, m)
	}
	return out
}

// eventTask returns the id of the plan task that e is about, "" for none.
func eventTask(e opt.Event) string {
	for _, id := range []string{e.ForTask, e.TaskID} {
		if ref, ok := opt.ParseID(id); ok && ref.TaskID != "" {
			return ref.TaskID
		}
	}
	return ""
}

// eventText describes an event in plain words. A timeline names its task.
func eventText(o *opt.Objective, e opt.Event) string {
	switch e.Kind {
	case opt.ObjectiveOpened, opt.ObjectiveMoved, opt.ObjectiveStopping, opt.ObjectivePaused, opt.ObjectiveResumed, opt.ObjectiveChanged,
		opt.ObjectiveRetried, opt.ObjectiveQueued:
		return objectiveEventText(o, e)
	case opt.PlanAdded, opt.PlanChanged, opt.PlanRetried, opt.PlanStarted, opt.PlanPaused, opt.PlanResumed, opt.PlanMoved, opt.PlanStopping,
		opt.TasksAdded, opt.TasksReopened:
		return planEventText(nameOfPlan(o, e.PlanID), e)
	case opt.TasksOrdered:
		return orderText(o.Plan(e.PlanID), e.Order)
	case opt.TaskMoved:
		return taskMoveText(e)
	case opt.TaskTried:
		begins := "begins"
		if e.Try > 1 {
			begins = "begins again"
		}
		return fmt.Sprintf("Attempt %d %s%s", e.Attempt, begins, textSuffix(e))
	case opt.TaskTaken:
		return "A worker has taken it after " + durationText(e.Waited)
	case opt.TaskLinked:
		return "Another task stands in for it: " + a2a.Visible(e.Link)
	case opt.ArtifactAdded:
		return "Made " + artifactName(e.Chunk.Artifact)
	case opt.MessageAdded:
		return messageEventText(e)
	case opt.SourceRewound:
		return "The work was set back: an operator has reset it in Temporal, or Temporal was restored from an older copy"
	case opt.CommandAnswered:
		return "A change was refused: " + e.Answer.Refusal.Error()
	}
	return string(e.Kind)
}

// orderText says what tasks of p wait for since an event.
func orderText(p *opt.Plan, order []opt.TaskOrder) string {
	name := func(id string) string {
		if t := p.Task(id); t != nil {
			return quoted(t.Name)
		}
		return "an earlier task"
	}
	return "The order was changed" + listed(": ", each(order, func(o opt.TaskOrder) string {
		return name(o.ID) + " waits for " + cmp.Or(listed("", each(o.Dependencies, name)), "nothing")
	}))
}

func objectiveEventText(o *opt.Objective, e opt.Event) string {
	switch e.Kind {
	case opt.ObjectiveOpened:
		return a2a.Visible(o.Principal) + " asked for it"
	case opt.ObjectiveStopping:
		by := ""
		if e.Principal != "" {
			by = " by " + a2a.Visible(e.Principal)
		}
		return "The objective is being stopped" + by + ", and will be " + e.Reason + textSuffix(e)
	case opt.ObjectivePaused:
		return "The objective was paused"
	case opt.ObjectiveResumed:
		return "The objective was resumed"
	case opt.ObjectiveChanged:
		return "The name, the description or the metadata of the objective was changed"
	case opt.ObjectiveRetried:
		return fmt.Sprintf("Attempt %d at the objective begins", e.Attempt)
	case opt.ObjectiveQueued:
		return "The objective waits for its turn in its context"
	}
	return "The objective is " + stageText(e) + textSuffix(e)
}

func planEventText(name string, e opt.Event) string {
	switch e.Kind {
	case opt.PlanAdded:
		if len(e.Replaces) > 0 {
			return fmt.Sprintf("Plan %s was added and replaces %s", name, opt.Count(len(e.Replaces), "plan"))
		}
		return "Plan " + name + " was added"
	case opt.PlanChanged:
		return "The text or the order of plan " + name + " was changed"
	case opt.PlanRetried:
		return fmt.Sprintf("Attempt %d at plan %s begins", e.Attempt, name)
	case opt.PlanStarted:
		return "Plan " + name + " may begin its tasks"
	case opt.PlanPaused:
		return "Plan " + name + " was paused"
	case opt.PlanResumed:
		return "Plan " + name + " was resumed"
	case opt.PlanStopping:
		return "Plan " + name + " is being stopped" + reasonSuffix(e.Reason)
	case opt.TasksAdded:
		if len(e.Tasks) == 1 {
			return "1 task was added to plan " + name
		}
		return opt.Count(len(e.Tasks), "task") + " were added to plan " + name
	case opt.TasksReopened:
		if len(e.Tasks) == 1 {
			return "1 task of plan " + name + " makes its results again"
		}
		return opt.Count(len(e.Tasks), "task") + " of plan " + name + " make their results again"
	}
	return "Plan " + name + " is " + stageText(e)
}

// stageText returns the word for the state to which an event moves an objective or a plan,
// and the reason.
func stageText(e opt.Event) string {
	word := shown.Stage{Status: e.To, Reason: e.Reason}.Look().Word
	switch reason := stageReason(word, e.Reason); {
	case strings.HasPrefix(reason, "for "):
		return word + " " + reason
	case reason != "":
		return word + ": " + reason
	}
	return word
}

func taskMoveText(e opt.Event) string {
	switch {
	case e.Step == opt.Expire:
		return "The time of its question was over: " + shown.LookOfTask(e.To).Word
	case e.Step != "":
		return "Its question waits too long: " + string(e.Step)
	case e.Gate != nil:
		return "Waits for an answer: " + shorten(a2a.Visible(titleOfGate(e.Gate)), titleLetters)
	case e.To == string(opt.TaskWorking) && e.Attempt > 1:
		return fmt.Sprintf("Is working, attempt %d", e.Attempt)
	}
	return "Is " + shown.LookOfTask(e.To).Word + reasonSuffix(e.Reason) + textSuffix(e)
}

func messageEventText(e opt.Event) string {
	principal := a2a.Visible(e.Principal)
	if d := e.Decision; d != nil {
		principal = d.Who()
		switch {
		case d.DecidedBy == opt.ByTimer:
			return "No answer came in time: " + string(d.Action)
		case d.Verdict != opt.Accepted:
			return "An answer of " + principal + " was refused: " + verdictText(d.Verdict)
		case d.Action != "":
			return principal + " decided: " + string(d.Action)
		}
		return principal + " answered"
	}
	if e.Verdict.Kept() || e.Verdict == "" {
		if principal == "" {
			return "A message of the agent"
		}
		return principal + " wrote a message"
	}
	return "A message of " + principal + " was refused: " + verdictText(e.Verdict)
}

// verdictText returns why a message was refused, for people.
func verdictText(v opt.Verdict) string { return cmp.Or(refusals[v], string(v)) }

// refusals say why messages were refused.
var refusals = map[opt.Verdict]string{
	opt.NotWaiting: "the task did not wait for it",
	opt.NotOffered: "the question does not offer this action",
	opt.NotAllowed: "others decide there",
	opt.HasVoted:   "the same person has decided there before",
	opt.OtherThing: "it was about another object than the one shown",
	opt.NotIdle:    "the objective had begun already",
	opt.TooLate:    "the task had ended",
}

// reasonSuffix returns a reason as the end of a sentence, "" for none.
func reasonSuffix(reason string) string {
	if text := reasonText(reason); text != "" {
		return ": " + text
	}
	return ""
}

// textSuffix returns the text of an event as the end of a sentence, "" for none.
func textSuffix(e opt.Event) string {
	if e.Status == nil {
		return ""
	}
	text := strings.TrimSpace(e.Status.Text())
	if text == "" {
		return ""
	}
	return ". " + shorten(a2a.Visible(text), 200)
}
