package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/standing"
	"longhaul/opt/wire"
)

type gatePage struct {
	*opt.Gate
	gate.ShownInterrupt
	In         *inbox // the list beside the page
	Asked      string // the title with its line breaks, "" if the one in a line has all of it
	Who        string // who may answer, "" for everyone
	Follow     shown.Follow
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

func showGate(v *visit) (view, error) {
	s, err := v.gate(v.r.PathValue("gate"))
	if err != nil {
		return view{}, err
	}
	return gateView(v, s, v.r.URL.Query(), written{})
}

// gateView returns the page of a gate beside the list of a query. w has the input of a form that was refused.
func gateView(v *visit, s gate.ShownInterrupt, list url.Values, w written) (view, error) {
	in, err := inboxOf(v, list)
	if err != nil {
		return view{}, err
	}
	in.Chosen = true
	return in.beside(v, s, w), nil
}

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

func gatePageOf(v *visit, s gate.ShownInterrupt, w written) *gatePage {
	g, path := &s.Gate, gatePath(s.Gate.ID)
	p := &gatePage{
		Gate: g, ShownInterrupt: s, Reader: v.call.Principal, Who: shown.Who(g.Responders), Written: w,
		MayStand: g.Standing != "" && v.has(call.RespondApprovals) && s.MayStand(v.call.Principal, v.call.Groups),
		Object:   viewerOf(v, path).parts("parts-", g.Object, fileIn(path, "parts")),
	}
	p.Who += shown.Behind(". You answer as the deputy of ", a2a.Visible(s.For))
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
	as, all := q.Get("as"), q.Get("all")
	as = shown.When(as == asText || as == asMarkdown, as)
	to := func(as, all string) string { return listOf(v, q).with("as", as, "all", all).At(path) }
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

// addForm adds to the page of an open gate the forms of those who may answer, or why there are none.
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
	return text + shown.Listed("; asked and silent: ", shown.Silent(g))
}

// followOf returns what happens after a decision at an open gate; nothing if the work cannot be read.
func followOf(v *visit, s gate.ShownInterrupt) shown.Follow {
	found, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: s.ObjectiveID})
	if err != nil {
		return shown.Follow{}
	}
	p, t := taskOf(found.Objective, s.TaskID)
	if t == nil {
		return shown.Follow{}
	}
	return shown.FollowOf(&s.Gate, p, t)
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

// stored reports whether the page is about a stored answer of the caller, and whether that counts or is not judged yet.
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

// written is what a person wrote in a form that was refused, so that the page keeps it.
type written struct{ url.Values }

// Is reports whether the form with an action was sent.
func (w written) Is(action string) bool { return w.Get("action") == action }

// Text returns the input in a field of the form with an action.
func (w written) Text(action, field string) string {
	return shown.When(w.Is(action), w.Get(field))
}

// Kept returns all that was written, for a page that has no form any more.
func (w written) Kept() (texts []string) {
	names := []string{"feedback", "edited", "question", "words"}
	for i := 0; w.Has("answer-" + strconv.Itoa(i)); i++ {
		names = append(names, "answer-"+strconv.Itoa(i))
	}
	for _, name := range names {
		if text := w.Get(name); text != "" {
			texts = append(texts, a2a.Visible(text))
		}
	}
	return texts
}

// answerGate delivers an answer. A form that is sent twice is one answer: the service makes
// the id of a message without one from its content.
func answerGate(v *visit) (view, error) {
	id := v.r.PathValue("gate")
	return v.submit(func() (string, error) {
		result, err := sendAnswer(v, id, v.field("digest"))
		return answeredPath(v, result), err
	}, func(f *call.Fault) (view, error) {
		s, err := v.gate(id)
		if err != nil {
			return view{}, err
		}
		out, err := gateView(v, s, sentList(v), written{v.r.PostForm})
		out.Problem = refusalMessage(v, s, f, problemOf(f))
		return out, err
	})
}

// sendAnswer delivers the answer in the form to the gate with an id, whose object has a digest.
func sendAnswer(v *visit, id, digest string) (gate.Answered, error) {
	taskID, _ := opt.TaskOfGate(id)
	v.call.Answer = &call.Answering{TaskID: taskID, GateID: id}
	params, err := gateform.Read(v.r.PostForm, id, digest)
	if err != nil {
		return gate.Answered{}, err
	}
	defer v.badges.Remove(badgeKey(v.call.Caller))
	return v.cfg.Service.Gates.AnswerInterrupt(v.r.Context(), v.call, params)
}

// sentList returns the query of the list beside the page whose form was sent, none if it had none.
func sentList(v *visit) url.Values {
	q, _ := url.ParseQuery(v.field("list"))
	return q
}

// answeredPath returns the page to show after an answer: the list with the next gate, or the same
// gate while the answer is not judged or decides nothing.
func answeredPath(v *visit, a gate.Answered) string {
	l := listOf(v, sentList(v))
	switch action := v.field("action"); {
	case a.Pending:
		return l.At(gatePath(a.ID), storedField, a.MessageID)
	case !v.r.PostForm.Has("list"), action == string(opt.Ask), action == gateform.Say:
		return l.At(gatePath(a.ID))
	}
	return l.with("done", a.ID, "open", v.field("after")).At(inboxPath)
}

