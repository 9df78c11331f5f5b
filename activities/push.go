package activities

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/internal/egress"
	"longhaul/opt"
	"longhaul/opt/access"
	"longhaul/opt/outbox"
)

// PushJournal keeps push configs, notices, and the deliveries of both.
type PushJournal interface {
	// NextDelivery returns the earliest delivery of a config that is due. ok is
	// false if there is none.
	NextDelivery(ctx context.Context, taskID, configID string) (c outbox.PushConfig, d outbox.Delivery, ok bool, err error)
	// NoteDelivery records an attempt, and returns the status of the delivery after
	// it: s, but due if c was replaced during the attempt, and abandoned if it was
	// removed. If s is abandoned, it removes c with all its deliveries that are due.
	// Recording the same attempt again changes nothing.
	NoteDelivery(ctx context.Context, c outbox.PushConfig, d outbox.Delivery, a outbox.DeliveryAttempt, s outbox.DeliveryStatus) (outbox.DeliveryStatus, error)
	// NextNotice is NextDelivery for the notices about a task to a channel.
	NextNotice(ctx context.Context, taskID, channel string) (n outbox.Notice, d outbox.Delivery, ok bool, err error)
}

// A Sender sends a request to a URL that others have chosen. [egress.Client] is one.
type Sender interface {
	Do(ctx context.Context, r *http.Request) (*http.Response, error)
}

// A Signer signs the body of a delivery.
type Signer interface {
	// Sign returns the value of the header [SignatureHeader].
	Sign(ctx context.Context, deliveryID, taskID string, body []byte) (string, error)
}

// Push says how deliveries are made.
type Push struct {
	Journal PushJournal
	Sender  Sender
	// Notice returns the body that reports a status in a version of the protocol, and its
	// media type.
	Notice  func(version string, u a2a.StatusUpdate) (mediaType string, body []byte, err error)
	Signer  Signer                                 // nil signs nothing
	To      Notifier                               // nil for a worker without channels for notices
	Places  NoticePlaces                           // needed with To if tenants have a quota of notices
	Tried   func(class string, took time.Duration) // called after each attempt; may be nil
	PerHost int                                    // attempts at a time at one host; 0 means 20
}

// Headers of deliveries, beside the headers of A2A.
const (
	DeliveryHeader  = "X-Longhaul-Delivery"  // the id of the delivery: the same for every attempt
	AttemptHeader   = "X-Longhaul-Attempt"   // 1, 2, 3 …
	SignatureHeader = "X-Longhaul-Signature" // a JWT
)

// Limits of deliveries.
const (
	attemptFor       = 10 * time.Second // one attempt
	retryFor         = 24 * time.Hour   // all attempts at one delivery
	firstWait        = time.Second      // before the second attempt; it doubles with each
	longestWait      = 5 * time.Minute
	longestAsked     = time.Hour   // that a receiver may ask for with Retry-After
	maxBusyDoublings = 6           // the host was busy so often: the wait doubles no more
	drainFor         = time.Second // time to discard the body of an answer
	perHost          = 20
	busyOutcome      = "other deliveries to the same host"
)

// A DeliverRequest is the input of Deliver: the config, and the outcome of the
// latest delivery.
type DeliverRequest struct {
	TaskID   string `json:"taskId"`
	ConfigID string `json:"configId"`
	N        int64  `json:"n,omitempty"`        // of the delivery that was attempted last
	Failures int    `json:"failures,omitempty"` // of it, in a row
	Busy     int    `json:"busy,omitempty"`     // how often in a row others have used its host
	Elapsed  int64  `json:"elapsed,omitempty"`  // seconds since the first of them
}

// Delivered is the result of one attempt. It has nothing of the URL, the secrets
// or the body.
type Delivered struct {
	Idle    bool                  `json:"idle,omitempty"` // nothing was due
	Busy    bool                  `json:"busy,omitempty"` // there was no attempt
	N       int64                 `json:"n,omitempty"`
	State   a2a.TaskState         `json:"state,omitempty"`
	Notice  outbox.NoticeKind     `json:"notice,omitempty"`
	Status  outbox.DeliveryStatus `json:"status,omitempty"`
	Outcome string                `json:"outcome,omitempty"` // the status of HTTP, "sent", or a class of error
	Wait    int64                 `json:"wait,omitempty"`    // milliseconds until the next attempt
}

// A pusher makes deliveries.
type pusher struct {
	Push
	log     *zap.Logger
	hosts   *hosts
	outages outages
	quotas  access.Quotas
	held    outages // tenants whose notices wait, by hour
	to      Observer
}

func newPusher(cfg Config) *pusher {
	p := cfg.Push
	if p == nil {
		return nil
	}
	return &pusher{
		Push: *p, log: cfg.Log, hosts: &hosts{most: cmp.Or(p.PerHost, perHost), used: map[string]int{}}, outages: newOutages(),
		quotas: cfg.Quotas, held: newOutages(), to: cfg.Observer,
	}
}

