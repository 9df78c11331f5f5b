package console

import (
	"cmp"
	"maps"
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
	Groups []gateGroup
	Total  int
	Next   string // path of the next page, "" for none

	Gate     *gatePage // nil for none
	Together *together // likewise
	Chosen   bool      // Gate or Together was asked for; the first gate is shown only where there is room
	Decided  *decided  // the answer that has led to this page, nil for none

	Proposals []standing.Proposal // what answers of the caller propose
}

// A gateGroup has the gates of a page that the same task of the same planner has opened.
type gateGroup struct {
	Task, Planner string
	Cards         []gateCard
	Together      string // path of the page that decides them together, "" for none
}

// A gateCard is an open gate in the inbox.
type gateCard struct {
	shown.Interrupt
	Path, Title string
	Gist        string // what its object is about
	People      string // who can answer it
	Gone        int    // percent of the time until it is due that is over
	Ending      string // what happens then
	Late        bool   // it is due within the hour
	Current     bool   // it is the gate beside the list
	Chosen      bool   // it is one of those that are decided together
}

// ID returns the id of the gate.
func (c gateCard) ID() string { return c.Gate.ID }

// alike returns a text that is the same for gates of the same task of the same planner.
func (c gateCard) alike() string {
	return c.Planner + "\x00" + cmp.Or(c.TaskName, c.TaskID) + "\x00" + string(c.Gate.Kind)
}

// A listing is what a list shows: those fields of its address that it has.
type listing struct{ url.Values }

// newListing returns the listing of a query, of the fields with some names.
func newListing(q url.Values, fields ...string) listing {
	l := listing{url.Values{}}
	for _, name := range fields {
		for _, value := range q[name] {
			if value = strings.TrimSpace(value); value != "" {
				l.Add(name, value)
			}
		}
	}
	return l
}

// with returns l with another value in a field.
func (l listing) with(name, value string) listing {
	q := maps.Clone(l.Values)
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	return listing{q}
}

// At returns the address of a page with l and more fields, names and values in turn.
func (l listing) At(path string, more ...string) string {
	q := maps.Clone(l.Values)
	for i := 0; i < len(more); i += 2 {
		q[more[i]] = append(q[more[i]], more[i+1])
	}
	if len(q) == 0 && path != "" {
		return path
	}
	return path + "?" + q.Encode()
}

// mostSearched is the longest text to search for.
const mostSearched = 200

// questionsOf returns the listing of gates in a query.
func questionsOf(v *visit, q url.Values) listing {
	l := newListing(q, "objective", "context", "page").with("text", shorten(q.Get("text"), mostSearched))
	if !v.has(call.RespondApprovals) || q.Get("show") == "all" {
		return l.with("show", "all")
	}
	return l
}

// Mine reports whether a list of gates has only those that wait for the caller.
func (l listing) Mine() bool { return !l.Has("show") }

// Path returns the address of the list of gates alone.
func (l listing) Path() string { return l.At(inboxPath) }

// On returns the address of a page of the list of gates, by its token, for show.
func (l listing) On(page, show string) string { return l.with("page", page).with("show", show).Path() }

// Filtered reports whether l leaves out gates that a search does not find.
func (l listing) Filtered() bool { return l.Has("text") || l.Has("objective") || l.Has("context") }

// readInbox reads the list of the inbox: the nearest deadline first, then the longest wait.
func readInbox(v *visit, l listing) (inbox, error) {
	in := inbox{listing: l}
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{
		Filter: shown.InterruptFilter{Urgent: true, Text: l.Get("text"), ObjectiveID: l.Get("objective"), ContextID: l.Get("context"), Limit: inboxSize},
		Mine:   l.Mine(), PageToken: l.Get("page"),
	})
	for _, i := range page.Interrupts {
		in.add(i, v.cfg.Now())
	}
	for i := range in.Groups {
		in.Groups[i].setTogether(l)
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
		in.Decided = gates{v}.decided(q.Get("done"), q.Get("more"))
	}
	if with := q["with"]; len(with) > 0 {
		return gates{v}.together(in, with, written{})
	}
	id := cmp.Or(q.Get("open"), q.Get("beside"))
	if cards := in.cards(); id == "" && len(cards) > 0 {
		id = cards[0].Gate.ID
	}
	s, err := v.cfg.Service.Gates.GetInterrupt(v.r.Context(), v.call, id)
	if call.Is(err, call.NotFound) { // there is none, or it was removed meanwhile
		return in.view("Inbox"), nil
	}
	if err != nil {
		return view{}, err
	}
	in.Chosen = q.Get("open") != ""
	out := gates{v}.beside(in, s, written{})
	out.Title = "Inbox"
	return out, nil
}

// view returns the page of an inbox.
func (in inbox) view(title string) view {
	return view{Template: "inbox", Title: title, Refresh: inboxRefresh, Data: in}
}

// cards returns all cards in the order of the page.
func (in inbox) cards() (list []*gateCard) {
	for _, g := range in.Groups {
		for i := range g.Cards {
			list = append(list, &g.Cards[i])
		}
	}
	return list
}

