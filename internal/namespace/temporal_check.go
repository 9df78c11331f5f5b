package namespace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"go.uber.org/zap"

	"longhaul/workflows"
)

// A Namespace is the namespace of Temporal that a service works in.
type Namespace struct {
	temporal client.Client
	cipher   workflows.Cipher
	target   Target
	log      *zap.Logger
}

// New returns the namespace of target, to which temporal is a client.
func New(temporal client.Client, cipher workflows.Cipher, target Target, log *zap.Logger) Namespace {
	return Namespace{temporal, cipher, target, log}
}

// Await waits until the namespace can be used. An error says what to do: at once
// if waiting does not help, otherwise after the time of w. If w says so, a missing
// namespace is created.
func (n Namespace) Await(ctx context.Context, w Wait, retention time.Duration) (workflows.NamespaceState, error) {
	end := time.NewTimer(w.TemporalWait)
	defer end.Stop()
	for {
		state, err := n.Examine(ctx)
		if w.CreateNamespace {
			err = n.createMissing(ctx, state, err, retention)
		}
		if err == nil || IsFinal(err) {
			return state, n.WithAdvice(err, retention)
		}
		n.log.Warn("Waiting for Temporal", zap.Error(err))
		select {
		case <-ctx.Done():
			return state, ctx.Err()
		case <-end.C:
			return state, n.WithAdvice(fmt.Errorf("no success within %v: %w", w.TemporalWait, err), retention)
		case <-time.After(time.Second):
		}
	}
}

func (n Namespace) Examine(ctx context.Context) (state workflows.NamespaceState, err error) {
	err = withTimeout(ctx, func(ctx context.Context) error {
		state, err = workflows.Examine(ctx, n.temporal, n.target.namespace.value)
		return err
	})
	return state, err
}

// CheckKeys refuses keys for payloads with which others have not encrypted.
func (n Namespace) CheckKeys(ctx context.Context) error {
	if _, err := n.Examine(ctx); errors.Is(err, workflows.ErrKeys) {
		return n.WithAdvice(err, Week)
	}
	return nil
}

// createMissing creates the namespace or its search attributes if an examination found
// that they are missing. It returns nil if nothing is missing, or cannot be
// created and is not necessary.
func (n Namespace) createMissing(ctx context.Context, state workflows.NamespaceState, found error, retention time.Duration) error {
	name := n.target.namespace.value
	return withTimeout(ctx, func(ctx context.Context) error {
		switch {
		case errors.Is(found, workflows.ErrNoNamespace):
			if err := workflows.CreateNamespace(ctx, n.temporal, name, retention); err != nil {
				return err
			}
			return errors.New("the new namespace is not known to Temporal yet")
		case found != nil || len(state.Missing) == 0:
			return found
		}
		err := workflows.AddSearchAttributes(ctx, n.temporal, name, state.Missing)
		if err != nil && (IsFinal(err) || isRefused(err)) {
			n.log.Warn("Cannot add search attributes", zap.Error(err))
			return nil
		}
		if err == nil {
			err = errors.New("the new search attributes are not known to Temporal yet")
		}
		return err
	})
}

// IsFinal reports whether waiting cannot resolve an error of Examine.
func IsFinal(err error) bool {
	return errors.Is(err, workflows.ErrNoNamespace) || errors.Is(err, workflows.ErrDenied) || errors.Is(err, workflows.ErrTLS) || errors.Is(err, workflows.ErrKeys)
}

