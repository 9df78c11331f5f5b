package notice

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/activities"
	"longhaul/internal/chatapp"
	"longhaul/internal/egress"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// A card is a gate as a chat platform shows it.
type card struct {
	title    string
	headline string
	facts    []string // short lines about the work
	texts    []text   // the description, the object, the messages
	hidden   bool     // texts are not all: it cannot be accepted here
	footer   string   // what happens without an answer; how it was closed
	buttons  []button // nil for a gate that is closed
	open     string   // URL of the gate in the console; "" for none
	presses  string   // URL that gets what people press
}

// A text is a part of a card, which is shown as it is written.
type text struct{ name, text string }

// A button does what its press says.
type button struct {
	label, style string // style: "primary", "danger" or ""
	press        chatapp.Press
}

// mostShown is how many characters of texts a card has. Platforms refuse larger messages.
const mostShown = 9000

// newCard returns the card for a notice to app.
func newCard(d Data, app chatapp.App) card {
	d = d.visible()
	g := d.Interrupt
	c := card{title: d.title(), headline: d.Headline(), hidden: g.Unshown() > 0, facts: d.facts()}
	if before := g.Original.String(); before != "" {
		c.facts = append(c.facts, before)
	}
	object := d.Object()
	c.add("", g.About())
	c.add("To be decided on", object)
	c.hidden = c.hidden || g.ObjectDigest != "" && object == "" && g.Kind == opt.Approval
	for _, q := range g.Questions {
		c.add("", q.Question)
	}
	for _, e := range g.Exchanges {
		c.add("", e.AskedBy+": "+e.Question)
	}
	if d.Notice.Closes() {
		c.footer = closing(d)
		return c
	}
	if next := d.Next(); next != "" {
		c.footer = "Without an answer: " + next
	}
	if g.Responders.Several() {
		c.facts = append(c.facts, fmt.Sprintf("Votes: %d, and it takes %d", len(g.Votes), g.Responders.Accepts))
	}
	c.buttons = buttons(g, app.Name, c.hidden)
	if c.hidden {
		c.texts = append(c.texts, text{"", "This is not all that is to be decided on, so it cannot be accepted here."})
	}
	return c
}

func (d Data) facts() (out []string) {
	for _, f := range []struct{ name, value string }{{"Objective", d.Objective}, {"Task", d.Task}, {"Requested by", d.RequestedBy}} {
		if f.value != "" {
			out = append(out, f.name+": "+f.value)
		}
	}
	return out
}

// add adds a text, or as much of it as there is room for.
func (c *card) add(name, content string) {
	room := mostShown
	for _, t := range c.texts {
		room -= len([]rune(t.text))
	}
	r := []rune(content)
	if len(r) > room {
		r, c.hidden = append(r[:max(room-1, 0)], '…'), true
	}
	if len(r) > 0 {
		c.texts = append(c.texts, text{name, string(r)})
	}
}

// labels are the buttons of a card, in order.
var labels = []struct {
	action       opt.Action
	label, style string
}{{opt.Accept, "Accept", "primary"}, {opt.Reject, "Reject", "danger"}, {opt.Refine, "Refine", ""}, {opt.Ask, "Ask", ""}}

// buttons returns the buttons of an open gate. An authorization is given elsewhere, and so is a
// changed object.
func buttons(g *opt.Gate, channel string, hidden bool) (list []button) {
	press := func(action string) chatapp.Press {
		return chatapp.Press{Channel: channel, Gate: g.ID, Digest: g.ObjectDigest, Action: action}
	}
	if g.Kind == opt.Clarification {
		return []button{{"Answer", "primary", press(chatapp.Answer)}}
	}
	for _, l := range labels {
		if g.Kind == opt.Approval && g.Allows(l.action) && !(hidden && l.action == opt.Accept) {
			list = append(list, button{l.label, l.style, press(string(l.action))})
		}
	}
	return list
}

