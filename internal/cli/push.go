package cli

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api/wire"
	"longhaul/internal/egress"
	"longhaul/worker"
	"longhaul/workflows"
)

// egressSettings say which URLs of others this process may reach.
type egressSettings struct {
	EgressDeny         []string `help:"Hosts, addresses and prefixes that are never reached, beside all that are not public; *.example.com means everything below." env:"LONGHAUL_EGRESS_DENY" placeholder:"HOST"`
	AllowPrivateEgress bool     `help:"For development: webhooks may be http, on this machine and in private networks." env:"LONGHAUL_ALLOW_PRIVATE_EGRESS"`
}

// outbound makes the client for URLs of others.
func (s *service) outbound(cfg egressSettings) (err error) {
	s.egress, err = egress.New(egress.Config{AllowPrivate: cfg.AllowPrivateEgress, Deny: cfg.EgressDeny})
	if err != nil {
		return fmt.Errorf("--egress-%w", err)
	}
	if cfg.AllowPrivateEgress {
		s.log.Warn("--allow-private-egress: clients can have this process send requests to this machine and to private networks. Use it for development alone")
	}
	s.onStop(func() error { s.egress.Close(); return nil })
	return nil
}

// checkPush returns why states may not be delivered to a URL. The log has the
// rule, which the client is not told.
func (s *service) checkPush(ctx context.Context, rawURL string) error {
	err := s.egress.Check(ctx, rawURL)
	if err != nil {
		s.log.Info("Refused the URL of a push config", zap.String("rule", egress.Rule(err)))
	}
	return err
}

// push returns how the worker makes deliveries.
func (s *service) push() *activities.Push {
	return &activities.Push{
		Journal: s.journal,
		Sender:  s.egress,
		Notice: func(version string, u a2a.StatusUpdate) (string, []byte, error) {
			return wire.Version(version).Notice(u)
		},
	}
}

// dispatch hands deliveries that are due to workflows until the service stops.
func (s *service) dispatch(temporal temporalSettings) {
	engine := workflows.NewClient(workflows.ClientConfig{Temporal: s.temporal, MaxEvents: temporal.MaxEvents})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		worker.Dispatcher{Outbox: s.journal, To: engine, Log: s.log}.Run(ctx)
	}()
	s.onStop(func() error {
		cancel()
		<-ended
		return nil
	})
}
