package serve

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"longhaul/activities/agent"
	"longhaul/activities/webhook"
	"longhaul/internal/egress"
	"longhaul/internal/process"
)

// egressSettings say which URLs of others this process may reach, and how.
type egressSettings struct {
	EgressDeny         []string `help:"Hosts, addresses and prefixes that are never reached, beside all that are not public; *.example.com means everything below." env:"LONGHAUL_EGRESS_DENY" placeholder:"HOST"`
	PushSigning        bool     `help:"Sign deliveries to webhooks; the public keys are at /.well-known/jwks.json. Set it for the API and the workers." env:"LONGHAUL_PUSH_SIGNING"`
	AllowPrivateEgress bool     `help:"For development: webhooks may be http, on this machine and in private networks." env:"LONGHAUL_ALLOW_PRIVATE_EGRESS"`
}

// A reach has the clients for URLs of others.
type reach struct {
	stopper
	settings egressSettings
	log      *zap.Logger

	hooks    *egress.Client // for webhooks
	strict   *egress.Client // by the rules of production, for the test seams
	agents   *egress.Client // for other A2A agents, whose answers may be large and late
	services *egress.Client // for web services that do tasks, whose answers may be large and late
}

func (r *reach) Start(context.Context) error {
	for _, c := range []struct {
		to    **egress.Client
		allow bool // private addresses
		cfg   egress.Config
	}{
		{&r.hooks, r.settings.AllowPrivateEgress, egress.Config{}},
		{&r.strict, false, egress.Config{}},
		{&r.agents, r.settings.AllowPrivateEgress, egress.Config{MaxAnswer: agent.MaxAnswer, Timeout: agent.AnswerFor}},
		{&r.services, r.settings.AllowPrivateEgress, egress.Config{MaxAnswer: webhook.MaxAnswer, Timeout: webhook.LongestTimeout}},
	} {
		c.cfg.AllowPrivate, c.cfg.Deny = c.allow, r.settings.EgressDeny
		made, err := egress.New(c.cfg)
		if err != nil {
			return process.Usagef("--egress-%v", err)
		}
		*c.to = made
		r.onStop(func() error { made.Close(); return nil })
	}
	if r.settings.AllowPrivateEgress {
		r.log.Warn("--allow-private-egress: clients can have this process send requests to this machine and to private networks. Use it for development alone")
	}
	return nil
}

// webhookDenied returns the error for a webhook of the operator that egress denies: the rule,
// and what to do. It is nil for nil.
func webhookDenied(denied error) error {
	switch {
	case denied == nil:
		return nil
	case egress.Private(denied):
		return fmt.Errorf("must be an https URL of a public host (%s); for development, %s also allows http, this machine and private networks", egress.Rule(denied), egress.AllowPrivate)
	}
	return fmt.Errorf("must be an https URL of a public host, without a user or a fragment, that --egress-deny does not name (%s)", egress.Rule(denied))
}
