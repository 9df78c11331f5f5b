package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A gatePage is the data of the page of one gate.
type gatePage struct {
	*opt.Gate
	Path        string
	List        listing // beside the page
	After       string  // id of the gate that comes after an answer, "" for none
	Title       string
	Asked       string // the title with its line breaks, "" if Title has all of it
	ObjectiveID string
	Objective   string
	Task        string
	Principal   string
	Since       a2a.Time
	Open        bool
	Ladder      []rung
	Who         string // who may answer, "" for everyone
	Missing     string // whose votes are missing, "" if one answer is enough
	Follow      follow
	Refined     string // how often the object was sent back, "" if never
	Remark      string // with which it was sent back last
	RemarkBy    string
	Changed     bool // Objects have comparisons with the object that was sent back
	Removed     []comparison
	Objects     []object
	MoreObjects int
	Outcome     *outcome // how it was closed, nil if it is open or that is not known
	Later       string   // path of the gate at which the task waits now, "" for none
	State       string   // of the task, if the gate is closed and nothing says how
	Replies     []shownReply
	Form        *gateform.Form // nil if the caller may not answer
	Why         string         // why there is no form at an open gate
	Stored      bool           // an answer of the caller is stored, and no worker has judged it yet
	Written     written
	Beforehand  string // path of the form that decides about the next such gates, "" if the caller may not
}

// An outcome is how a gate was closed.
type outcome struct {
	Word, By string
	ByTimer  bool
	At       a2a.Time
	Feedback string
	Answers  []answer
	Standing string   // path of the standing decision that has closed it, "" for none
	Original string   // path of the gate of the original whose decision has closed it, "" for none
	Objects  []object // that replace the object of the decision
	Diff     []comparison
}

// An answer is the answer to one question of a clarification.
type answer struct{ Question, Text string }

// A shownReply is a reply that did not close the gate.
type shownReply struct {
	By, Word, Verdict string
	At                a2a.Time
	Text              string // of the caller's own
}

// showGate shows a gate, open or closed, beside the list.
func showGate(v *visit) (view, error) {
	s, err := gates{v}.read()
	if err != nil {
		return view{}, err
	}
	return gates{v}.view(s, v.r.URL.Query(), written{})
}

// gates makes the pages of gates.
type gates struct{ *visit }

// read reads the gate in the path.
func (v gates) read() (gate.ShownInterrupt, error) {
	return v.cfg.Service.Gates.GetInterrupt(v.r.Context(), v.call, v.r.PathValue("gate"))
}

// view returns the page of a gate beside the list of a query. w has the input of a form that was
// refused.
func (v gates) view(s gate.ShownInterrupt, list url.Values, w written) (view, error) {
	in, err := readInbox(v.visit, listingOf(v.visit, list))
	if err != nil {
		return view{}, err
	}
	in.Chosen = true
	return v.beside(in, s, w), nil
}

// beside returns the page of a list with a gate beside it.
func (v gates) beside(in inbox, s gate.ShownInterrupt, w written) view {
	in.Gate = v.page(in.listing, s, w)
	in.Gate.After = in.after(s.Gate.ID)
	for _, c := range in.cards() {
		c.Current = c.ID == s.Gate.ID
	}
	out := in.view(in.Gate.Title)
	if !s.TaskState.Ended() {
		out.Events = s.TaskID
	}
	if closing := s.Closed(); !s.Open && v.notCounted(s) && closing != nil && closing.Decision.DecidedBy != v.call.Principal {
		out.Problem = v.closedByOther(s)
	}
	return out
}