// after returns the id of the card after one, or of the one before the last; "" if there is no
// other.
func (in inbox) after(id string) string {
	cards := in.cards()
	at := slices.IndexFunc(cards, func(c *gateCard) bool { return c.Gate.ID == id })
	switch {
	case at+1 < len(cards):
		return cards[at+1].Gate.ID
	case at > 0:
		return cards[at-1].Gate.ID
	}
	return ""
}

// add adds an open gate to its group, which stands where the first of its gates does.
func (in *inbox) add(i shown.Interrupt, now time.Time) {
	c := cardOf(i, now)
	c.Path = in.At(gatePath(c.Gate.ID))
	at := slices.IndexFunc(in.Groups, func(g gateGroup) bool { return g.Cards[0].alike() == c.alike() })
	if at < 0 {
		at = len(in.Groups)
		in.Groups = append(in.Groups, gateGroup{Task: shorten(a2a.Visible(i.TaskName), titleWidth), Planner: shorten(a2a.Visible(strings.TrimPrefix(i.Planner, "playbook ")), titleWidth)})
	}
	in.Groups[at].Cards = append(in.Groups[at].Cards, c)
}

// setTogether sets the path that decides all approvals of g together.
func (g *gateGroup) setTogether(l listing) {
	if len(g.Cards) == 1 || !l.Mine() || g.Cards[0].Gate.Kind != opt.Approval {
		return
	}
	var with []string
	for _, c := range g.Cards {
		with = append(with, "with", c.Gate.ID)
	}
	g.Together = l.At(inboxPath, with...)
}

// cardOf returns an open gate as the inbox shows it.
func cardOf(i shown.Interrupt, now time.Time) gateCard {
	c := gateCard{Interrupt: i, Title: gateTitle(&i.Gate), Gist: gistOf(&i.Gate), People: peopleText(&i.Gate)}
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

// A decided is a gate to which the caller has sent an answer.
type decided struct {
	*gate.ShownInterrupt
	Title string
	More  int // how many alike were sent with it
}

// decided returns the gate to which the caller has sent an answer, nil if it is not known.
func (v gates) decided(id, more string) *decided {
	s, err := v.cfg.Service.Gates.GetInterrupt(v.r.Context(), v.call, id)
	if err != nil {
		return nil
	}
	d := &decided{ShownInterrupt: &s, Title: gateTitle(&s.Gate)}
	if n, err := strconv.Atoi(more); err == nil && n > 0 && n < inboxSize {
		d.More = n
	}
	return d
}

// A together has gates that are decided at once, each with its own object.
type together struct {
	Gates   []togetherGate
	Left    []string // titles of those that cannot be decided here
	Accepts bool
	Rejects bool
	Written written
}

// A togetherGate is one of those gates.
type togetherGate struct {
	gateCard
	Objects []object
	More    int // parts that are not shown
}

// together returns the page of several gates that are decided together.
func (v gates) together(in inbox, ids []string, w written) (view, error) {
	t := &together{Accepts: true, Rejects: true, Written: w}
	for _, id := range ids[:min(len(ids), inboxSize)] {
		s, err := v.cfg.Service.Gates.GetInterrupt(v.r.Context(), v.call, id)
		if err != nil {
			return view{}, err
		}
		g := &s.Gate
		if !s.MayAnswer || g.Kind != opt.Approval || !g.Allows(opt.Accept) && !g.Allows(opt.Reject) {
			t.Left = append(t.Left, gateTitle(g))
			continue
		}
		t.Accepts, t.Rejects = t.Accepts && g.Allows(opt.Accept), t.Rejects && g.Allows(opt.Reject)
		one := togetherGate{gateCard: cardOf(s.Interrupt, v.cfg.Now())}
		one.Path = in.At(gatePath(id))
		show := v.viewer(one.Path)
		show.bytes = mostTogether / len(ids)
		one.Objects, one.More = show.objects("with-"+strconv.Itoa(len(t.Gates))+"-", g.Object, fileIn(one.Path, "parts"))
		t.Gates = append(t.Gates, one)
	}
	for _, c := range in.cards() {
		c.Chosen = slices.Contains(ids, c.Gate.ID)
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
	why := ""
	for i, id := range ids {
		if _, fault := sendAnswer(v, id, digests[i]); fault != nil {
			refused, why = append(refused, id), problemOf(fault).Text
		}
	}
	v.badges.Remove(badgeKey(v.call.Caller))
	l := questionsOf(v, sentList(v))
	if len(refused) == 0 {
		return view{Location: l.At(inboxPath, "done", ids[0], "more", strconv.Itoa(len(ids)-1))}, nil
	}
	if !v.has(call.ReadRuns) {
		return problem{http.StatusConflict, "Not all were decided", why}.view(), nil
	}
	in, err := readInbox(v, l)
	if err != nil {
		return view{}, err
	}
	out, err := gates{v}.together(in, refused, written{v.field("action"), v.r.PostForm})
	out.Status = http.StatusConflict
	out.Problem = strconv.Itoa(len(ids)-len(refused)) + " of " + strconv.Itoa(len(ids)) + " were decided. Look at the others. " + why
	return out, err
}