func (p *pusher) deliver(ctx context.Context, r DeliverRequest) (Delivered, error) {
	next, ok, err := p.nextDue(ctx, r)
	if err != nil || !ok {
		return Delivered{Idle: !ok}, err
	}
	c, d := next.config, next.Delivery
	out := Delivered{N: d.N, State: d.State, Notice: d.Notice, Status: outbox.DeliveryDue}
	release, ok := p.hosts.acquire(next.url)
	if !ok {
		out.Busy, out.Outcome, out.Wait = true, busyOutcome, backoff(min(r.Busy+2, maxBusyDoublings), deliveryID(d)).Milliseconds()
		return out, nil
	}
	defer release()
	if wait, err := p.hold(ctx, &next); wait > 0 || err != nil {
		out.Busy, out.Outcome, out.Wait = true, heldOutcome, wait.Milliseconds()
		return out, err
	}
	began := time.Now()
	tried := next.attempt(ctx)
	if ctx.Err() != nil {
		return Delivered{}, ctx.Err() // the worker stops: this is no fault of the receiver
	}
	if p.Tried != nil {
		p.Tried(tried.outcome(), time.Since(began))
	}
	a := outbox.DeliveryAttempt{N: d.Tries + 1, At: a2a.At(began), Status: tried.Status, Error: tried.Class}
	verdict, wait := tried.nextStatus(r, d)
	d.Card = cmp.Or(tried.Card, d.Card)
	out.Outcome = tried.outcome()
	out.Status, err = p.Journal.NoteDelivery(ctx, c, d, a, verdict)
	if out.Status == outbox.DeliveryDue {
		out.Wait = wait
	}
	if err == nil {
		p.logOutage(next, tried, out)
	}
	return out, err
}

// A dueDelivery is a delivery that an attempt is made at.
type dueDelivery struct {
	outbox.Delivery
	config  outbox.PushConfig // of a notice only the names
	url     string            // attempts to the same host share its permits
	host    string            // for logs
	attempt func(context.Context) Tried
	tenant  string // of a notice; "" for a state
}

// nextDue returns the earliest delivery that is due; ok is false if there is none.
func (p *pusher) nextDue(ctx context.Context, r DeliverRequest) (next dueDelivery, ok bool, err error) {
	if channel, is := outbox.ChannelIn(r.ConfigID); is {
		return p.nextNotice(ctx, r, channel)
	}
	c, d, ok, err := p.Journal.NextDelivery(ctx, r.TaskID, r.ConfigID)
	return dueDelivery{d, c, c.URL, egress.Host(c.URL), func(ctx context.Context) Tried { return p.attempt(ctx, c, d) }, ""}, ok, err
}

// attempt sends one request.
func (p *pusher) attempt(ctx context.Context, c outbox.PushConfig, d outbox.Delivery) Tried {
	ctx, cancel := context.WithTimeout(ctx, attemptFor)
	defer cancel()
	request, err := p.request(ctx, c, d)
	if err != nil {
		p.log.Error("Cannot make the request of a delivery", zap.String("taskId", d.TaskID), zap.String("configId", d.ConfigID), zap.Error(err))
		return Tried{Class: "internal"}
	}
	out, err := Send(p.Sender, request)
	if err != nil {
		p.log.Debug("A delivery failed", zap.String("taskId", d.TaskID), zap.String("configId", d.ConfigID), zap.String("class", out.Class),
			zap.String("rule", egress.Rule(err)))
	}
	return out
}

// Send sends a request and reads the answer. The error is the cause of a class.
func Send(to Sender, r *http.Request) (Tried, error) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	answer, err := to.Do(ctx, r)
	if err != nil {
		return Tried{Class: egress.Class(err), Final: egress.Final(err), Rule: egress.Rule(err), Private: egress.Private(err)}, err
	}
	stop := time.AfterFunc(drainFor, cancel)
	_, _ = io.Copy(io.Discard, answer.Body) // so that the connection can be used again
	stop.Stop()
	_ = answer.Body.Close()
	wait, _ := egress.RetryAfter(answer.Header, longestAsked)
	return Tried{Status: answer.StatusCode, RetryAfter: wait}, nil
}

