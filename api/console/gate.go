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
	gate.ShownInterrupt
	Path        string
	List        listing // beside the page
	After       string  // id of the gate that comes after an answer, "" for none
	Title       string
	Asked       string // the title with its line breaks, "" if Title has all of it
	Who         string // who may answer, "" for everyone
	Missing     string // whose votes are missing, "" if one answer is enough
	Follow      follow
	Remark      string // with which the object was sent back last
	Changed     bool   // Objects have comparisons with the object that was sent back
	Removed     []comparison
	Objects     []object
	MoreObjects int
	Edited      []object // that replace the object of the decision with which it was closed
	EditedDiff  []comparison
	Others      []shown.GateReply // replies that did not close it
	Reader      string            // the principal of the caller
	Form        *gateform.Form    // nil if the caller may not answer
	Why         string            // why there is no form at an open gate
	Stored      bool              // an answer of the caller is stored, and no worker has judged it yet
	Written     written
	MayStand    bool // the caller may decide about the next such gates, too
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
	in, err := readInbox(v.visit, questionsOf(v.visit, list))
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
		c.Current = c.Gate.ID == s.Gate.ID
	}
	out := in.view(in.Gate.Title)
	if !s.TaskState.Ended() {
		out.Events = s.TaskID
	}
	sent, counts, _ := v.stored(s)
	if closing := s.Closed(); !s.Open && sent && !counts && closing != nil && closing.Decision.DecidedBy != v.call.Principal {
		out.Problem = unusedText(s)
	}
	return out
}

// page returns the data of the page of a gate.
func (v gates) page(l listing, s gate.ShownInterrupt, w written) *gatePage {
	g := &s.Gate
	p := &gatePage{
		Gate: g, ShownInterrupt: s, Path: gatePath(g.ID), Reader: v.call.Principal, List: l, Title: gateTitle(g), Who: respondersText(g.Responders), Written: w,
		MayStand: g.Standing != "" && v.has(call.RespondApprovals) && s.MayStand(v.call.Principal, v.call.Groups),
	}
	if s.For != "" {
		p.Who += ". You answer as the deputy of " + a2a.Visible(s.For)
	}
	if whole := strings.TrimSpace(a2a.Visible(g.Title)); whole != shorten(whole, titleWidth) {
		p.Asked = shownText(whole)
	}
	p.Objects, p.MoreObjects = v.viewer(p.Path).objects("parts-", g.Object, fileIn(p.Path, "parts"))
	if b := s.Before; b != nil && b.Reply.Reply != nil {
		p.Remark = b.Reply.Reply.Remark()
		p.compare(compareObjects("diff-", b.Object, g.Object))
	}
	if s.Open {
		p.Missing = missingText(g)
		p.Follow = v.follow(s)
		v.addForm(p, s)
	} else if last := s.Closed(); last != nil && last.Reply != nil && len(last.Reply.Edited) > 0 {
		p.Edited, _ = v.viewer(p.Path).objects("edited-", last.Reply.Edited, fileIn(p.Path, "edited"))
		p.EditedDiff = compareObjects("edited-diff-", g.Object, last.Reply.Edited)
	}
	p.Others = slices.DeleteFunc(slices.Clone(s.Replies), func(r shown.GateReply) bool {
		d := r.Decision // Exchanges has the questions
		return d.Closed || d.Action == opt.Ask && d.Verdict == opt.Accepted
	})
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

// viewer returns what shows the parts of an object of a gate on the page with a path. A link to
// another way of showing them keeps the rest as it is.
func (v gates) viewer(path string) *viewer {
	q := v.r.URL.Query()
	as, all := q.Get("as"), q.Has("all")
	to := func(as string, all bool) string {
		query := questionsOf(v.visit, q)
		if as == asText || as == asMarkdown {
			query.Set("as", as)
		}
		if all {
			query.Set("all", "1")
		}
		return query.At(path)
	}
	out := viewer{markdown: v.markdown, measure: wholeMeasure, as: as, asPath: func(as string) string { return to(as, all) }}
	if !all {
		out.measure, out.whole = usualMeasure, to(as, true)
	}
	return &out
}

// fileIn returns the path for storing the n-th part of a section of a gate.
func fileIn(path, section string) func(n int) string {
	return func(n int) string { return path + "/" + section + "/" + strconv.Itoa(n) }
}

// addForm adds to the page of an open gate the forms of those who may answer, or why there
// are none.
func (v gates) addForm(p *gatePage, s gate.ShownInterrupt) {
	_, _, p.Stored = v.stored(s)
	switch {
	case s.Gate.Kind == opt.Credential && len(s.Gate.Actions) == 0:
		p.Stored = false
		p.Why = "The task waits for an authorization elsewhere. It continues by itself once it has that."
	case p.Stored:
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

// Own returns the words of a reply of the reader that does not count, "" for any other.
func (p *gatePage) Own(r shown.GateReply) string {
	if r.Reply == nil || r.Decision.DecidedBy != p.Reader || r.Decision.Verdict == opt.Accepted {
		return ""
	}
	return shownText(textOfReply(*r.Reply))
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
	if who := slices.DeleteFunc(namesIn(g.Responders), g.Voted); len(who) > 0 {
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

// stored reports whether the page is about a stored answer of the caller, and whether that counts or is
// not judged yet.
func (v gates) stored(s gate.ShownInterrupt) (sent, counts, pending bool) {
	id := v.r.URL.Query().Get(storedField)
	for _, r := range s.Replies {
		if r.Decision.MessageID == id && r.Decision.DecidedBy == v.call.Principal {
			return id != "", r.Decision.Verdict == opt.Accepted, false
		}
	}
	return id != "", false, id != ""
}

// unusedText returns that a gate was closed before the answer of the caller.
func unusedText(s gate.ShownInterrupt) string {
	what := "The task does not wait here any more: it is " + shown.LookOfTask(s.TaskState).Word
	if last := s.Closed(); last != nil {
		what = last.Decision.Outcome()
	}
	return what + ". Your answer was not used."
}