// WithAdvice adds to an error of Examine what to do.
func (n Namespace) WithAdvice(err error, retention time.Duration) error {
	var todo string
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workflows.ErrNoNamespace):
		todo = fmt.Sprintf("create it with %q, or start a worker with --create-namespace", n.target.createCommand(retention))
	case errors.Is(err, workflows.ErrDenied):
		todo = "check the name of the namespace, and use credentials that may read and write in it (TEMPORAL_API_KEY or api_key of the profile; TEMPORAL_TLS_CLIENT_CERT_PATH or tls.client_cert_path)"
	case errors.Is(err, workflows.ErrKeys):
		todo = "give this process the keys of the others with --payload-keys or --payload-keys-file. A new key goes behind the others everywhere, before any process has it as the first"
	case errors.Is(err, workflows.ErrTLS) && strings.Contains(err.Error(), "does not look like a TLS handshake"):
		todo = fmt.Sprintf("the server at this address answers without TLS, which is on here (%s): set TEMPORAL_TLS=false, or correct the address", n.target.tls.from)
	case errors.Is(err, workflows.ErrTLS):
		todo = "check the certificates: that of the server (TEMPORAL_TLS_SERVER_CA_CERT_PATH or tls.server_ca_cert_path of the profile, TEMPORAL_TLS_SERVER_NAME), and our own (TEMPORAL_TLS_CLIENT_CERT_PATH, TEMPORAL_TLS_CLIENT_KEY_PATH)"
	case n.target.tls.value == "off":
		todo = "check the address and the network; if the server needs TLS, set TEMPORAL_TLS=true or [profile.NAME.tls]"
	default:
		todo = "check the address and the network"
	}
	return fmt.Errorf("%v: %w; %s", n.target, err, todo)
}

// LogMissing logs what the namespace lacks, and the command that adds it. The service works
// without it.
func (n Namespace) LogMissing(state workflows.NamespaceState) {
	if len(state.Missing) > 0 {
		n.log.Warn("Temporal has not all search attributes, so its lists do not show tenants, contexts and states. Add them and start the API again",
			zap.Strings("missing", state.Missing), zap.String("run", n.target.attributesCommand(state.Missing)))
	}
}

// WarnRetention warns if the namespace keeps ended workflows for a shorter time than
// the journal. Then Temporal's UI shows less than the journal.
func (n Namespace) WarnRetention(state workflows.NamespaceState, ttl time.Duration) {
	if state.Retention < ttl {
		n.log.Warn("Temporal keeps ended workflows for a shorter time than --ttl",
			zap.Duration("retention", state.Retention), zap.Duration("ttl", ttl), zap.String("run", n.target.retentionCommand(ttl)))
	}
}

// The commands below are for messages. Temporal Cloud has its own tool for namespaces.

func (t Target) createCommand(retention time.Duration) string {
	if t.cloud() {
		return fmt.Sprintf("tcld namespace create --namespace %s --region REGION --retention-days %d", t.namespace.value, days(retention))
	}
	return fmt.Sprintf("temporal operator namespace create --namespace %s --retention %s%s", t.namespace.value, hours(retention), t.toolFlags())
}

func (t Target) retentionCommand(retention time.Duration) string {
	if t.cloud() {
		return fmt.Sprintf("tcld namespace retention set --namespace %s --retention-days %d", t.namespace.value, days(retention))
	}
	return fmt.Sprintf("temporal operator namespace update --namespace %s --retention %s%s", t.namespace.value, hours(retention), t.toolFlags())
}

func (t Target) attributesCommand(names []string) string {
	var b strings.Builder
	if t.cloud() {
		fmt.Fprintf(&b, "tcld namespace search-attributes add --namespace %s", t.namespace.value)
		for _, name := range names {
			fmt.Fprintf(&b, " --search-attribute %s=Keyword", name)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "temporal operator search-attribute create --namespace %s", t.namespace.value)
	for _, name := range names {
		fmt.Fprintf(&b, " --name %s --type Keyword", name)
	}
	return b.String() + t.toolFlags()
}

// toolFlags returns the flags with which Temporal's own tool finds the same server. It
// reads the same variables and profiles, but not our settings.
func (t Target) toolFlags() string {
	flags := ""
	if t.profile != "" {
		flags = " --profile " + t.profile
	}
	if t.profile == "" || !strings.HasPrefix(t.addr.from, "profile ") {
		flags += " --address " + t.addr.value
	}
	return flags
}

// cloud reports whether t is Temporal Cloud.
func (t Target) cloud() bool {
	host, _, _ := net.SplitHostPort(t.addr.value)
	return strings.HasSuffix(host, ".tmprl.cloud") || strings.HasSuffix(host, ".api.temporal.io")
}

// hours returns a duration in full hours, as Temporal's tool reads it.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", int(math.Ceil(d.Hours()))) }

func days(d time.Duration) int { return int(math.Ceil(d.Hours() / 24)) }