// closing returns how the gate of a notice was closed.
func closing(d Data) string {
	how := d.Decided
	switch {
	case how == nil:
		return "Not asked any more: the work was changed or has ended."
	case how.ByHand:
		return fmt.Sprintf("Closed by hand, by %s, %s.", how.Who(), clock(how.At.Time()))
	case how.DecidedBy == opt.ByTimer:
		return fmt.Sprintf("%s, since no answer came in time: %s.", how.Action.Outcome(), clock(how.At.Time()))
	}
	out := fmt.Sprintf("%s by %s, %s.", how.Action.Outcome(), how.Who(), clock(how.At.Time()))
	if how.Feedback != "" {
		out += " “" + shortened(how.Feedback, 1000) + "”"
	}
	return out
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// A platform shows cards. Its errors are those of [chatapp.App.Call].
type platform interface {
	// message returns a card in the form of the platform.
	message(c card) object
	// post shows a card, and returns where.
	post(ctx context.Context, by activities.Sender, c card) (at string, err error)
	// update changes the card at a place. gone is set if people have removed it.
	update(ctx context.Context, by activities.Sender, at string, c card) (gone bool, err error)
	// remark adds a line below a card, which calls for people.
	remark(ctx context.Context, by activities.Sender, at, line string) error
}

// A chat is a channel at a chat platform, which shows each gate as a card.
type chat struct {
	app chatapp.App
	platform
}

// chatFor is how long the requests about one notice may take.
const chatFor = 20 * time.Second

func (t chat) check(Data) error { return nil }

func (t chat) host() string { return egress.Host(t.app.URL) }

// send shows the gate of a notice. A first card may be posted twice, if its worker is lost
// before the journal knows where it is; later notices change the one that it knows.
func (t chat) send(ctx context.Context, c *Channels, n activities.NoticeAttempt, d Data) activities.Tried {
	ctx, cancel := context.WithTimeout(ctx, chatFor)
	defer cancel()
	shown := c.card(d, t.app)
	at, err := n.Card, error(nil)
	switch {
	case at == "" && n.Kind.Posts():
		at, err = t.post(ctx, c.cfg.Sender, shown)
	case at != "":
		var gone bool
		gone, err = t.update(ctx, c.cfg.Sender, at, shown)
		if calls := n.Kind.Posts() && n.Kind != outbox.Opened; err == nil && !gone && calls {
			err = t.remark(ctx, c.cfg.Sender, at, shown.headline)
		}
	}
	if err == nil {
		return activities.Tried{Card: at}
	}
	out := tried(err)
	c.logFailure(n, out.Class, err)
	if out.Class == classRefused {
		c.cfg.Log.Warn("A chat platform refuses a card", zap.String("channel", n.Channel), zap.String("taskId", n.TaskID), zap.Error(err))
	}
	return out
}

// card returns a card that leads back to here.
func (c *Channels) card(d Data, app chatapp.App) card {
	out := newCard(d, app)
	out.presses = c.cfg.PublicURL + chatapp.Path + string(app.Kind)
	if c.cfg.GatesPath != "" {
		out.open = c.cfg.PublicURL + c.cfg.GatesPath + url.PathEscape(d.Interrupt.ID)
	}
	return out
}

// classRefused is the class of error of a card that a platform refuses.
const classRefused = "refused by the platform"

// tried returns the outcome of an attempt that has failed. What an operator can put right, such
// as a missing right of the bot, is tried again.
func tried(err error) activities.Tried {
	f, ok := chatapp.FailureOf(err)
	if !ok {
		return activities.Tried{Class: egress.Class(err), Final: egress.Final(err), Rule: egress.Rule(err), Private: egress.Private(err)}
	}
	if f.Status/100 == 5 || f.Status == 429 {
		return activities.Tried{Status: f.Status, RetryAfter: f.After}
	}
	return activities.Tried{Class: classRefused, RetryAfter: f.After, Final: f.Status == http.StatusRequestEntityTooLarge || strings.HasPrefix(f.Code, "invalid_blocks") || strings.HasPrefix(f.Code, "msg_")}
}

var errNoPlace = errors.New("the platform does not say where it has posted the card")

// shortened returns text cut to a number of characters.
func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:max(most-1, 0)]) + "…"
	}
	return text
}

// pieces returns a text in pieces of at most so many characters.
func pieces(text string, most int) (list []string) {
	for r := []rune(text); len(r) > 0; {
		n := min(most, len(r))
		list, r = append(list, string(r[:n])), r[n:]
	}
	return list
}
