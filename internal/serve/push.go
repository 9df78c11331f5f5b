package serve

import (
	"context"
	"errors"
	"strings"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/api"
	"longhaul/api/card"
	"longhaul/api/wire"
	"longhaul/internal/egress"
	"longhaul/internal/signing"
	"longhaul/opt/outbox"
)

// pushSettings say which states of tasks are delivered to clients.
type pushSettings struct {
	NoPush          bool   `name:"no-push" help:"Refuse push notification configs." env:"LONGHAUL_NO_PUSH"`
	PushTransitions string `help:"States that push configs deliver: waiting (ends, and waits for people) or all." enum:"waiting,all" default:"waiting" env:"LONGHAUL_PUSH_TRANSITIONS"`
}

// states returns the states that new configs deliver.
func (s pushSettings) states() outbox.PushSet {
	if s.PushTransitions == "all" {
		return outbox.PushAll
	}
	return outbox.PushWaits
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

// push returns the parts with which a worker makes deliveries.
func (w *workerPart) push() *activities.Push {
	p := &activities.Push{
		Journal: w.store.journal.Pushes,
		Places:  w.store.journal,
		Sender:  w.reach.hooks,
		To:      w.notices.sender(w.store.keys),
		Tried:   w.host.metrics.Pushed,
		Notice: func(version string, u a2a.StatusUpdate) (string, []byte, error) {
			return wire.Notice(wire.Version(version), u)
		},
	}
	if w.store.keys != nil {
		p.Signer = w.store.keys
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

// cardSigner returns what signs the card of the server at base, nil without keys.
func cardSigner(k *signing.Keeper, base string) card.Signer {
	if k == nil {
		return nil
	}
	return func(ctx context.Context, card []byte) ([]card.Signature, error) {
		return k.SignCard(ctx, card, strings.TrimSuffix(base, "/")+api.KeysPath)
	}
}

// keyReader returns a function that reads the public keys of k, nil without keys.
func keyReader(k *signing.Keeper) func(ctx context.Context) ([]byte, error) {
	if k == nil {
		return nil
	}
	return k.PublicKeys
}
