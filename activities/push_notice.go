package activities

import (
	"context"

	"longhaul/opt"
)

// A Notifier sends notices to channels. [notice.Channels] is one.
type Notifier interface {
	// Notify makes one attempt to send a notice.
	Notify(ctx context.Context, n NoticeAttempt) Tried
	// Host returns the host that the notices to a channel go to, for logs; "" for a
	// channel that is not known.
	Host(channel string) string
}

// A NoticeAttempt is one attempt to send a notice to a channel.
type NoticeAttempt struct {
	opt.Notice
	Channel string // its name
	ID      string // of the delivery: the same for every attempt
	N       int    // 1, 2, 3 …
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
		return p.To.Notify(ctx, NoticeAttempt{Notice: n, Channel: channel, ID: deliveryID(d), N: d.Tries + 1})
	}
	next = dueDelivery{d, opt.PushConfig{TaskID: d.TaskID, ID: d.ConfigID}, "notice://" + channel, "", send}
	if p.To != nil {
		next.host = p.To.Host(channel)
	}
	return next, ok, err
}
