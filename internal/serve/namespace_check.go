package serve

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/namespace"
	"longhaul/workflows"
)

// A namespaceCheck examines the namespace for an API, which serves reads while Temporal cannot be
// reached: then it continues until Temporal answers.
type namespaceCheck struct {
	loop
	temporal        *connection
	lacksAttributes atomic.Bool // the namespace has no search attributes of ours, or they are not known yet
}

// Start returns an error that says what to do, unless Temporal may answer later.
func (c *namespaceCheck) Start(ctx context.Context) error {
	c.lacksAttributes.Store(true)
	n := c.temporal.namespace()
	state, err := n.Examine(ctx)
	if err == nil || namespace.IsFinal(err) {
		c.use(state)
		return n.WithAdvice(err, namespace.Week)
	}
	c.temporal.host.log.Warn("Only reads work until Temporal answers", zap.Error(n.WithAdvice(err, namespace.Week)))
	c.run = c.await
	return c.loop.Start(ctx)
}

// await examines the namespace until Temporal answers, or ctx ends.
func (c *namespaceCheck) await(ctx context.Context) {
	n := c.temporal.namespace()
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
		state, err := n.Examine(ctx)
		switch {
		case err == nil:
			c.temporal.host.log.Info("Temporal answers")
			c.use(state)
			return
		case namespace.IsFinal(err):
			c.temporal.host.fail(n.WithAdvice(err, namespace.Week))
			return
		}
	}
}

// use makes new objectives use the search attributes if the namespace has them.
func (c *namespaceCheck) use(state workflows.NamespaceState) {
	c.lacksAttributes.Store(len(state.Missing) > 0)
	c.temporal.namespace().LogMissing(state)
}
