package activities

import (
	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"longhaul/internal/egress"
	"longhaul/opt/outbox"
)

// outages are the configs whose deliveries fail at present, by outageKey, so that the log has
// the beginning and the end of an outage and not each attempt. Of more than mostOutages, some are
// logged again. It may be used from any goroutine.
type outages struct{ open *lru.Cache[string, struct{}] }

const mostOutages = 1000

func newOutages() outages {
	open, _ := lru.New[string, struct{}](mostOutages) // fails only for a size below 1
	return outages{open}
}

// begin reports whether this is the first failure of a config.
func (o outages) begin(key string) bool {
	known, _ := o.open.ContainsOrAdd(key, struct{}{})
	return !known
}

// end reports whether deliveries of a config have failed until now.
func (o outages) end(key string) bool { return o.open.Remove(key) }

// outageKey names what works or fails as a whole: a channel for all tasks, or a config
// of one task.
func outageKey(d outbox.Delivery) string {
	if d.Notice != "" {
		return d.ConfigID
	}
	return d.TaskID + "/" + d.ConfigID
}

// logOutage logs when deliveries of a config begin to fail and when they work again, and
// what a receiver misses: a delivery that is dead, and a config that it has removed.
func (p *pusher) logOutage(next dueDelivery, tried Tried, out Delivered) {
	d, key, fields := next.Delivery, outageKey(next.Delivery), outageFields(next, tried, out)
	switch {
	case out.Status == outbox.DeliveryDead:
		p.log.Warn("A delivery is dead", fields...)
		if d.Notice != "" {
			p.outages.begin(key)
		} else {
			p.outages.end(key)
		}
	case tried.gone(d):
		p.outages.end(key)
		p.log.Info("A receiver has removed its push config", fields...)
	case tried.failed() && out.Status != outbox.DeliveryDue: // the config was removed meanwhile
		p.outages.end(key)
	case tried.failed():
		if p.outages.begin(key) {
			p.log.Warn("Deliveries fail, and are attempted again", fields...)
		}
	case p.outages.end(key):
		p.log.Info("Deliveries work again", fields...)
	}
}

func outageFields(next dueDelivery, tried Tried, out Delivered) []zap.Field {
	d := next.Delivery
	fields := []zap.Field{
		zap.String("taskId", d.TaskID), zap.String("configId", d.ConfigID), zap.Int64("event", d.N), zap.String("outcome", out.Outcome), zap.String("host", next.host),
	}
	if tried.Rule != "" {
		fields = append(fields, zap.String("rule", tried.Rule))
	}
	if tried.Private {
		fields = append(fields, zap.String("allowedBy", egress.AllowFlags))
	}
	return fields
}
