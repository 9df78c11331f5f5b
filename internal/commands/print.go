package commands

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A printer prints events as text. A quiet printer prints only the result.
type printer struct {
	out      io.Writer
	quiet    bool
	color    bool
	terminal bool                // the output is one: control characters in untrusted texts are removed
	command  func(string) string // the begin of a command that reaches the same agent, by its name

	taskID       string
	status       string               // as it was printed last
	latest       client.Event         // that had the status
	asked        map[string]bool      // ids of the gates, or questions without a gate, that were printed
	gates        map[string]*opt.Gate // as they were printed last, by the same ids
	closed       map[string]bool      // ids of gates of which was printed how they were closed
	gatePrints   int                  // how often gates and their changes were printed
	objective    *client.Objective    // as it was read last; nil for none
	showTimes    bool                 // decisions are printed with their times
	inPlace      bool                 // gates are printed without the commands that answer: the answer is asked for
	seen         map[string]string    // statuses printed, by id of plan or plan task
	shown        map[string]string    // text of artifacts, by id
	order        []string             // ids of artifacts
	names        map[string]string    // of artifacts that have one, by id
	openArtifact string               // id of the artifact that is being printed; "" for none
	blankLine    bool                 // an empty line comes before the next line
	tail         string               // the last bytes printed, two at most
}

func (p *printer) end() {}

// sanitize returns text without characters that control a terminal, if the output is
// one.
func (p *printer) sanitize(text string) string {
	if !p.terminal {
		return text
	}
	return a2a.Visible(text)
}

func (p *printer) event(e client.Event) {
	switch {
	case e.Message != nil:
		p.printLines("%s", p.sanitize(e.Message.Text()))
	case e.Artifact != nil:
		p.artifact(e.Artifact.Artifact, e.Artifact.Append)
	case e.Task != nil:
		p.begin(e.Task.ID)
		if o, ok := client.ObjectiveOf(e.Task.Metadata); ok {
			p.progress(o)
		}
		for _, a := range e.Task.Artifacts {
			p.artifact(a, false)
		}
	}
	if s, ok := e.TaskStatus(); ok {
		p.latest, p.taskID = e, e.TaskID()
		if !p.quiet {
			p.printDecided(e.Metadata())
		}
		p.showStatus(s, doneIn(e.Metadata()))
	}
}

// begin prints which task the output is about, once.
func (p *printer) begin(taskID string) {
	if p.taskID != taskID {
		p.taskID = taskID
		p.printProgress("Task %s", p.sanitize(taskID))
		p.blankLine = true
	}
}

// stateSentences are the states as sentences. showWaiting prints the states of waiting.
var stateSentences = map[a2a.TaskState]string{
	a2a.Submitted: "Submitted.", a2a.Working: "Working.", a2a.Completed: "Completed.",
	a2a.Failed: "Failed.", a2a.Canceled: "Canceled.", a2a.Rejected: "Rejected.",
}

// doneIn returns how much of a task is done by its metadata, in percent; nil if they do not say
// it.
func doneIn(m a2a.Metadata) (percent *int) {
	_ = m.Decode(opt.KeyProgress, &percent) // stays nil
	return percent
}

// statusText returns a status of a task, of which done is done, as a sentence. more is false if a
// result says more.
func (p *printer) statusText(s a2a.TaskStatus, done *int) (text string, more bool) {
	text = stateSentences[s.State]
	if s.Message != nil && text != "" {
		text = strings.TrimSpace(text + " " + p.sanitize(s.Message.Text()))
	}
	if s.State != a2a.Working {
		return text, true
	}
	more = s.Message != nil && !shown.OnlyCounts(s.Message.Text())
	if done != nil && *done > 0 && (*done < 100 || more) {
		text, more = text+fmt.Sprintf(" (%d %%)", *done), true
	}
	return text, more
}

// showStatus prints a status, of a task of which done is done, unless it was the last one printed.
func (p *printer) showStatus(s a2a.TaskStatus, done *int) {
	text, more := p.statusText(s, done)
	switch {
	case text == p.status, !more && len(p.order) > 0:
		return
	case p.quiet && s.State == a2a.Completed:
		for _, id := range p.order {
			p.printLines("%s", p.shown[id])
		}
	case p.quiet && s.State.Terminal():
		p.printLines("%s", text)
	case text != "":
		p.printProgress("%s", p.paint(shown.LookOfTask(s.State).Kind, text))
	}
	p.status = text
}

// progress prints the changes of the plans and their tasks.
func (p *printer) progress(o *client.Objective) {
	p.objective = o
	for _, plan := range o.Plans {
		look, reason := shownStatus(plan)
		line := fmt.Sprintf("%s: %s", p.sanitize(plan.Name), p.paint(look.Kind, p.sanitize(look.Word+reason)))
		if !plan.Status.Ended() {
			p.printChange(plan.ID, string(plan.Status), string(opt.PlanPending), line)
		}
		for _, t := range plan.Tasks {
			look := shown.LookOfTask(t.Status)
			p.printChange(t.ID, string(t.Status), string(opt.TaskPending), fmt.Sprintf("%s / %s: %s", p.sanitize(plan.Name), p.sanitize(t.Name), p.paint(look.Kind, look.Word+p.sanitize(failureReason(t)))))
			p.printWait(plan, t)
		}
		if plan.Status.Ended() {
			p.printChange(plan.ID, string(plan.Status), "", line)
		}
	}
}

