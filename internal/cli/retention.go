package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/workflows"
)

// retentionSettings say how long ended objectives are kept.
type retentionSettings struct {
	TTL time.Duration `name:"ttl" help:"How long ended objectives are kept; 0 keeps them for ever. Use the same value for all workers." default:"168h" env:"LONGHAUL_TTL"`
}

// check refuses a TTL between 0 and a second.
func (s retentionSettings) check() error {
	if s.TTL != 0 && s.TTL < time.Second {
		return fmt.Errorf("--ttl %v is too short: want 0, to keep ended objectives for ever, or at least 1s", s.TTL)
	}
	return nil
}

// Retentions of a namespace.
const (
	leastRetention = time.Hour          // the least that Temporal accepts
	week           = 7 * 24 * time.Hour // if the journal keeps everything, which Temporal cannot
)

// ofNamespace returns how long our namespace keeps ended workflows: as long as
// the journal, if Temporal allows it.
func (s retentionSettings) ofNamespace() time.Duration {
	if s.TTL == 0 {
		return week
	}
	return max(s.TTL, leastRetention)
}

// A namespace is a namespace of Temporal that a worker sets up.
type namespace struct {
	temporal client.Client
	name     string
	log      *zap.Logger
}

// prepare waits for Temporal and makes the namespace and its search attributes.
// If our credentials do not allow that, an operator must make them.
func (n namespace) prepare(ctx context.Context, retention time.Duration) error {
	for {
		err := within(ctx, func(ctx context.Context) error { return workflows.Prepare(ctx, n.temporal, n.name, retention) })
		var denied *serviceerror.PermissionDenied
		switch {
		case err == nil:
			return nil
		case errors.As(err, &denied):
			n.log.Warn("Not allowed to set up Temporal", zap.String("namespace", n.name), zap.Error(err))
			return nil
		}
		n.log.Warn("Waiting for Temporal", zap.Error(err))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// retainTries is how often to try to make the schedule: it takes some seconds
// until all servers of Temporal know a new namespace.
const retainTries = 15

// retain makes the schedule that removes ended objectives, and warns if Temporal
// keeps workflows for a shorter time. A failure of either does not stop the
// service.
func (n namespace) retain(ctx context.Context, ttl time.Duration) error {
	for try := 1; ; try++ {
		err := within(ctx, func(ctx context.Context) error { return workflows.Retain(ctx, n.temporal, ttl) })
		if err == nil {
			break
		}
		if try == retainTries || never(err) {
			n.log.Warn("Ended objectives will not be removed", zap.String("namespace", n.name), zap.Error(err))
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	n.compare(ctx, ttl)
	return nil
}

// compare warns if the namespace keeps ended workflows for a shorter time than
// the journal. Then Temporal's UI shows less than the journal.
func (n namespace) compare(ctx context.Context, ttl time.Duration) {
	err := within(ctx, func(ctx context.Context) error {
		has, err := workflows.NamespaceRetention(ctx, n.temporal, n.name)
		if err == nil && has < ttl {
			n.log.Warn("Temporal keeps ended workflows for a shorter time than --ttl: raise the retention of the namespace",
				zap.String("namespace", n.name), zap.Duration("retention", has), zap.Duration("ttl", ttl))
		}
		return err
	})
	if err != nil {
		n.log.Warn("Cannot read how long Temporal keeps ended workflows", zap.String("namespace", n.name), zap.Error(err))
	}
}

// within limits the time of a call to Temporal.
func within(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return call(ctx)
}

// never reports whether Temporal refused a request for good.
func never(err error) bool {
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &denied) || errors.As(err, &unknown) || errors.As(err, &invalid)
}