// page returns the data of the page of a gate.
func (v gates) page(l listing, s gate.ShownInterrupt, w written) *gatePage {
	g := &s.Gate
	p := &gatePage{
		Gate: g, Path: gatePath(g.ID), List: l, Title: gateTitle(g),
		ObjectiveID: s.ObjectiveID, Objective: shorten(a2a.Visible(cmp.Or(s.Objective, s.ObjectiveID)), titleWidth),
		Task: shorten(a2a.Visible(cmp.Or(s.TaskName, s.TaskID)), titleWidth), Principal: a2a.Visible(s.Principal),
		Since: s.Since, Open: s.Open, Who: respondersText(g.Responders), Written: w,
	}
	if s.For != "" {
		p.Who += ". You answer as the deputy of " + a2a.Visible(s.For)
	}
	if whole := strings.TrimSpace(a2a.Visible(g.Title)); whole != shorten(whole, titleWidth) {
		p.Asked = shownText(whole)
	}
	p.Objects, p.MoreObjects = v.viewer(p.Path, "parts").objects(g.Object)
	if s.Refined > 0 {
		p.Refined = "It was sent back " + timesText(s.Refined) + " before."
	}
	if b := s.Before; b != nil && b.Reply.Reply != nil {
		p.Remark, p.RemarkBy = a2a.Visible(b.Reply.Reply.Remark()), b.Reply.Decision.Who()
		p.compare(compareObjects(b.Object, g.Object))
	}
	if s.Open {
		p.Ladder, p.Missing = ladderOf(g), missingText(g)
		p.Follow = v.follow(s)
		v.addForm(p, s)
	} else {
		v.addOutcome(p, s)
	}
	p.Replies = v.otherReplies(s)
	if g.Standing != "" && v.has(call.RespondApprovals) && s.MayStand(v.call.Principal, v.call.Groups) {
		p.Beforehand = newStandingPath(g.ID)
	}
	return p
}

// compare puts comparisons in the places of the parts that they are about.
func (p *gatePage) compare(all []comparison) {
	for i := range all {
		p.Changed = true
		if i < len(p.Objects) {
			p.Objects[i].Diff = &all[i]
			continue
		}
		p.Removed = append(p.Removed, all[i])
	}
}

// viewer returns how the parts of an object of a gate are shown. Their files are below
// path + "/" + section. A link to another way of showing them keeps the rest as it is.
func (v gates) viewer(path, section string) viewer {
	q := v.r.URL.Query()
	as, all := q.Get("as"), q.Has("all")
	to := func(as string, all bool) string {
		query := listingOf(v.visit, q).Query()
		if as == asText || as == asMarkdown {
			query.Set("as", as)
		}
		if all {
			query.Set("all", "1")
		}
		return path + "?" + query.Encode()
	}
	out := viewer{
		Markdown: v.markdown, ID: section + "-", As: as, AsPath: func(as string) string { return to(as, all) },
		File: func(i int) string { return path + "/" + section + "/" + strconv.Itoa(i) },
	}
	if !all {
		out.Whole = to(as, true)
	}
	return out
}

// addForm adds to the page of an open gate the forms of those who may answer, or why there
// are none.
func (v gates) addForm(p *gatePage, s gate.ShownInterrupt) {
	switch {
	case s.Gate.Kind == opt.Credential && len(s.Gate.Actions) == 0:
		p.Why = "The task waits for an authorization elsewhere. It continues by itself once it has that."
	case v.isPending(s):
		p.Stored = true
	case s.MayAnswer:
		form := gateform.New(&s.Gate, s.Gate.Object)
		if form.Any() {
			p.Form = &form
			return
		}
		p.Why = "It cannot be answered here."
	case !v.has(call.RespondApprovals):
		p.Why = "You may look at this, and not answer: your key lacks the scope " + string(call.RespondApprovals) + "."
	case s.Gate.Voted(v.call.Principal):
		p.Why = "You have answered. The task waits for others."
	default:
		p.Why = "Others answer here."
	}
}

// addOutcome adds to the page of a closed gate how it was closed.
func (v gates) addOutcome(p *gatePage, s gate.ShownInterrupt) {
	if s.Later != "" {
		p.Later = gatePath(s.Later)
	}
	last := s.Closed()
	if last == nil {
		p.State = shown.LookOfTask(s.TaskState).Word
		return
	}
	d := last.Decision
	o := &outcome{Word: cmp.Or(gateform.Word(d), string(d.Action)), By: d.Who(), ByTimer: d.DecidedBy == opt.ByTimer, At: d.DecidedAt}
	if o.ByTimer && d.Action == "" {
		o.Word = "Closed"
	}
	p.Outcome = o
	if d.Standing != nil {
		o.Standing = standingPath(d.Standing.ID)
	}
	if d.Kept != nil {
		o.Original = gatePath(d.Kept.GateID)
	}
	r := last.Reply
	if r == nil {
		return
	}
	o.Feedback = a2a.Visible(r.Remark())
	for _, a := range r.Answers {
		o.Answers = append(o.Answers, answer{questionOf(&s.Gate, a.ID), shownText(a2a.DataText(a.Answer))})
	}
	if len(r.Edited) > 0 {
		o.Objects, _ = v.viewer(p.Path, "edited").objects(r.Edited)
		o.Diff = compareObjects(s.Gate.Object, r.Edited)
		for i := range o.Diff {
			o.Diff[i].ID = "edited-" + o.Diff[i].ID
		}
	}
}

