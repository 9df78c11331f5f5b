package cli

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api/wire"
	"longhaul/internal/egress"
	"longhaul/internal/signing"
	"longhaul/opt"
)

// egressSettings say which URLs of others this process may reach, and how.
type egressSettings struct {
	EgressDeny         []string `help:"Hosts, addresses and prefixes that are never reached, beside all that are not public; *.example.com means everything below." env:"LONGHAUL_EGRESS_DENY" placeholder:"HOST"`
	PushSigning        bool     `help:"Sign deliveries to webhooks; the public keys are at /.well-known/jwks.json. Set it for the API and the workers." env:"LONGHAUL_PUSH_SIGNING"`
	AllowPrivateEgress bool     `help:"For development: webhooks may be http, on this machine and in private networks." env:"LONGHAUL_ALLOW_PRIVATE_EGRESS"`
}

// client returns a client for the URLs that s allows.
func (s egressSettings) client() (*egress.Client, error) { return s.clientWith(egress.Config{}) }

// clientWith returns a client with the given limits for the URLs that s allows.
func (s egressSettings) clientWith(limits egress.Config) (*egress.Client, error) {
	limits.AllowPrivate, limits.Deny = s.AllowPrivateEgress, s.EgressDeny
	c, err := egress.New(limits)
	if err != nil {
		return nil, newUsageError("--egress-%v", err)
	}
	return c, nil
}

// pushSettings say which states of tasks are delivered to clients.
type pushSettings struct {
	NoPush          bool   `name:"no-push" help:"Refuse push notification configs." env:"LONGHAUL_NO_PUSH"`
	PushTransitions string `help:"States that push configs deliver: waiting (ends, and waits for people) or all." enum:"waiting,all" default:"waiting" env:"LONGHAUL_PUSH_TRANSITIONS"`
}

// states returns the states that new configs deliver.
func (s pushSettings) states() opt.PushSet {
	if s.PushTransitions == "all" {
		return opt.PushAll
	}
	return opt.PushWaits
}

// pushChecker returns a function that checks the URLs of push configs, nil if push configs are
// off. The rule that refuses a URL is logged, and not in the answer to the client.
func pushChecker(cfg pushSettings, to *egress.Client, log *zap.Logger) func(ctx context.Context, rawURL string) error {
	if cfg.NoPush {
		return nil
	}
	return func(ctx context.Context, rawURL string) error {
		err := to.Check(ctx, rawURL)
		if err != nil {
			log.Info("Refused the URL of a push config", zap.String("rule", egress.Rule(err)))
			return errors.New("must be an https URL of a public host, without a user or a fragment")
		}
		return nil
	}
}

// newPush returns the parts with which a worker makes deliveries.
func newPush(s *service, notices activities.Notifier) *activities.Push {
	p := &activities.Push{
		Journal: s.journal.Pushes,
		Places:  s.journal,
		Sender:  s.egress,
		To:      notices,
		Tried:   s.metrics.Pushed,
		Notice: func(version string, u a2a.StatusUpdate) (string, []byte, error) {
			return wire.Version(version).Notice(u)
		},
	}
	if s.signing != nil {
		p.Signer = s.signing
	}
	return p
}

// headSigner returns a function that signs the heads of decisions, nil without keys.
func headSigner(k *signing.Keeper) func(ctx context.Context, statement []byte) (string, error) {
	if k == nil {
		return nil
	}
	return k.SignStatement
}

// keyReader returns a function that reads the public keys of k, nil without keys.
func keyReader(k *signing.Keeper) func(ctx context.Context) ([]byte, error) {
	if k == nil {
		return nil
	}
	return k.PublicKeys
}