func refusalMessage(v *visit, s gate.ShownInterrupt, f *call.Fault, p problem) string {
	switch {
	case !s.Open:
		return unusedText(s)
	case f.Reason == "OBJECT_CHANGED":
		return "The object has changed since you opened the page. Nothing was decided. Look at it as it is now, and answer again."
	case f.Kind == call.InvalidParams:
		return p.Text + " Nothing was decided. What you wrote is below."
	case f.Kind == call.Unsupported && s.Gate.Voted(v.call.Principal):
		return "You have answered here before. The task waits for others."
	case p.Status == http.StatusForbidden, p.Status == http.StatusConflict:
		return p.Text + " Nothing was decided."
	}
	return p.Title + ". " + p.Text
}

const inboxSize = 50

const inboxRefresh = 5

// An inbox is the data of the page with open gates: their list, and beside it one of them or
// several that are decided together.
type inbox struct {
	listing
	Groups [][]shown.Interrupt // those that the same task of the same planner has opened stand together
	Total  int
	Next   string // token of the next page, "" for none
	now    time.Time

	Gate     *gatePage // nil for none
	Together *together // likewise
	Chosen   bool      // Gate or Together was asked for; the first gate is shown only where there is room

	Decided *gate.ShownInterrupt // the gate whose answer has led to this page, nil for none
	Alike   int                  // how many others were answered with it

	Proposals []standing.Proposal // what answers of the caller propose
}

// mostSearched is the longest text to search for.
const mostSearched = 200

// listOf returns what a query says about the list of gates.
func listOf(v *visit, q url.Values) listing {
	l := newListing(q, "objective", "context", "page").with("text", shorten(q.Get("text"), mostSearched))
	if !v.has(call.RespondApprovals) || q.Get("show") == "all" {
		l = l.with("show", "all")
	}
	return l
}

// Mine reports whether the list has only gates that wait for the caller.
func (in inbox) Mine() bool { return !in.Has("show") }

// To returns the address of a page of the list, by its token, for show.
func (in inbox) To(page, show string) string {
	return in.with("page", page, "show", show).At(inboxPath)
}

// Filtered reports whether the list leaves out gates that a search does not find.
func (in inbox) Filtered() bool { return in.Has("text") || in.Has("objective") || in.Has("context") }

// inboxOf returns the inbox with the list of a query: the nearest deadline first, then the longest wait. A group stands
// where the first of its gates does.
func inboxOf(v *visit, q url.Values) (inbox, error) {
	in := inbox{listing: listOf(v, q), now: v.cfg.Now()}
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{
		Filter: shown.InterruptFilter{Urgent: true, Text: in.Get("text"), ObjectiveID: in.Get("objective"), ContextID: in.Get("context"), Limit: inboxSize},
		Mine:   in.Mine(), PageToken: in.Get("page"),
	})
	alike := func(i shown.Interrupt) string {
		return i.Planner + "\x00" + cmp.Or(i.TaskName, i.TaskID) + "\x00" + string(i.Gate.Kind)
	}
	for _, i := range page.Interrupts {
		at := slices.IndexFunc(in.Groups, func(g []shown.Interrupt) bool { return alike(g[0]) == alike(i) })
		if at < 0 {
			at, in.Groups = len(in.Groups), append(in.Groups, nil)
		}
		in.Groups[at] = append(in.Groups[at], i)
	}
	in.Total, in.Next = page.Total, page.Next
	if err == nil && in.Mine() {
		var list wire.StandingList
		list, err = v.cfg.Service.Standing.List(v.r.Context(), v.call, struct{}{})
		in.Proposals = list.Proposals
	}
	return in, err
}

// showInbox shows the list, and beside it the gates of the query that are to be decided
// together, or the gate of the query, open or closed, or the first one. A page that is fetched
// again names the gate that it shows, so that no other one takes its place under the mouse.
func showInbox(v *visit) (view, error) {
	q := v.r.URL.Query()
	in, err := inboxOf(v, q)
	if err != nil {
		return view{}, err
	}
	if q.Has("done") {
		if done, err := v.gate(q.Get("done")); err == nil { // it is known
			in.Decided = &done
			n, _ := strconv.Atoi(q.Get("more"))
			in.Alike = min(max(0, n), inboxSize-1)
		}
	}
	if with := q["with"]; len(with) > 0 {
		return decidedTogether(v, in, with, written{})
	}
	id := cmp.Or(q.Get("open"), q.Get("beside"))
	if len(in.Groups) > 0 {
		id = cmp.Or(id, in.Groups[0][0].Gate.ID)
	}
	s, err := v.gate(id)
	if call.Is(err, call.NotFound) { // there is none, or it was removed meanwhile
		return in.view("Inbox"), nil
	}
	if err != nil {
		return view{}, err
	}
	in.Chosen = q.Get("open") != ""
	out := in.beside(v, s, written{})
	out.Title = "Inbox"
	return out, nil
}

