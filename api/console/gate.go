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
	In         *inbox // the list beside the page
	Asked      string // the title with its line breaks, "" if the one in a line has all of it
	Who        string // who may answer, "" for everyone
	Follow     follow
	Remark     string       // with which the object was sent back last
	Changes    []comparison // with the object that was sent back, part by part
	Removed    []comparison // those that are about no part of Object
	Object     parts
	Edited     parts // that replace the object of the decision with which it was closed
	EditedDiff []comparison
	Reader     string         // the principal of the caller
	Form       *gateform.Form // nil if the caller may not answer
	Why        string         // why there is no form at an open gate
	Stored     bool           // an answer of the caller is stored, and no worker has judged it yet
	Written    written
	MayStand   bool // the caller may decide about the next such gates, too
}

// showGate shows a gate, open or closed, beside the list.
func showGate(v *visit) (view, error) {
	s, err := v.gate(v.r.PathValue("gate"))
	if err != nil {
		return view{}, err
	}
	return gateView(v, s, v.r.URL.Query(), written{})
}

// gateView returns the page of a gate beside the list of a query. w has the input of a form that was
// refused.
func gateView(v *visit, s gate.ShownInterrupt, list url.Values, w written) (view, error) {
	in := inboxOf(v, list)
	in.Chosen = true
	if err := in.read(v); err != nil {
		return view{}, err
	}
	return in.beside(v, s, w), nil
}

// beside returns the page of the list with a gate beside it.
func (in inbox) beside(v *visit, s gate.ShownInterrupt, w written) view {
	in.Gate = gatePageOf(v, s, w)
	in.Gate.In = &in
	out := in.view(gateTitle(&s.Gate))
	if !s.TaskState.Ended() {
		out.Events = s.TaskID
	}
	sent, counts, _ := stored(v, s)
	if closing := s.Closed(); !s.Open && sent && !counts && closing != nil && closing.Decision.DecidedBy != v.call.Principal {
		out.Problem = unusedText(s)
	}
	return out
}

// gatePageOf returns the data of the page of a gate, without its list.
func gatePageOf(v *visit, s gate.ShownInterrupt, w written) *gatePage {
	g, path := &s.Gate, gatePath(s.Gate.ID)
	p := &gatePage{
		Gate: g, ShownInterrupt: s, Reader: v.call.Principal, Who: shown.Who(g.Responders), Written: w,
		MayStand: g.Standing != "" && v.has(call.RespondApprovals) && s.MayStand(v.call.Principal, v.call.Groups),
		Object:   viewerOf(v, path).parts("parts-", g.Object, fileIn(path, "parts")),
	}
	if s.For != "" {
		p.Who += ". You answer as the deputy of " + a2a.Visible(s.For)
	}
	if whole := strings.TrimSpace(a2a.Visible(g.Title)); whole != shorten(whole, titleWidth) {
		p.Asked = shownText(whole)
	}
	if b := s.Before; b != nil && b.Reply.Reply != nil {
		p.Remark, p.Changes = b.Reply.Reply.Remark(), compareObjects("diff-", b.Object, g.Object)
	}
	n := min(len(p.Changes), len(p.Object.List))
	for i := range n {
		p.Object.List[i].Diff = &p.Changes[i]
	}
	p.Removed = p.Changes[n:]
	if s.Open {
		p.Follow = followOf(v, s)
		addForm(v, p, s)
	} else if last := s.Closed(); last != nil && last.Reply != nil && len(last.Reply.Edited) > 0 {
		p.Edited = viewerOf(v, path).parts("edited-", last.Reply.Edited, fileIn(path, "edited"))
		p.EditedDiff = compareObjects("edited-diff-", g.Object, last.Reply.Edited)
	}
	return p
}

// Others returns the replies that did not close the gate. Exchanges has the questions.
func (p *gatePage) Others() []shown.GateReply {
	return filter(p.Replies, func(r shown.GateReply) bool {
		return !r.Decision.Closed && (r.Decision.Action != opt.Ask || r.Decision.Verdict != opt.Accepted)
	})
}

// viewerOf returns what shows the parts of an object of a gate on the page with a path. A link to
// another way of showing them keeps the rest as it is.
func viewerOf(v *visit, path string) *viewer {
	q := v.r.URL.Query()
	in, as, all := inboxOf(v, q), q.Get("as"), q.Get("all")
	if as != asText && as != asMarkdown {
		as = ""
	}
	to := func(as, all string) string { return in.with("as", as, "all", all).At(path) }
	out := viewer{markdown: v.markdown, measure: wholeMeasure, as: as, asPath: func(as string) string { return to(as, all) }}
	if all == "" {
		out.measure, out.whole = usualMeasure, to(as, "1")
	}
	return &out
}

// fileIn returns the path for storing the n-th part of a section of a gate.
func fileIn(path, section string) func(n int) string {
	return func(n int) string { return path + "/" + section + "/" + strconv.Itoa(n) }
}

// addForm adds to the page of an open gate the forms of those who may answer, or why there
// are none.
func addForm(v *visit, p *gatePage, s gate.ShownInterrupt) {
	_, _, p.Stored = stored(v, s)
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

// Missing returns whose votes an open gate waits for, "" if one answer is enough.
func (p *gatePage) Missing() string {
	g := p.Gate
	if !p.Open || !g.Responders.Several() {
		return ""
	}
	accepts := filter(g.Votes, func(v opt.Vote) bool { return v.Action == opt.Accept })
	text := fmt.Sprintf("%d of %d have accepted", len(accepts), g.Responders.Accepts)
	return text + listed("; asked and silent: ", each(silentAt(g), nameText))
}

// A follow says what happens after a decision, "" for what cannot be decided.
type follow struct{ Accept, Reject, Refine string }

// followOf returns what happens after a decision at an open gate; nothing if the work cannot be read.
func followOf(v *visit, s gate.ShownInterrupt) follow {
	found, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: s.ObjectiveID})
	if err != nil {
		return follow{}
	}
	p, t := taskOf(found.Objective, s.TaskID)
	if t == nil {
		return follow{}
	}
	next := namesOf(p, func(other *opt.Task) bool { return !other.State.Ended() && slices.Contains(p.Before(other), t) })
	if t.Ask == nil { // its executor gets the answer
		return follow{Accept: strings.TrimSuffix("this task continues with the answer, then: "+next, ", then: ")}
	}
	f := follow{Accept: cmp.Or(next, "no other task waits for it")}
	if f.Reject = f.Accept; !t.Optional() {
		f.Reject = "the plan " + quoted(p.Name) + " fails"
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
	return listed("", each(filter(p.Tasks, chosen), func(t *opt.Task) string { return nameText(t.Name) }))
}

// showGatePart sends a part of the object of a gate, or of what took its place.
func showGatePart(v *visit) (view, error) {
	s, err := v.gate(v.r.PathValue("gate"))
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
func stored(v *visit, s gate.ShownInterrupt) (sent, counts, pending bool) {
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
