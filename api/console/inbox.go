package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

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
	questions
	Groups [][]gateCard // those that the same task of the same planner has opened stand together
	Total  int
	Next   string // path of the next page, "" for none

	Gate     *gatePage // nil for none
	Together *together // likewise
	Chosen   bool      // Gate or Together was asked for; the first gate is shown only where there is room

	Decided *gate.ShownInterrupt // the gate whose answer has led to this page, nil for none
	Alike   int                  // how many others were answered with it

	Proposals []standing.Proposal // what answers of the caller propose
}

// A gateCard is an open gate in the inbox.
type gateCard struct {
	shown.Interrupt
	Gone   int    // percent of the time until it is due that is over
	Ending string // what happens then
	Late   bool   // it is due within the hour
}

// ID returns the id of the gate.
func (c gateCard) ID() string { return c.Gate.ID }

// alike returns a text that is the same for gates of the same task of the same planner.
func (c gateCard) alike() string {
	return c.Planner + "\x00" + cmp.Or(c.TaskName, c.TaskID) + "\x00" + string(c.Gate.Kind)
}

// mostSearched is the longest text to search for.
const mostSearched = 200

// A questions is what a list of gates shows.
type questions struct{ listing }

// questionsOf returns the list of gates in a query.
func questionsOf(v *visit, q url.Values) questions {
	l := newListing(q, "objective", "context", "page").with("text", shorten(q.Get("text"), mostSearched))
	if !v.has(call.RespondApprovals) || q.Get("show") == "all" {
		l = l.with("show", "all")
	}
	return questions{l}
}

// Mine reports whether the list has only gates that wait for the caller.
func (l questions) Mine() bool { return !l.Has("show") }

// Path returns the address of the list alone.
func (l questions) Path() string { return l.At(inboxPath) }

// On returns the address of a page of the list, by its token, for show.
func (l questions) On(page, show string) string {
	return l.with("page", page, "show", show).At(inboxPath)
}

// Filtered reports whether l leaves out gates that a search does not find.
func (l questions) Filtered() bool { return l.Has("text") || l.Has("objective") || l.Has("context") }

// readInbox reads the list of the inbox: the nearest deadline first, then the longest wait. A group stands where the
// first of its gates does.
func readInbox(v *visit, l questions) (inbox, error) {
	in := inbox{questions: l}
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{
		Filter: shown.InterruptFilter{Urgent: true, Text: l.Get("text"), ObjectiveID: l.Get("objective"), ContextID: l.Get("context"), Limit: inboxSize},
		Mine:   l.Mine(), PageToken: l.Get("page"),
	})
	for _, i := range page.Interrupts {
		c := cardOf(i, v.cfg.Now())
		at := slices.IndexFunc(in.Groups, func(g []gateCard) bool { return g[0].alike() == c.alike() })
		if at < 0 {
			at, in.Groups = len(in.Groups), append(in.Groups, nil)
		}
		in.Groups[at] = append(in.Groups[at], c)
	}
	in.Total = page.Total
	if page.Next != "" {
		in.Next = l.On(page.Next, l.Get("show"))
	}
	if err != nil || !l.Mine() {
		return in, err
	}
	list, err := v.cfg.Service.Standing.List(v.r.Context(), v.call, struct{}{})
	in.Proposals = list.Proposals
	return in, err
}

// showInbox shows the list, and beside it the gates of the query that are to be decided
// together, or the gate of the query, open or closed, or the first one. A page that is fetched
// again names the gate that it shows, so that no other one takes its place under the mouse.
func showInbox(v *visit) (view, error) {
	q := v.r.URL.Query()
	in, err := readInbox(v, questionsOf(v, q))
	if err != nil {
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
		id = cmp.Or(id, in.Groups[0][0].ID())
	}
	s, err := v.gate(id)
	if call.Is(err, call.NotFound) { // there is none, or it was removed meanwhile
		return in.view("Inbox"), nil
	}
	if err != nil {
		return view{}, err
	}
	in.Chosen = q.Get("open") != ""
	out := besideList(v, in, s, written{})
	out.Title = "Inbox"
	return out, nil
}

// view returns the page of an inbox.
func (in inbox) view(title string) view {
	return view{Template: "inbox", Title: title, Refresh: inboxRefresh, Data: in}
}

// after returns the id of the card after one, or of the one before the last; "" if there is no
// other.
func (in inbox) after(id string) string {
	ids := each(slices.Concat(in.Groups...), gateCard.ID)
	switch at := slices.Index(ids, id); {
	case at+1 < len(ids):
		return ids[at+1]
	case at > 0:
		return ids[at-1]
	}
	return ""
}

// Beside returns the address of the page that decides all approvals of a group together, "" if that is impossible.
func (in inbox) Beside(group []gateCard) string {
	if len(group) == 1 || !in.Mine() || group[0].Gate.Kind != opt.Approval {
		return ""
	}
	var with []string
	for _, c := range group {
		with = append(with, "with", c.ID())
	}
	return in.At(inboxPath, with...)
}

// Current reports whether a gate is the one beside the list, and Picked whether it is one of those that are decided
// together.
func (in inbox) Current(id string) bool { return in.Gate != nil && in.Gate.ID == id }
func (in inbox) Picked(id string) bool {
	return in.Together != nil && slices.Contains(in.Together.ids, id)
}

// cardOf returns an open gate as the inbox shows it.
func cardOf(i shown.Interrupt, now time.Time) gateCard {
	c := gateCard{Interrupt: i}
	if due := i.Gate.ExpiresAt; !due.IsZero() {
		ahead := gateform.Ahead(&i.Gate)
		c.Ending = ahead[len(ahead)-1].What
		left := due.Millis() - now.UnixMilli()
		c.Late = left < time.Hour.Milliseconds()
		if all := due.Millis() - i.Gate.RequestedAt.Millis(); all > 0 {
			c.Gone = int(100 - min(100, max(0, 100*left/all)))
		}
	}
	return c
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
	gateCard
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
		t.Gates = append(t.Gates, togetherGate{cardOf(s.Interrupt, v.cfg.Now()), object})
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
	l := questionsOf(v, sentList(v))
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
		return l.At(inboxPath, "done", ids[0], "more", strconv.Itoa(len(ids)-1)), last
	}, func(f *call.Fault) (view, error) {
		in, err := readInbox(v, l)
		if err != nil {
			return view{}, err
		}
		out, err := decidedTogether(v, in, refused, written{v.r.PostForm})
		out.Status = http.StatusConflict
		out.Problem = fmt.Sprintf("%d of %d were decided. Look at the others. %s", len(ids)-len(refused), len(ids), problemOf(f).Text)
		return out, err
	})
}
