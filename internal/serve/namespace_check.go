package serve

import (
	"context"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/namespace"
	"longhaul/workflows"
)

// Namespace returns the namespace that s is connected to.
func (s *service) namespace() namespace.Namespace {
	return namespace.NewNamespace(s.temporal, s.cipher, s.target, s.log)
}

// checkNamespace examines the namespace for an API, which serves reads while Temporal
// cannot be reached: then check returns nil and continues until Temporal answers. An
// error says what to do.
func (s *service) checkNamespace(ctx context.Context) error {
	s.noSearchAttributes.Store(true)
	n := s.namespace()
	state, err := n.Examine(ctx)
	if err == nil || namespace.IsFinal(err) {
		s.useSearchAttributes(state)
		return n.WithAdvice(err, namespace.Week)
	}
	s.log.Warn("Only reads work until Temporal answers", zap.Error(n.WithAdvice(err, namespace.Week)))
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	s.onStop(func() error { cancel(); <-done; return nil })
	go func() {
		defer close(done)
		for err != nil && !namespace.IsFinal(err) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Second):
			}
			state, err = n.Examine(ctx)
		}
		if err != nil {
			s.fail(n.WithAdvice(err, namespace.Week))
			return
		}
		s.log.Info("Temporal answers")
		s.useSearchAttributes(state)
	}()
	return nil
}

// useSearchAttributes makes new objectives use the search attributes if the namespace has them.
func (s *service) useSearchAttributes(state workflows.NamespaceState) {
	s.noSearchAttributes.Store(len(state.Missing) > 0)
	s.namespace().LogMissing(state)
}
