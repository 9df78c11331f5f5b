package topology

import (
	"context"
	"fmt"
	"path"
	"time"

	"longhaul/internal/child"
)

// Healthy runs the health check of the service once. A service without one is
// healthy while it runs.
func (p *Process) Healthy(ctx context.Context) error {
	if !p.Running() {
		return fmt.Errorf("%s does not run", p.Name)
	}
	if !hasHealthCheck(p.spec) {
		return nil
	}
	if limit := p.spec.HealthCheck.Timeout; limit != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(*limit))
		defer cancel()
	}
	var args []string
	for _, arg := range p.spec.HealthCheck.Test[1:] {
		args = append(args, p.translator.check(arg))
	}
	if p.spec.HealthCheck.Test[0] == "CMD-SHELL" {
		args = []string{"/bin/sh", "-c", args[0]}
	}
	if path.Base(args[0]) == "wget" {
		return child.Answers(ctx, args[len(args)-1]) // as wget does in the images of others
	}
	return p.once(ctx, args...)
}

// WaitHealthy waits until the health check succeeds.
func (p *Process) WaitHealthy(ctx context.Context) error {
	return p.until(ctx, func() error { return p.Healthy(ctx) })
}
