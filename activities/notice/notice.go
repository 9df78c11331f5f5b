// Package notice sends notices about gates to channels: webhooks and mailboxes that
// the operator names in a file. Use it to reach people who do not watch an inbox when a
// decision waits for them. [Load] reads the file, and [New] returns what the activities
// send with.
package notice

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/chatapp"
	"longhaul/opt/outbox"
)

// A Linker makes the URLs of answer links.
type Linker interface {
	URL(l outbox.AnswerLink) (string, error)
}

// Config says what Channels work with.
type Config struct {
	Channels []Channel
	Sender   activities.Sender // of requests to webhooks
	Signer   activities.Signer // nil signs nothing
	Links    Linker            // nil for notices without answer links
	LinksFor time.Duration     // how long an answer link is valid; zero: 7 days
	Roots    *x509.CertPool    // of the certificates of SMTP servers; nil means the system's
	Log      *zap.Logger       // nil discards logs

	PublicURL string // of the API, without a slash at the end; needed by cards with buttons that name it
	GatesPath string // of the gates in the console, before an id; "" for cards without links there
}

// Channels send notices. They are safe for concurrent use.
type Channels struct {
	cfg    Config
	byName atomic.Pointer[map[string]Channel]
}

// linksFor is how long an answer link is valid unless Config says it.
const linksFor = 7 * 24 * time.Hour

// New returns channels.
func New(cfg Config) *Channels {
	cfg.LinksFor, cfg.Log = cmp.Or(cfg.LinksFor, linksFor), cmp.Or(cfg.Log, zap.NewNop())
	c := &Channels{cfg: cfg}
	c.Replace(cfg.Channels)
	return c
}

// Replace replaces the channels. Notices for one that is no longer there fail.
func (c *Channels) Replace(list []Channel) {
	byName := map[string]Channel{}
	for _, to := range list {
		byName[to.Name] = to
	}
	c.byName.Store(&byName)
}

// A Channel is a channel as the file has it.
type Channel struct {
	outbox.Channel
	to target
}

// App returns the app that shows the cards of c; ok is false for a channel without cards.
func (c Channel) App() (app chatapp.App, ok bool) {
	t, ok := c.to.(chat)
	return t.app, ok
}

// A target sends notices to the recipients of one channel.
type target interface {
	// check tries the templates with a notice.
	check(d Data) error
	// host returns the host that they are sent to.
	host() string
	send(ctx context.Context, c *Channels, n activities.NoticeAttempt, d Data) activities.Tried
}

// classTemplate is the class of error of a notice that the template of its channel
// cannot show.
const classTemplate = "template"

// Notify implements [activities.Notifier]. Every attempt at a notice has the same
// content.
func (c *Channels) Notify(ctx context.Context, n activities.NoticeAttempt) activities.Tried {
	to, ok := (*c.byName.Load())[n.Channel]
	if !ok {
		return activities.Tried{Class: activities.NoChannel}
	}
	d := newData(n.Notice, n.ID)
	if link, ok := c.link(to, n); ok {
		var err error
		if d.AnswerURL, err = c.cfg.Links.URL(link); err != nil {
			c.cfg.Log.Error("Cannot make an answer link", zap.String("taskId", n.TaskID), zap.String("channel", n.Channel), zap.Error(err))
			return activities.Tried{Class: "internal"}
		}
	}
	return to.to.send(ctx, c, n, d)
}

// Host implements [activities.Notifier].
func (c *Channels) Host(channel string) string {
	to, ok := (*c.byName.Load())[channel]
	if !ok {
		return ""
	}
	return to.to.host()
}

// link returns the answer link for a notice: none without a principal who answers,
// and none if there is nothing to answer.
func (c *Channels) link(to Channel, n activities.NoticeAttempt) (outbox.AnswerLink, bool) {
	if c.cfg.Links == nil || to.Principal == "" || n.Kind.Closes() || len(n.Gate.Actions)+len(n.Gate.Questions) == 0 {
		return outbox.AnswerLink{}, false
	}
	sum := sha256.Sum256([]byte(n.ID))
	return outbox.AnswerLink{
		ID: hex.EncodeToString(sum[:16]), Tenant: n.Tenant, Principal: to.Principal, Groups: to.Groups, GateID: n.Gate.ID, ObjectDigest: n.Gate.ObjectDigest,
		Expires: a2a.At(n.Since.Time().Add(c.cfg.LinksFor)), // a gate that expires before refuses the answer itself: the clock of an API may be ahead
	}, true
}

// logFailure logs the cause of a failure, which the outcome of an attempt does not have.
func (c *Channels) logFailure(n activities.NoticeAttempt, class string, err error) {
	c.cfg.Log.Debug("A notice failed", zap.String("taskId", n.TaskID), zap.String("channel", n.Channel), zap.String("class", class), zap.Error(err))
}
