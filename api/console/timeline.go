package console

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// timelineSize is how many events a page of a timeline shows.
const timelineSize = 50

// A moment is one line of a timeline: an event of an objective.
type moment struct {
	shown.Recorded
	of *opt.Objective
}

// Text describes the event in plain words. A timeline names its task.
func (m moment) Text() string { return eventText(m.of, m.Event) }

// Task returns the plan task that the event is about, nil for none.
func (m moment) Task() *opt.Task {
	_, t := taskOf(m.of, cmp.Or(m.Event.ForTask, m.Event.TaskID))
	return t
}

// Kind returns the kind of the state to which the event has led, "" for none.
func (m moment) Kind() shown.Kind {
	switch m.Event.Kind {
	case opt.ObjectiveMoved, opt.PlanMoved, opt.TaskMoved:
		return shown.Stage{Status: m.Event.To, Reason: m.Event.Reason}.Look().Kind
	}
	return ""
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
	return each(events, func(r shown.Recorded) moment { return moment{r, o} })
}

// eventTexts describe events for which the same words serve each time, with those of [wordsOf] in them.
var eventTexts = map[opt.EventKind]string{
	opt.ObjectiveOpened:   "{asker} asked for it",
	opt.ObjectiveRetried:  "Attempt {attempt} at the objective begins",
	opt.ObjectiveMoved:    "The objective is {stage}{said}",
	opt.ObjectivePaused:   "The objective was paused",
	opt.ObjectiveResumed:  "The objective was resumed",
	opt.ObjectiveChanged:  "The name, the description or the metadata of the objective was changed",
	opt.ObjectiveQueued:   "The objective waits for its turn in its context",
	opt.ObjectiveStopping: "The objective is being stopped{by}, and will be {end}{said}",
	opt.PlanAdded:         "Plan {plan} was added{replaces}",
	opt.PlanChanged:       "The text or the order of plan {plan} was changed",
	opt.PlanStarted:       "Plan {plan} may begin its tasks",
	opt.PlanMoved:         "Plan {plan} is {stage}",
	opt.PlanPaused:        "Plan {plan} was paused",
	opt.PlanResumed:       "Plan {plan} was resumed",
	opt.PlanRetried:       "Attempt {attempt} at plan {plan} begins",
	opt.PlanStopping:      "Plan {plan} is being stopped{reason}",
	opt.TasksAdded:        "{tasks} {were} added to plan {plan}",
	opt.TasksReopened:     "The results of {tasks} of plan {plan} are made again",
	opt.TaskTried:         "Attempt {attempt} begins{again}{said}",
	opt.TaskTaken:         "A worker has taken it after {waited}",
	opt.TaskLinked:        "Another task stands in for it: {link}",
	opt.SourceRewound:     "The work was set back: an operator has reset it in Temporal, or Temporal was restored from an older copy",
}

// wordsOf returns the words of an event for its text. Those that follow others are "" if there is nothing to say.
func wordsOf(o *opt.Objective, e opt.Event) *strings.Replacer {
	again, replaces, were := "", "", "were"
	if e.Try > 1 {
		again = " again"
	}
	if len(e.Replaces) > 0 {
		replaces = " and replaces " + opt.Count(len(e.Replaces), "plan")
	}
	if len(e.Tasks) == 1 {
		were = "was"
	}
	return strings.NewReplacer(
		"{asker}", a2a.Visible(o.Principal), "{attempt}", strconv.Itoa(e.Attempt), "{by}", behind(" by ", a2a.Visible(e.Principal)), "{end}", e.Reason,
		"{plan}", nameOfPlan(o, e.PlanID), "{replaces}", replaces, "{tasks}", opt.Count(len(e.Tasks), "task"), "{were}", were, "{again}", again,
		"{stage}", stageText(e), "{reason}", reasonSuffix(e.Reason), "{said}", textSuffix(e), "{waited}", durationText(e.Waited), "{link}", a2a.Visible(e.Link),
	)
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

// eventText describes an event in plain words.
func eventText(o *opt.Objective, e opt.Event) string {
	if text, ok := eventTexts[e.Kind]; ok {
		return wordsOf(o, e).Replace(text)
	}
	switch e.Kind {
	case opt.TasksOrdered:
		return orderText(o.Plan(e.PlanID), e.Order)
	case opt.TaskMoved:
		return taskMoveText(e)
	case opt.ArtifactAdded:
		return "Made " + cmp.Or(quoted(e.Chunk.Artifact.Name), "an artifact")
	case opt.MessageAdded:
		return messageEventText(e)
	case opt.CommandAnswered:
		return "A change was refused: " + e.Answer.Refusal.Error()
	}
	return string(e.Kind)
}

// stageText returns the word for the state to which an event moves an objective or a plan,
// and the reason.
func stageText(e opt.Event) string {
	look := shown.Stage{Status: e.To, Reason: e.Reason}.Look()
	reason := look.ReasonText(e.Reason)
	if strings.HasPrefix(reason, "for ") {
		return look.Word + " " + reason
	}
	return look.Word + behind(": ", reason)
}

// taskMoveText describes the move of a task.
func taskMoveText(e opt.Event) string {
	switch {
	case e.Step == opt.Expire:
		return "The time of its question was over: " + shown.LookOfTask(e.To).Word
	case e.Step != "":
		return "Its question waits too long: " + string(e.Step)
	case e.Gate != nil:
		return "Waits for an answer: " + nameText(titleOfGate(e.Gate))
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
func reasonSuffix(reason string) string { return behind(": ", shown.ReasonText(reason)) }

// textSuffix returns the text of an event as the end of a sentence, "" for none.
func textSuffix(e opt.Event) string {
	if e.Status == nil {
		return ""
	}
	return behind(". ", shorten(a2a.Visible(e.Status.Text()), 200))
}
