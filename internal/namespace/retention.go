package namespace

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.uber.org/zap"

	"longhaul/internal/process"
	"longhaul/workflows"
)

// Retention say how long ended objectives are kept.
type Retention struct {
	TTL time.Duration `name:"ttl" help:"How long ended objectives are kept; 0 keeps them for ever. Use the same value for all workers." default:"168h" env:"LONGHAUL_TTL"`
}

// CheckTTL refuses a TTL between 0 and a second.
func (s Retention) CheckTTL() error {
	if s.TTL != 0 && s.TTL < time.Second {
		return process.Usagef("--ttl %v is too short: want 0, to keep ended objectives for ever, or at least 1s", s.TTL)
	}
	return nil
}

// Retentions of a namespace.
const (
	leastRetention = time.Hour          // the least that Temporal accepts
	Week           = 7 * 24 * time.Hour // if the journal keeps everything, which Temporal cannot
)

// NamespaceTTL returns how long our namespace keeps ended workflows: as long as
// the journal, if Temporal allows it.
func (s Retention) NamespaceTTL() time.Duration {
	if s.TTL == 0 {
		return Week
	}
	return max(s.TTL, leastRetention)
}

// purgeScheduleTries is how often to try to make the schedule: it takes some seconds
// until all servers of Temporal know a new namespace.
const purgeScheduleTries = 15

// CreatePurgeSchedule makes the schedule that removes ended objectives. A failure does not stop
// the service.
func (n Namespace) CreatePurgeSchedule(ctx context.Context, ttl time.Duration) error {
	for try := 1; ; try++ {
		err := withTimeout(ctx, func(ctx context.Context) error { return workflows.Retain(ctx, n.temporal, ttl, n.cipher) })
		if err == nil {
			break
		}
		if try == purgeScheduleTries || isRefused(err) {
			n.log.Warn("Ended objectives will not be removed", zap.String("namespace", n.target.namespace.value), zap.Error(err))
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return nil
}

// withTimeout calls Temporal with a time limit.
func withTimeout(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return call(ctx)
}

// isRefused reports whether Temporal would refuse a repeat of the request, too.
func isRefused(err error) bool {
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &denied) || errors.As(err, &unknown) || errors.As(err, &invalid)
}