// request returns the request of a delivery.
func (p *pusher) request(ctx context.Context, c outbox.PushConfig, d outbox.Delivery) (*http.Request, error) {
	u := a2a.StatusUpdate{TaskID: d.TaskID, ContextID: d.ContextID, Status: a2a.TaskStatus{State: d.State, At: d.At}}
	u.Metadata = u.Metadata.With(opt.KeyObjectiveID, d.ObjectiveID).
		WithIf(d.GateID != "", opt.KeyInterrupt, map[string]any{"interrupt": map[string]string{"kind": d.GateKind, "interruptId": d.GateID}})
	mediaType, body, err := p.Notice(c.Version, u)
	if err != nil {
		return nil, err
	}
	r, err := Post{URL: c.URL, ContentType: mediaType, Body: body, ID: deliveryID(d), TaskID: d.TaskID, N: d.Tries + 1}.Request(ctx, p.Signer)
	if err != nil {
		return nil, err
	}
	if c.Version != "0.3" {
		r.Header.Set("A2A-Version", c.Version)
	}
	if c.Token != "" {
		r.Header.Set("X-A2A-Notification-Token", c.Token)
		r.Header.Set("A2A-Notification-Token", c.Token)
	}
	if c.Scheme != "" {
		r.Header.Set("Authorization", strings.TrimSpace(c.Scheme+" "+c.Credentials))
	}
	return r, nil
}

// A Post is the request of an attempt at a delivery.
type Post struct {
	URL, ContentType string
	Header           map[string]string // besides those of every delivery
	Body             []byte
	ID               string // of the delivery
	TaskID           string
	N                int // of the attempt, from 1
}

// Request returns p, signed unless signer is nil.
func (p Post) Request(ctx context.Context, signer Signer) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body))
	if err != nil {
		return nil, fmt.Errorf("the URL cannot be read") // the cause holds the URL
	}
	r.Header.Set("User-Agent", "Longhaul")
	for name, value := range p.Header {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", p.ContentType)
	r.Header.Set(DeliveryHeader, p.ID)
	r.Header.Set(AttemptHeader, strconv.Itoa(p.N))
	if signer == nil {
		return r, nil
	}
	signature, err := signer.Sign(ctx, p.ID, p.TaskID, p.Body)
	r.Header.Set(SignatureHeader, signature)
	return r, err
}

// deliveryID returns an id that no other delivery has.
func deliveryID(d outbox.Delivery) string {
	return fmt.Sprintf("%s/%s/%d", d.TaskID, url.PathEscape(d.ConfigID), d.N)
}

// A Tried is the outcome of an attempt. The zero value is a success without a
// status.
type Tried struct {
	Status     int    // of HTTP; 0 for none
	Class      string // of the error; "" for none
	Final      bool   // a repeat would fail in the same way
	RetryAfter time.Duration
	Rule       string // that denied the address, for logs; "" for none
	Private    bool   // flags would allow the address
	Card       string // where the receiver shows the gate, if it has said so now
}

// failed reports whether the delivery was not accepted.
func (t Tried) failed() bool { return t.Class != "" || t.Status != 0 && t.Status/100 != 2 }

// gone reports whether the receiver has removed the config of d. A channel is not
// removed by its receiver.
func (t Tried) gone(d outbox.Delivery) bool { return t.Status == http.StatusGone && d.Notice == "" }

func (t Tried) outcome() string {
	switch {
	case t.Class != "":
		return t.Class
	case t.Status == 0:
		return "sent"
	}
	return strconv.Itoa(t.Status)
}

// nextStatus returns the status of a delivery after an attempt and, if it is still
// due, the milliseconds until the next one. Other answers of the 4xx class than
// those that mean "later" end a delivery: a repeat would get the same answer.
func (t Tried) nextStatus(r DeliverRequest, d outbox.Delivery) (outbox.DeliveryStatus, int64) {
	switch {
	case !t.failed():
		return outbox.DeliveryDone, 0
	case t.gone(d):
		return outbox.DeliveryAbandoned, 0
	case t.Final:
		return outbox.DeliveryDead, 0
	case t.Status == http.StatusRequestTimeout, t.Status == http.StatusTooEarly, t.Status == http.StatusTooManyRequests:
	case t.Status/100 == 4:
		return outbox.DeliveryDead, 0
	}
	failures, elapsed := 1, time.Duration(0)
	if r.N == d.N {
		failures, elapsed = r.Failures+1, time.Duration(r.Elapsed)*time.Second
	}
	wait := max(backoff(failures, deliveryID(d)), t.RetryAfter)
	if elapsed+wait > retryFor {
		return outbox.DeliveryDead, 0
	}
	return outbox.DeliveryDue, wait.Milliseconds()
}

// backoff returns how long to wait after a number of failures in a row: twice as
// long each time, and up to a fifth more, by which deliveries that failed together
// spread.
func backoff(failures int, id string) time.Duration {
	wait := longestWait
	if failures < 20 {
		wait = min(longestWait, firstWait<<(failures-1))
	}
	h := fnv.New32a()
	fmt.Fprintf(h, "%s %d", id, failures)
	return wait + wait/5*time.Duration(h.Sum32()%1000)/1000
}
