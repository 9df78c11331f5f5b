package console

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// inboxSize is how many gates a page of the inbox shows.
const inboxSize = 50

// An inbox is the data of the page with open gates.
type inbox struct {
	Mine, CanAnswer bool // only gates that wait for the caller; the caller has the scope to answer
	Text            string
	Objective       string // id of the only objective, "" for all
	Context         string // likewise of the context
	Cards           []gateCard
	Total           int
	Next            string // path of the next page, "" for none
	MinePath        string // paths of both filters
	AllPath         string
	Proposals       []proposal
}

// A proposal is a standing decision that answers of the caller propose.
type proposal struct {
	Action, Gates string
	Alike         int
	Command       string // that makes it
}

// proposals returns what answers of the caller propose.
func proposals(v *visit) (out []proposal, err error) {
	list, err := v.cfg.Service.Standing.List(v.r.Context(), v.call, struct{}{})
	for _, p := range list.Proposals {
		holds := "'" + strings.ReplaceAll(a2a.Visible(p.Holds), "'", `'\''`) + "'" // it has texts of others
		command := fmt.Sprintf("longhaul standing make %s --if %s --for 8h --uses 10", p.MadeAt, holds)
		if p.Action == opt.Reject {
			command += " --reject"
		}
		out = append(out, proposal{p.Action.Outcome(), p.Gates, p.Alike, command})
	}
	return out, err
}

// A gateCard is an open gate in the inbox.
type gateCard struct {
	ID, Path        string
	Title           string
	Objective, Task string
	Principal       string
	Since, Due      a2a.Time
	Ending          string // what happens when it is due
	Late            bool   // it is due within the hour
}

// showInbox shows the gates that are open: the nearest deadline first, then the longest
// wait.
func showInbox(v *visit) (view, error) {
	q := v.r.URL.Query()
	in := inbox{
		Text: shorten(q.Get("text"), mostSearched), Objective: q.Get("objective"), Context: q.Get("context"), CanAnswer: v.has(call.RespondApprovals),
	}
	in.Mine = in.CanAnswer && q.Get("show") != "all"
	in.MinePath, in.AllPath = in.path("mine", ""), in.path("all", "")
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{
		Filter: shown.InterruptFilter{Urgent: true, Text: in.Text, ObjectiveID: in.Objective, ContextID: in.Context, Limit: inboxSize},
		Mine:   in.Mine, PageToken: q.Get("page"),
	})
	for _, i := range page.Interrupts {
		in.Cards = append(in.Cards, cardOf(i, v.cfg.Now()))
	}
	in.Total = page.Total
	if page.Next != "" {
		in.Next = in.path(in.show(), page.Next)
	}
	if err == nil && in.Mine {
		in.Proposals, err = proposals(v)
	}
	return view{Template: "inbox", Title: "Inbox", Refresh: 5, Data: in}, err
}

// mostSearched is the longest text to search for.
const mostSearched = 200

// show returns the filter that the page has now.
func (in inbox) show() string {
	if in.Mine {
		return "mine"
	}
	return "all"
}

// path returns the path of the inbox with a filter and the token of a page.
func (in inbox) path(show, page string) string {
	q := url.Values{"show": {show}}
	for name, value := range map[string]string{"text": in.Text, "objective": in.Objective, "context": in.Context, "page": page} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return Path + "/inbox?" + q.Encode()
}

// Filtered reports whether the page leaves out gates that a search does not find.
func (in inbox) Filtered() bool { return in.Text+in.Objective+in.Context != "" }

// cardOf returns an open gate as the inbox shows it.
func cardOf(i shown.Interrupt, now time.Time) gateCard {
	c := gateCard{
		ID: i.Gate.ID, Path: gatePath(i.Gate.ID), Title: gateTitle(&i.Gate), Objective: shorten(a2a.Visible(i.Objective), titleWidth), Task: shorten(a2a.Visible(i.TaskName), titleWidth),
		Principal: shorten(a2a.Visible(i.Principal), titleWidth), Since: i.Since, Due: i.Gate.ExpiresAt,
	}
	if !c.Due.IsZero() {
		ahead := gateform.Ahead(&i.Gate)
		c.Ending = ahead[len(ahead)-1].What
		c.Late = c.Due.Millis()-now.UnixMilli() < time.Hour.Milliseconds()
	}
	return c
}
