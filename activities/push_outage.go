package activities

import (
	"sync"

	"go.uber.org/zap"

	"longhaul/internal/egress"
	"longhaul/opt"
)

// outages are the configs whose deliveries fail at present, so that the log has the
// beginning and the end of an outage and not each attempt.
type outages struct {
	mu   sync.Mutex
	open map[string]bool // by outageKey
}

// mostOutages bounds the memory for outages. Of more, some are logged again.
const mostOutages = 1000

// begin reports whether this is the first failure of a config.
func (o *outages) begin(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[key] {
		return false
	}
	if len(o.open) >= mostOutages {
		for other := range o.open {
			delete(o.open, other)
			break
		}
	}
	o.open[key] = true
	return true
}

// end reports whether deliveries of a config have failed until now.
func (o *outages) end(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.open[key]
	delete(o.open, key)
	return was
}

// outageKey names what works or fails as a whole: a channel for all tasks, or a config
// of one task.
func outageKey(d opt.Delivery) string {
	if d.Notice != "" {
		return d.ConfigID
	}
	return d.TaskID + "/" + d.ConfigID
}

// logOutage logs when deliveries of a config begin to fail and when they work again, and
// what a receiver misses: a delivery that is dead, and a config that it has removed.
func (p *pusher) logOutage(next dueDelivery, tried Tried, out Delivered) {
	d, key := next.Delivery, outageKey(next.Delivery)
	fields := []zap.Field{
		zap.String("taskId", d.TaskID), zap.String("configId", d.ConfigID), zap.Int64("event", d.N), zap.String("outcome", out.Outcome), zap.String("host", next.host),
	}
	if tried.Rule != "" {
		fields = append(fields, zap.String("rule", tried.Rule))
	}
	if tried.Private {
		fields = append(fields, zap.String("allowedBy", egress.AllowPrivate))
	}
	switch {
	case out.Status == opt.DeliveryDead:
		p.log.Warn("A delivery is dead", fields...)
		if d.Notice != "" {
			p.outages.begin(key)
		} else {
			p.outages.end(key)
		}
	case tried.gone(d):
		p.outages.end(key)
		p.log.Info("A receiver has removed its push config", fields...)
	case tried.failed() && out.Status != opt.DeliveryDue: // the config was removed meanwhile
		p.outages.end(key)
	case tried.failed():
		if p.outages.begin(key) {
			p.log.Warn("Deliveries fail, and are attempted again", fields...)
		}
	case p.outages.end(key):
		p.log.Info("Deliveries work again", fields...)
	}
}
