package topology

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"time"
)

// checkPause is the time between two health checks of a process that is not healthy yet.
const checkPause = 100 * time.Millisecond

// pause waits for the time of the next look.
func pause(ctx context.Context) error {
	timer := time.NewTimer(checkPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
		return get(ctx, args[len(args)-1])
	}
	cmd, err := p.command(args, nil)
	if err != nil {
		return err
	}
	out, err := output(ctx, cmd)
	if err != nil {
		return fmt.Errorf("%s is not healthy: %w: %s", p.Name, err, out)
	}
	return nil
}

// WaitHealthy waits until the health check succeeds.
func (p *Process) WaitHealthy(ctx context.Context) error {
	for {
		err := p.Healthy(ctx)
		if err == nil {
			return nil
		}
		if pause(ctx) != nil {
			return fmt.Errorf("%w\n%s", err, p.tail())
		}
	}
}

// get does what wget does in the images of others.
func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return fmt.Errorf("%s answers %s", url, res.Status)
	}
	return nil
}
