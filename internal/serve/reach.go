package serve

import (
	"context"
	"fmt"

	"go.uber.org/zap"

	"longhaul/activities/agent"
	"longhaul/activities/webhook"
	"longhaul/internal/chatapp"
	"longhaul/internal/egress"
	"longhaul/internal/process"
)

// egressSettings say which URLs of others this process may reach, and how.
type egressSettings struct {
	EgressAllow        []string `help:"Hosts, addresses and prefixes of private networks where webhooks of clients may be, http too; *.example.com means everything below. URLs in the operator's files need no permission." env:"LONGHAUL_EGRESS_ALLOW" placeholder:"HOST"`
	EgressDeny         []string `help:"Hosts, addresses and prefixes that are never reached, in the same form, beside those that never are a server of yours, such as metadata services of clouds." env:"LONGHAUL_EGRESS_DENY" placeholder:"HOST"`
	PushSigning        bool     `help:"Sign deliveries to webhooks, and the agent card; the public keys are at /.well-known/jwks.json. Set it for the API and the workers." env:"LONGHAUL_PUSH_SIGNING"`
	AllowPrivateEgress bool     `help:"For development: webhooks of clients may be http, on this machine and in any private network." env:"LONGHAUL_ALLOW_PRIVATE_EGRESS"`
}

// A reach has the clients for URLs of others. Those of clients must be public, unless a flag
// opens a network; those in the files of the operator may be http and in private networks.
type reach struct {
	stopper
	settings egressSettings
	log      *zap.Logger

	hooks    *egress.Client // for webhooks of clients
	strict   *egress.Client // by the rules of production, for the test seams
	channels *egress.Client // for webhooks of the operator
	agents   *egress.Client // for other A2A agents, whose answers may be large and late
	services *egress.Client // for web services that do tasks, whose answers may be large and late
}

func (r *reach) Start(context.Context) error {
	for _, c := range []struct {
		to  **egress.Client
		cfg egress.Config
	}{
		{&r.hooks, egress.Config{AllowPrivate: r.settings.AllowPrivateEgress, Allow: r.settings.EgressAllow}},
		{&r.strict, egress.Config{}},
		{&r.channels, egress.Config{AllowPrivate: true, MaxAnswer: chatapp.MostAnswer}},
		{&r.agents, egress.Config{AllowPrivate: true, MaxAnswer: agent.MaxAnswer, Timeout: agent.AnswerFor}},
		{&r.services, egress.Config{AllowPrivate: true, MaxAnswer: webhook.MaxAnswer, Timeout: webhook.LongestTimeout}},
	} {
		c.cfg.Deny = r.settings.EgressDeny
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

// ownURL returns why a URL in a file of the operator can never be reached, nil if it can.
func ownURL(by *egress.Client, rawURL string) error {
	if err := by.CheckURL(rawURL); err != nil {
		return fmt.Errorf("must be an http or https URL without a user or a fragment, of a host that neither --egress-deny nor the rules for metadata services name (%s)", egress.Rule(err))
	}
	return nil
}
