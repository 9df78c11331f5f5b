package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/opt"
	"longhaul/opt/shown"
	"longhaul/opt/standing"
)

// inboxSize is how many gates a page of the inbox shows.
const inboxSize = 50

// inboxRefresh is after how many seconds the inbox may have changed.
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

// inboxOf returns the inbox with the list of gates in a query, which was not read yet.
func inboxOf(v *visit, q url.Values) inbox {
	l := newListing(q, "objective", "context", "page").with("text", shorten(q.Get("text"), mostSearched))
	if !v.has(call.RespondApprovals) || q.Get("show") == "all" {
		l = l.with("show", "all")
	}
	return inbox{listing: l, now: v.cfg.Now()}
}

// Mine reports whether the list has only gates that wait for the caller.
func (in inbox) Mine() bool { return !in.Has("show") }

// To returns the address of a page of the list, by its token, for show.
func (in inbox) To(page, show string) string {
	return in.with("page", page, "show", show).At(inboxPath)
}

// Filtered reports whether the list leaves out gates that a search does not find.
func (in inbox) Filtered() bool { return in.Has("text") || in.Has("objective") || in.Has("context") }

// read reads the list: the nearest deadline first, then the longest wait. A group stands where the first of its gates
// does.
func (in *inbox) read(v *visit) error {
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
	if err != nil || !in.Mine() {
		return err
	}
	list, err := v.cfg.Service.Standing.List(v.r.Context(), v.call, struct{}{})
	in.Proposals = list.Proposals
	return err
}

// showInbox shows the list, and beside it the gates of the query that are to be decided
// together, or the gate of the query, open or closed, or the first one. A page that is fetched
// again names the gate that it shows, so that no other one takes its place under the mouse.
func showInbox(v *visit) (view, error) {
	q := v.r.URL.Query()
	in := inboxOf(v, q)
	if err := in.read(v); err != nil {
		return view{}, err
	}
	if q.Has("done") {
		in.addDecided(v, q.Get("done"), q.Get("more"))
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

// view returns the page of an inbox.
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
	var with []string
	for _, c := range group {
		with = append(with, "with", c.Gate.ID)
	}
	return in.At(inboxPath, with...)
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

// addDecided adds the gate to which the caller has sent an answer, if it is known, and how many alike were answered
// with it.
func (in *inbox) addDecided(v *visit, id, alike string) {
	s, err := v.gate(id)
	if err != nil {
		return
	}
	in.Decided = &s
	if n, err := strconv.Atoi(alike); err == nil && n > 0 && n < inboxSize {
		in.Alike = n
	}
}

// A together has gates that are decided at once, each with its own object.
type together struct {
	Gates   []togetherGate
	Left    []string // titles of those that cannot be decided here
	Accepts bool
	Rejects bool
	Written written
	ids     []string // of all
}

// A togetherGate is one of those gates.
type togetherGate struct {
	shown.Interrupt
	Object parts
}

// decidedTogether returns the page of several gates that are decided together.
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
	in := inboxOf(v, sentList(v))
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
		return in.At(inboxPath, "done", ids[0], "more", strconv.Itoa(len(ids)-1)), last
	}, func(f *call.Fault) (view, error) {
		if err := in.read(v); err != nil {
			return view{}, err
		}
		out, err := decidedTogether(v, in, refused, written{v.r.PostForm})
		out.Status = http.StatusConflict
		out.Problem = fmt.Sprintf("%d of %d were decided. Look at the others. %s", len(ids)-len(refused), len(ids), problemOf(f).Text)
		return out, err
	})
}