// printWait prints why a task waits for a worker, once for each status.
func (p *printer) printWait(plan client.Plan, t client.PlanTask) {
	if why, ok := waitReason(t); ok {
		p.printChange(t.ID+" waits", string(t.Status), "", fmt.Sprintf("%s / %s: %s", p.sanitize(plan.Name), p.sanitize(t.Name), p.sanitize(why)))
	}
}

// printChange prints a line if the status of a plan or plan task differs from the one printed
// last, or from first if none was printed.
func (p *printer) printChange(id, status, first, line string) {
	before, ok := p.seen[id]
	if !ok {
		before = first
	}
	p.seen[id] = status
	if status != before {
		p.printProgress("%s", line)
	}
}

// artifact prints the new part of an artifact.
func (p *printer) artifact(a a2a.Artifact, more bool) {
	whole := p.sanitize(partsText(a.Parts))
	before, known := p.shown[a.ArtifactID]
	if !known {
		p.order = append(p.order, a.ArtifactID)
	}
	if more {
		whole = before + whole
	}
	p.shown[a.ArtifactID] = whole
	if p.quiet || whole == before {
		return
	}
	rest, grown := strings.CutPrefix(whole, before)
	if !grown {
		rest = whole
	}
	if p.openArtifact != a.ArtifactID || !grown {
		p.blankLine = true
		p.printProgress("[%s]", p.sanitize(p.heading(a)))
		p.openArtifact, p.blankLine = a.ArtifactID, true
	}
	p.write(rest)
}

// heading returns the name of an artifact, after that of its task if another artifact has the same
// name.
func (p *printer) heading(a a2a.Artifact) string {
	if a.Name == "" {
		return p.artifactTask(a.ArtifactID)
	}
	if p.names == nil {
		p.names = map[string]string{}
	}
	p.names[a.ArtifactID] = a.Name
	for id, name := range p.names {
		if id != a.ArtifactID && name == a.Name {
			return p.artifactTask(a.ArtifactID) + ": " + a.Name
		}
	}
	return a.Name
}

// ownArtifact matches the ids of artifacts that have the place of their task.
var ownArtifact = regexp.MustCompile(`^\d+-\d+-`)

// artifactTask returns what to call an artifact without a name: the name of the task that has made
// it, if that is known.
func (p *printer) artifactTask(id string) string {
	place := ownArtifact.FindString(id)
	if place == "" {
		return id
	}
	if p.objective != nil {
		for _, plan := range p.objective.Plans {
			for _, t := range plan.Tasks {
				if opt.ArtifactID(t.ID, "") == place {
					return t.Name
				}
			}
		}
	}
	return "Result"
}

// partsText returns parts as text. Texts are joined, since an artifact may have come
// in pieces; each other part has its own line.
func partsText(parts []a2a.Part) string {
	text := ""
	for _, part := range parts {
		if part.Text != nil {
			text += *part.Text
			continue
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		switch {
		case part.URL != nil:
			text += *part.URL + "\n"
		case part.Data != nil:
			text += string(part.Data) + "\n"
		default:
			text += fmt.Sprintf("%s (%s, %d bytes)\n", part.Filename, part.MediaType, len(part.Raw))
		}
	}
	return text
}

// printProgress prints a line of progress, unless the printer is quiet.
func (p *printer) printProgress(format string, args ...any) {
	if !p.quiet {
		p.printLines(format, args...)
	}
}

// printLines prints whole lines, below the lines before.
func (p *printer) printLines(format string, args ...any) {
	if p.tail != "" && !strings.HasSuffix(p.tail, "\n") {
		p.write("\n")
	}
	if p.blankLine && p.tail != "" && p.tail != "\n\n" {
		p.write("\n")
	}
	p.openArtifact, p.blankLine = "", false
	p.write(strings.TrimSuffix(fmt.Sprintf(format, args...), "\n") + "\n")
}

func (p *printer) write(text string) {
	fmt.Fprint(p.out, text)
	p.tail += text
	p.tail = p.tail[max(0, len(p.tail)-2):]
}

// colors are the colors of states, by kind.
var colors = map[shown.Kind]string{
	shown.LooksCompleted: "32", shown.LooksFailed: "31", shown.LooksWaiting: "33", shown.LooksWorking: "34", shown.LooksPending: "2", shown.LooksCanceled: "2",
}

func (p *printer) paint(kind shown.Kind, text string) string {
	if c := colors[kind]; c != "" && p.color {
		return "\x1b[" + c + "m" + text + "\x1b[0m"
	}
	return text
}