// shownText returns a text of others, cut if it is long.
func shownText(s string) string { return a2a.Visible(beginningText(s, mostOfPart)) }

// questionOf returns the text of a question of a gate.
func questionOf(g *opt.Gate, id string) string {
	for _, q := range g.Questions {
		if q.ID == id {
			return a2a.Visible(cmp.Or(q.Question, q.ID))
		}
	}
	return a2a.Visible(id)
}

// verdicts say why a reply did not count.
var verdicts = map[opt.Verdict]string{
	opt.NotWaiting: "came too late", opt.NotOffered: "was not one of the actions", opt.NotAllowed: "was not allowed to answer",
	opt.HasVoted: "had answered before", opt.OtherThing: "had seen another object", opt.TooLate: "came too late",
}

// otherReplies lists the replies that did not close a gate.
func (v gates) otherReplies(s gate.ShownInterrupt) (out []shownReply) {
	for _, r := range s.Replies {
		d := r.Decision
		if d.Closed {
			continue
		}
		reply := shownReply{By: d.For.By(d.DecidedBy), Word: cmp.Or(string(d.Action), "answer"), Verdict: cmp.Or(verdicts[d.Verdict], "counts"), At: d.DecidedAt}
		if d.Action == opt.Ask {
			reply.Verdict = "decides nothing"
		}
		if r.Reply != nil && d.DecidedBy == v.call.Principal && d.Verdict != opt.Accepted {
			reply.Text = shownText(textOfReply(*r.Reply))
		}
		out = append(out, reply)
	}
	return out
}

// textOfReply returns the words in a reply.
func textOfReply(r opt.Reply) string {
	texts := []string{r.Remark(), r.Question}
	for _, a := range r.Answers {
		texts = append(texts, a2a.DataText(a.Answer))
	}
	for _, p := range r.Attached {
		texts = append(texts, "+ "+cmp.Or(p.Filename, p.MediaType, "data"))
	}
	for _, p := range r.Edited {
		text, _ := p.Content()
		texts = append(texts, text)
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// A rung is a step of the ladder of a gate, or the moment of its opening.
type rung struct {
	At   a2a.Time // zero: not known, or never
	What string
	Gone bool // it lies before now
}

// stepsTaken say what a step has done.
var stepsTaken = map[opt.StepKind]string{opt.Remind: "reminders were sent", opt.Escalate: "others were asked, too", opt.Reassign: "others were asked instead"}

// ladderOf returns the steps of an open gate, those before now first.
func ladderOf(g *opt.Gate) []rung {
	out := []rung{{At: g.RequestedAt, What: "asked", Gone: true}}
	for _, s := range g.Ladder[:min(g.Taken, len(g.Ladder))] {
		out = append(out, rung{What: stepsTaken[s.Kind], Gone: true})
	}
	for _, c := range gateform.Ahead(g) {
		out = append(out, rung{At: c.At, What: c.What})
	}
	return out
}

// missingText returns whose votes an open gate waits for, "" if one answer is enough.
func missingText(g *opt.Gate) string {
	if !g.Responders.Several() {
		return ""
	}
	accepts := 0
	for _, v := range g.Votes {
		if v.Action == opt.Accept {
			accepts++
		}
	}
	text := fmt.Sprintf("%d of %d have accepted", accepts, g.Responders.Accepts)
	who := slices.DeleteFunc(slices.Clone(g.Responders.Principals), g.Voted)
	for _, group := range g.Responders.Groups {
		who = append(who, "the group "+group)
	}
	if len(who) > 0 {
		text += "; asked and silent: " + strings.Join(who, ", ")
	}
	return a2a.Visible(text)
}

// A follow says what happens after a decision, "" for what cannot be decided.
type follow struct{ Accept, Reject, Refine string }

// follow returns what happens after a decision at an open gate; nothing if the work cannot be read.
func (v gates) follow(s gate.ShownInterrupt) follow {
	found, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: s.ObjectiveID})
	if err != nil {
		return follow{}
	}
	p, t := taskAt(found.Objective, keyOfTask(s.TaskID))
	if t == nil {
		return follow{}
	}
	next := namesOf(p, func(other *opt.Task) bool { return !other.State.Ended() && slices.Contains(p.Before(other), t) })
	if t.Ask == nil { // its executor gets the answer
		return follow{Accept: strings.TrimSuffix("this task continues with the answer, then: "+next, ", then: ")}
	}
	f := follow{Accept: cmp.Or(next, "no other task waits for it")}
	if f.Reject = f.Accept; !t.Optional() {
		f.Reject = "the plan " + nameOfPlan(found.Objective, p.ID) + " fails"
		if next != "" {
			f.Reject += ", without: " + next
		}
	}
	if again := namesOf(p, func(t *opt.Task) bool { return slices.Contains(s.Gate.Sources, t.ID) }); again != "" && s.Gate.Allows(opt.Refine) {
		f.Refine = "made again: " + again
	}
	if !s.Gate.Allows(opt.Reject) {
		f.Reject = ""
	}
	return f
}