func (in inbox) view(title string) view {
	return view{Template: "inbox", Title: title, Refresh: inboxRefresh, Data: in}
}

// After returns the id of the gate after one, or of the one before the last; "" if there is no other.
func (in inbox) After(id string) string {
	ids := each(slices.Concat(in.Groups...), func(i shown.Interrupt) string { return i.Gate.ID })
	switch at := slices.Index(ids, id); {
	case at+1 < len(ids):
		return ids[at+1]
	case at > 0:
		return ids[at-1]
	}
	return ""
}

// Beside returns the address of the page that decides all approvals of a group together, "" if that is impossible.
func (in inbox) Beside(group []shown.Interrupt) string {
	if len(group) == 1 || !in.Mine() || group[0].Gate.Kind != opt.Approval {
		return ""
	}
	l := in.with()
	l.Values["with"] = each(group, func(i shown.Interrupt) string { return i.Gate.ID })
	return l.At(inboxPath)
}

// Current reports whether a gate is the one beside the list, and Picked whether it is one of those that are decided
// together.
func (in inbox) Current(id string) bool { return in.Gate != nil && in.Gate.ID == id }
func (in inbox) Picked(id string) bool {
	return in.Together != nil && slices.Contains(in.Together.ids, id)
}

// A deadline is what happens at an open gate without an answer, and when.
type deadline struct {
	At     a2a.Time
	Ending string
	Gone   int  // percent of the time until then that is over
	Late   bool // it is within the hour
}

// Due returns the deadline of a gate, the zero value for none.
func (in inbox) Due(g opt.Gate) (d deadline) {
	if g.ExpiresAt.IsZero() {
		return d
	}
	ahead, left := gateform.Ahead(&g), g.ExpiresAt.Millis()-in.now.UnixMilli()
	d = deadline{At: g.ExpiresAt, Ending: ahead[len(ahead)-1].What, Late: left < time.Hour.Milliseconds()}
	if all := g.ExpiresAt.Millis() - g.RequestedAt.Millis(); all > 0 {
		d.Gone = int(100 - min(100, max(0, 100*left/all)))
	}
	return d
}

type together struct {
	Gates   []togetherGate
	Left    []string // titles of those that cannot be decided here
	Accepts bool
	Rejects bool
	Written written
	ids     []string // of all
}

type togetherGate struct {
	shown.Interrupt
	Object parts
}

func decidedTogether(v *visit, in inbox, ids []string, w written) (view, error) {
	t := &together{Accepts: true, Rejects: true, Written: w, ids: ids}
	for _, id := range ids[:min(len(ids), inboxSize)] {
		s, err := v.gate(id)
		if err != nil {
			return view{}, err
		}
		g := &s.Gate
		if !s.MayAnswer || g.Kind != opt.Approval || !g.Allows(opt.Accept) && !g.Allows(opt.Reject) {
			t.Left = append(t.Left, gateTitle(g))
			continue
		}
		t.Accepts, t.Rejects = t.Accepts && g.Allows(opt.Accept), t.Rejects && g.Allows(opt.Reject)
		path := in.At(gatePath(id))
		show := viewerOf(v, path)
		show.bytes = mostTogether / len(ids)
		object := show.parts("with-"+strconv.Itoa(len(t.Gates))+"-", g.Object, fileIn(path, "parts"))
		t.Gates = append(t.Gates, togetherGate{s.Interrupt, object})
	}
	in.Together, in.Chosen = t, true
	out := in.view("Decide together")
	out.Refresh = refreshEvery
	return out, nil
}

// mostTogether is how many bytes of their objects the page of several gates shows.
const mostTogether = 100 << 10

// decideTogether delivers the same answer to several gates, to each with the digest of its own
// object. Each answer is judged for itself.
func decideTogether(v *visit) (view, error) {
	ids, digests := v.r.PostForm["with"], v.r.PostForm["digest"]
	action := opt.Action(v.field("action"))
	if len(ids) == 0 || len(ids) > inboxSize || len(ids) != len(digests) || action != opt.Accept && action != opt.Reject {
		return view{}, call.Invalid(call.Violation{Field: "with", Description: "names no questions that can be decided together"})
	}
	var refused []string
	return v.submit(func() (string, error) {
		var last error
		for i, id := range ids {
			answer := func() error {
				_, err := sendAnswer(v, id, digests[i])
				return err
			}
			if fault := v.cfg.Service.Guard(v.call, answer); fault != nil {
				refused, last = append(refused, id), fault
			}
		}
		return listOf(v, sentList(v)).At(inboxPath, "done", ids[0], "more", strconv.Itoa(len(ids)-1)), last
	}, func(f *call.Fault) (view, error) {
		in, err := inboxOf(v, sentList(v))
		if err != nil {
			return view{}, err
		}
		out, err := decidedTogether(v, in, refused, written{v.r.PostForm})
		out.Status = http.StatusConflict
		out.Problem = fmt.Sprintf("%d of %d were decided. Look at the others. %s", len(ids)-len(refused), len(ids), problemOf(f).Text)
		return out, err
	})
}
