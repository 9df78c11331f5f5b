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

// fixedTexts describe the events that need no more words; %s is the name of the plan.
var fixedTexts = map[opt.EventKind]string{
	opt.ObjectivePaused:  "The objective was paused",
	opt.ObjectiveResumed: "The objective was resumed",
	opt.ObjectiveChanged: "The name, the description or the metadata of the objective was changed",
	opt.ObjectiveQueued:  "The objective waits for its turn in its context",
	opt.PlanChanged:      "The text or the order of plan %s was changed",
	opt.PlanStarted:      "Plan %s may begin its tasks",
	opt.PlanPaused:       "Plan %s was paused",
	opt.PlanResumed:      "Plan %s was resumed",
	opt.SourceRewound:    "The work was set back: an operator has reset it in Temporal, or Temporal was restored from an older copy",
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

// eventText describes an event in plain words. A timeline names its task.
func eventText(o *opt.Objective, e opt.Event) string {
	name := nameOfPlan(o, e.PlanID)
	if text, ok := fixedTexts[e.Kind]; ok {
		return strings.Replace(text, "%s", name, 1)
	}
	switch e.Kind {
	case opt.ObjectiveOpened:
		return a2a.Visible(o.Principal) + " asked for it"
	case opt.ObjectiveRetried:
		return fmt.Sprintf("Attempt %d at the objective begins", e.Attempt)
	case opt.ObjectiveStopping:
		by := ""
		if e.Principal != "" {
			by = " by " + a2a.Visible(e.Principal)
		}
		return "The objective is being stopped" + by + ", and will be " + e.Reason + textSuffix(e)
	case opt.ObjectiveMoved:
		return "The objective is " + stageText(e) + textSuffix(e)
	case opt.PlanRetried:
		return fmt.Sprintf("Attempt %d at plan %s begins", e.Attempt, name)
	case opt.PlanStopping:
		return "Plan " + name + " is being stopped" + reasonSuffix(e.Reason)
	case opt.PlanMoved:
		return "Plan " + name + " is " + stageText(e)
	case opt.PlanAdded, opt.TasksAdded, opt.TasksReopened:
		return listText(name, e)
	case opt.TasksOrdered:
		return orderText(o.Plan(e.PlanID), e.Order)
	case opt.TaskMoved, opt.TaskTried, opt.TaskTaken, opt.TaskLinked, opt.ArtifactAdded:
		return taskEventText(e)
	case opt.MessageAdded:
		return messageEventText(e)
	case opt.CommandAnswered:
		return "A change was refused: " + e.Answer.Refusal.Error()
	}
	return string(e.Kind)
}

// listText describes an event about several plans, or tasks of a plan.
func listText(name string, e opt.Event) string {
	was, make, its := "was", "makes", "its"
	if len(e.Tasks) != 1 {
		was, make, its = "were", "make", "their"
	}
	switch {
	case e.Kind == opt.TasksAdded:
		return fmt.Sprintf("%s %s added to plan %s", opt.Count(len(e.Tasks), "task"), was, name)
	case e.Kind == opt.TasksReopened:
		return fmt.Sprintf("%s of plan %s %s %s results again", opt.Count(len(e.Tasks), "task"), name, make, its)
	case len(e.Replaces) > 0:
		return fmt.Sprintf("Plan %s was added and replaces %s", name, opt.Count(len(e.Replaces), "plan"))
	}
	return "Plan " + name + " was added"
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

func taskEventText(e opt.Event) string {
	switch {
	case e.Kind == opt.TaskTried && e.Try > 1:
		return fmt.Sprintf("Attempt %d begins again%s", e.Attempt, textSuffix(e))
	case e.Kind == opt.TaskTried:
		return fmt.Sprintf("Attempt %d begins%s", e.Attempt, textSuffix(e))
	case e.Kind == opt.TaskTaken:
		return "A worker has taken it after " + durationText(e.Waited)
	case e.Kind == opt.TaskLinked:
		return "Another task stands in for it: " + a2a.Visible(e.Link)
	case e.Kind == opt.ArtifactAdded:
		return "Made " + artifactName(e.Chunk.Artifact)
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