// mostNamed is how many tasks a text names.
const mostNamed = 6

// namesOf returns the names of the tasks of a plan that are chosen, "" for none.
func namesOf(p *opt.Plan, chosen func(*opt.Task) bool) string {
	var names []string
	for _, t := range p.Tasks {
		if chosen(t) {
			names = append(names, shorten(a2a.Visible(t.Name), titleLetters))
		}
	}
	return listed("", names)
}

// timesText returns a number of times in words.
func timesText(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// showGatePart sends a part of the object of a gate, or of what took its place.
func showGatePart(v *visit) (view, error) {
	s, err := gates{v}.read()
	if err != nil {
		return view{}, err
	}
	parts := s.Gate.Object
	if v.r.PathValue("section") == "edited" {
		parts = nil
		if last := s.Closed(); last != nil && last.Reply != nil {
			parts = last.Reply.Edited
		}
	}
	n, err := strconv.Atoi(v.r.PathValue("n"))
	if err != nil || n < 0 || n >= len(parts) {
		return problem{http.StatusNotFound, "Not found", "There is no such part."}.view(), nil
	}
	return view{File: fileOf(parts[n], fmt.Sprintf("part-%d", n+1))}, nil
}

// storedField is the query field of the page of a gate for the message id of an answer that the
// caller has sent and that was not judged then.
const storedField = "stored"

// notCounted reports whether the page is about a stored answer that does not count: it is not
// judged yet, or was refused.
func (v gates) notCounted(s gate.ShownInterrupt) bool {
	id := v.r.URL.Query().Get(storedField)
	verdict, judged := v.verdict(s, id)
	return id != "" && (!judged || verdict != opt.Accepted)
}

// isPending reports whether the page is about a stored answer that is not judged yet.
func (v gates) isPending(s gate.ShownInterrupt) bool {
	id := v.r.URL.Query().Get(storedField)
	_, judged := v.verdict(s, id)
	return id != "" && !judged
}

// verdict returns the verdict of a reply of the caller, if there is one.
func (v gates) verdict(s gate.ShownInterrupt, messageID string) (opt.Verdict, bool) {
	for _, r := range s.Replies {
		if r.Decision.MessageID == messageID && r.Decision.DecidedBy == v.call.Principal {
			return r.Decision.Verdict, true
		}
	}
	return "", false
}

// closedByOther returns the text that a gate was closed before the caller's answer.
func (v gates) closedByOther(s gate.ShownInterrupt) string {
	last := s.Closed()
	const unused = " Your answer was not used."
	if last == nil {
		return "The task does not wait here any more: it is " + shown.LookOfTask(s.TaskState).Word + "." + unused
	}
	d := last.Decision
	word := gateform.Word(d)
	switch d.DecidedBy {
	case opt.ByTimer:
		return "Time was over before your answer came: " + d.Outcome() + "." + unused
	case v.call.Principal:
		return "You have answered here already: " + word + " at " + gateform.Clock(d.DecidedAt) + "." + unused
	}
	return d.Who() + " was first: " + word + " at " + gateform.Clock(d.DecidedAt) + "." + unused
}
