package activities

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt/access"
	"longhaul/opt/outbox"
)

// A Notifier sends notices to channels. [notice.Channels] is one.
type Notifier interface {
	// Notify makes one attempt to send a notice.
	Notify(ctx context.Context, n NoticeAttempt) Tried
	// Host returns the host that the notices to a channel go to, for logs; "" for a
	// channel that is not known.
	Host(channel string) string
}

// NoticePlaces are the places that tenants have for notices in an hour.
type NoticePlaces interface {
	// TakeNotice takes one of limit places for a delivery. A repeat keeps its place. Without
	// one, free is when there may be one.
	TakeNotice(ctx context.Context, tenant, delivery string, limit int64) (free a2a.Time, ok bool, err error)
}

// A NoticeAttempt is one attempt to send a notice to a channel.
type NoticeAttempt struct {
	outbox.Notice
	Channel string // its name
	ID      string // of the delivery: the same for every attempt
	N       int    // 1, 2, 3 …
	Card    string // where the channel shows the gate; "" for nowhere
}

// NoChannel is the class of error of a notice to a channel that the worker does not
// know. It is attempted again, since another worker may know it.
const NoChannel = "channel not configured"

// nextNotice is next for a channel.
func (p *pusher) nextNotice(ctx context.Context, r DeliverRequest, channel string) (next dueDelivery, ok bool, err error) {
	n, d, ok, err := p.Journal.NextNotice(ctx, r.TaskID, channel)
	send := func(ctx context.Context) Tried {
		if p.To == nil {
			return Tried{Class: NoChannel}
		}
		return p.To.Notify(ctx, NoticeAttempt{Notice: n, Channel: channel, ID: deliveryID(d), N: d.Tries + 1, Card: d.Card})
	}
	next = dueDelivery{d, outbox.PushConfig{TaskID: d.TaskID, ID: d.ConfigID}, "notice://" + channel, "", send, n.Tenant}
	if p.To != nil {
		next.host = p.To.Host(channel)
	}
	return next, ok, err
}

const (
	heldOutcome  = "quota" // also a label of metrics
	manyFailures = 20      // after so many the wait is the longest
)

// hold returns how long a notice waits since its tenant has sent as many in the last hour as it
// may; 0 for a state. One that has waited for a day is not sent: its attempt fails for good. The gate is
// in the inbox all the same.
func (p *pusher) hold(ctx context.Context, next *dueDelivery) (time.Duration, error) {
	limit := p.quotas.Limit(next.tenant, access.NoticesPerHour)
	if next.tenant == "" || limit == 0 {
		return 0, nil
	}
	id := deliveryID(next.Delivery)
	free, ok, err := p.Places.TakeNotice(ctx, next.tenant, id, limit)
	switch {
	case err != nil:
		return 0, err
	case ok:
		return 0, nil
	}
	p.to.Exceeded(string(access.NoticesPerHour))
	if p.held.begin(fmt.Sprint(next.tenant, " ", time.Now().Unix()/3600)) {
		p.log.Warn("Notices of a tenant wait: it has sent as many in an hour as it may. Their gates are in the inbox",
			zap.String("tenant", next.tenant), zap.Int64("limit", limit), zap.String("taskId", next.TaskID))
	}
	if time.Since(next.Since.Time()) > retryFor {
		next.attempt = func(context.Context) Tried { return Tried{Class: heldOutcome, Final: true} }
		return 0, nil
	}
	return max(backoff(manyFailures, id), time.Until(free.Time())), nil
}
