package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.uber.org/zap"

	"longhaul/workflows"
)

// retentionSettings say for how long what has ended is kept.
type retentionSettings struct {
	TTL time.Duration `name:"ttl" help:"How long what has ended is kept; 0 keeps it for ever. Workers of one installation need the same." default:"168h" env:"LONGHAUL_TTL"`
}

// check refuses what cannot be meant.
func (s retentionSettings) check() error {
	if s.TTL != 0 && s.TTL < time.Second {
		return fmt.Errorf("--ttl %v is too short: want 0, to keep what has ended for ever, or at least 1s", s.TTL)
	}
	return nil
}

// Retentions of a namespace.
const (
	leastRetention = time.Hour          // Temporal takes no less
	week           = 7 * 24 * time.Hour // where the journal keeps everything, which Temporal cannot
)

// ofNamespace returns for how long a namespace of ours keeps workflows: as long as
// the journal, if Temporal can.
func (s retentionSettings) ofNamespace() time.Duration {
	if s.TTL == 0 {
		return week
	}
	return max(s.TTL, leastRetention)
}

// retainTries is how often a schedule is tried to be made that Temporal should
// take: a new namespace takes some seconds to be known to all of its servers.
const retainTries = 15

// retain has Temporal see to it that what has ended is removed, and warns if it
// forgets its own record earlier. Without the one and with the other the service
// works as well, so it goes on.
func (s *service) retain(ctx context.Context, keep retentionSettings, namespace string) error {
	for n := 1; ; n++ {
		err := within(ctx, func(ctx context.Context) error { return workflows.Retain(ctx, s.temporal, keep.TTL) })
		if err == nil {
			break
		}
		if n == retainTries || never(err) {
			s.log.Warn("What has ended will not be removed", zap.String("namespace", namespace), zap.Error(err))
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	s.compare(ctx, keep, namespace)
	return nil
}

// compare warns if the namespace keeps what has ended for a shorter time than the
// journal. Then Temporal's UI shows less than the journal does.
func (s *service) compare(ctx context.Context, keep retentionSettings, namespace string) {
	err := within(ctx, func(ctx context.Context) error {
		has, err := workflows.NamespaceRetention(ctx, s.temporal, namespace)
		if err == nil && has < keep.TTL {
			s.log.Warn("Temporal keeps what has ended for a shorter time than --ttl: raise the retention of the namespace",
				zap.String("namespace", namespace), zap.Duration("retention", has), zap.Duration("ttl", keep.TTL))
		}
		return err
	})
	if err != nil {
		s.log.Warn("Cannot see for how long Temporal keeps what has ended", zap.String("namespace", namespace), zap.Error(err))
	}
}

// within gives a call to Temporal some time.
func within(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return call(ctx)
}

// never reports whether Temporal will not do what it was asked for.
func never(err error) bool {
	var denied *serviceerror.PermissionDenied
	var unknown *serviceerror.Unimplemented
	var invalid *serviceerror.InvalidArgument
	return errors.As(err, &denied) || errors.As(err, &unknown) || errors.As(err, &invalid)
}
