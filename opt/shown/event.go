package shown

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

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
	opt.TaskTried:         "attempt {attempt} begins{again}{said}",
	opt.TaskTaken:         "a worker has taken it after {waited}",
	opt.TaskLinked:        "another task stands in for it: {link}",
	opt.SourceRewound:     "The work was set back: an operator has reset it in Temporal, or Temporal was restored from an older copy",
}

// EventText describes an event of o in plain words. It does not name the task that the event is about: words about a task
// begin small, to stand behind its name.
func EventText(o *opt.Objective, e opt.Event) string {
	if text, ok := eventTexts[e.Kind]; ok {
		return wordsOf(o, e).Replace(text)
	}
	switch e.Kind {
	case opt.TasksOrdered:
		return orderText(o.Plan(e.PlanID), e.Order)
	case opt.TaskMoved:
		return taskMoveText(e)
	case opt.ArtifactAdded:
		return "made " + cmp.Or(Quoted(e.Chunk.Artifact.Name), "an artifact")
	case opt.MessageAdded:
		return messageText(e)
	case opt.CommandAnswered:
		return "A change was refused: " + e.Answer.Refusal.Error()
	}
	return string(e.Kind)
}

// wordsOf returns the words of an event for its text. Those that follow others are "" if there is nothing to say.
func wordsOf(o *opt.Objective, e opt.Event) *strings.Replacer {
	plan := "a plan"
	if p := o.Plan(e.PlanID); p != nil {
		plan = Quoted(p.Name)
	}
	return strings.NewReplacer(
		"{asker}", a2a.Visible(o.Principal), "{attempt}", strconv.Itoa(e.Attempt), "{by}", Behind(" by ", a2a.Visible(e.Principal)), "{end}", e.Reason,
		"{plan}", plan, "{replaces}", When(len(e.Replaces) > 0, " and replaces "+opt.Count(len(e.Replaces), "plan")),
		"{tasks}", opt.Count(len(e.Tasks), "task"), "{were}", cmp.Or(When(len(e.Tasks) == 1, "was"), "were"), "{again}", When(e.Try > 1, " again"),
		"{stage}", stageText(e), "{reason}", Behind(": ", ReasonText(e.Reason)), "{said}", saidText(e), "{waited}", opt.InUnits(e.Waited, 10), "{link}", a2a.Visible(e.Link),
	)
}

// orderText says what tasks of p wait for since an event.
func orderText(p *opt.Plan, order []opt.TaskOrder) string {
	name := func(id string) string {
		if t := p.Task(id); t != nil {
			return Quoted(t.Name)
		}
		return "an earlier task"
	}
	var list []string
	for _, o := range order {
		var names []string
		for _, id := range o.Dependencies {
			names = append(names, name(id))
		}
		list = append(list, name(o.ID)+" waits for "+cmp.Or(Listed("", names), "nothing"))
	}
	return "The order was changed" + Listed(": ", list)
}

// stageText returns the word for the state to which an event moves an objective or a plan, and the reason.
func stageText(e opt.Event) string {
	look := Stage{Status: e.To, Reason: e.Reason}.Look()
	reason := look.ReasonText(e.Reason)
	if strings.HasPrefix(reason, "for ") {
		return look.Word + " " + reason
	}
	return look.Word + Behind(": ", reason)
}

func taskMoveText(e opt.Event) string {
	switch {
	case e.Step == opt.Expire:
		return "the time of its question was over: " + LookOfTask(e.To).Word
	case e.Step != "":
		return "its question waits too long: " + string(e.Step)
	case e.Gate != nil:
		return "waits for an answer: " + Name(Title(e.Gate))
	case e.To == string(opt.TaskWorking) && e.Attempt > 1:
		return fmt.Sprintf("working, attempt %d", e.Attempt)
	}
	return LookOfTask(e.To).Word + Behind(": ", ReasonText(e.Reason)) + saidText(e)
}

func messageText(e opt.Event) string {
	switch d, principal := e.Decision, a2a.Visible(e.Principal); {
	case d != nil && d.DecidedBy == opt.ByTimer:
		return "No answer came in time: " + string(d.Action)
	case d != nil && d.Verdict != opt.Accepted:
		return "An answer of " + d.Who() + " was refused: " + VerdictText(d.Verdict)
	case d != nil:
		return d.Who() + cmp.Or(Behind(" decided: ", string(d.Action)), " answered")
	case e.Verdict != "" && !e.Verdict.Kept():
		return "A message of " + principal + " was refused: " + VerdictText(e.Verdict)
	case principal == "":
		return "A message of the agent"
	default:
		return principal + " wrote a message"
	}
}

// saidText returns the text of the status of an event as the end of a sentence, "" for none.
func saidText(e opt.Event) string {
	if e.Status == nil {
		return ""
	}
	return Behind(". ", inLine(a2a.Visible(e.Status.Text()), maxSaid))
}

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

// VerdictText returns why a message was refused, for people.
func VerdictText(v opt.Verdict) string { return cmp.Or(refusals[v], string(v)) }

// maxName is the maximum length of a name in a sentence, in characters, and mostNamed how many names a sentence has.
const (
	maxName   = 80
	mostNamed = 6
)

// Quoted returns a name in quotation marks, "" for none.
func Quoted(name string) string { return When(name != "", "“"+Name(name)+"”") }

// Name returns a name as a sentence has it.
func Name(name string) string { return inLine(a2a.Visible(name), maxName) }

// Listed returns names behind the words before them, "" for none.
func Listed(before string, names []string) string {
	return Behind(before, strings.Join(few(names), ", "))
}

// few returns the first names, and how many more there are.
func few(names []string) []string {
	if more := len(names) - mostNamed; more > 0 {
		return append(names[:mostNamed:mostNamed], fmt.Sprintf("%d more", more))
	}
	return names
}

// When returns a text if something is so, else "".
func When(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// Behind returns a text behind the words before it, "" for none.
func Behind(before, text string) string { return When(text != "", before+text) }
