// Package cluster runs Temporal the way operators do, for tests: the real server
// with its default settings, on PostgreSQL, behind mutual TLS, with permissions by
// certificate and by API key.
//
// Everything is on loopback, and ends with the test. PostgreSQL must be installed;
// a test without it fails.
package cluster

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/server/common/authorization"
	"google.golang.org/protobuf/types/known/durationpb"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

// A Cluster is a running Temporal.
type Cluster struct {
	Addr string // of the frontend
	CA   string // file with the certificate of the authority that signed the certificate of the server

	issuer *Authority
	roles  *roles
	admin  client.Client
}

// Start starts PostgreSQL and Temporal, and waits until both answer.
func Start(t testing.TB) *Cluster {
	t.Helper()
	dir := t.TempDir()
	issuer := NewAuthority(t, dir, "ca")
	c := &Cluster{CA: issuer.File, issuer: issuer, roles: &roles{byKey: map[string]authorization.Role{}}}
	c.Addr = c.startServer(t, startPostgres(t))
	c.admin = c.dial(t)
	harness.Eventually(t, time.Minute, "Temporal answers", func() error {
		_, err := c.admin.CheckHealth(t.Context(), &client.CheckHealthRequest{})
		return err
	})
	return c
}

// startPostgres starts PostgreSQL with an empty directory.
func startPostgres(t testing.TB) *pgserver.Server {
	t.Helper()
	needs.Tools(t, "postgres")
	server, err := pgserver.Start(t.Context(), "fsync=off", "max_connections=200")
	test.OK(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the log of PostgreSQL: %s", server.Log())
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Certificate returns files with a client certificate that the cluster trusts, and
// its key. Only the name "system" gives permissions.
func (c *Cluster) Certificate(t testing.TB, name string) (cert, key string) {
	t.Helper()
	return c.issuer.Issue(t, name)
}

// Grant lets callers with an API key do what a role may: "reader", "writer" or "admin" in
// all namespaces, or "" nothing.
func (c *Cluster) Grant(key, role string) { c.roles.grant(key, role) }

// Namespace creates a namespace with search attributes of type keyword, and waits
// until they can be used.
func (c *Cluster) Namespace(t testing.TB, name string, retention time.Duration, attributes ...string) {
	t.Helper()
	_, err := c.admin.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	test.OK(t, err)
	harness.Eventually(t, time.Minute, "namespace "+name+" is known", func() error {
		_, err := c.Count(t, name, "")
		return err
	})
	if len(attributes) > 0 {
		c.AddAttributes(t, name, attributes...)
	}
}

// AddAttributes adds search attributes of type keyword to a namespace, and waits
// until they can be used.
func (c *Cluster) AddAttributes(t testing.TB, namespace string, names ...string) {
	t.Helper()
	types := map[string]enumspb.IndexedValueType{}
	for _, name := range names {
		types[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
	}
	_, err := c.admin.OperatorService().AddSearchAttributes(t.Context(), &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: types})
	test.OK(t, err)
	harness.Eventually(t, time.Minute, "search attributes are known", func() error {
		_, err := c.Count(t, namespace, strings.Join(names, " = 'x' AND ")+" = 'x'")
		return err
	})
}

// Count returns how many workflows of a namespace a query finds.
func (c *Cluster) Count(t testing.TB, namespace, query string) (int64, error) {
	found, err := c.admin.WorkflowService().CountWorkflowExecutions(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace, Query: query})
	return found.GetCount(), err
}

// Terminate terminates a workflow.
func (c *Cluster) Terminate(t testing.TB, namespace, workflowID string) {
	t.Helper()
	_, err := c.admin.WorkflowService().TerminateWorkflowExecution(t.Context(), &workflowservice.TerminateWorkflowExecutionRequest{
		Namespace: namespace, WorkflowExecution: &commonpb.WorkflowExecution{WorkflowId: workflowID},
	})
	test.OK(t, err)
}

// Describe returns what a namespace is like.
func (c *Cluster) Describe(t testing.TB, namespace string) (*workflowservice.DescribeNamespaceResponse, error) {
	return c.admin.WorkflowService().DescribeNamespace(t.Context(), &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
}

// dial returns a client that may do everything.
func (c *Cluster) dial(t testing.TB) client.Client {
	t.Helper()
	certFile, keyFile := c.issuer.Issue(t, systemName)
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	test.OK(t, err)
	roots := x509.NewCertPool()
	pem, err := os.ReadFile(c.CA)
	if err != nil || !roots.AppendCertsFromPEM(pem) {
		t.Fatalf("read %s: %v", c.CA, err)
	}
	dialed, err := client.NewLazyClient(client.Options{HostPort: c.Addr, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		ConnectionOptions: client.ConnectionOptions{TLS: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}}})
	test.OK(t, err)
	t.Cleanup(dialed.Close)
	return dialed
}

// systemName is the name in the certificates that may do everything: the certificates of the
// system's own workers and of the tests.
const systemName = "system"

// roles are the permissions of callers. It implements [authorization.ClaimMapper].
type roles struct {
	mu    sync.Mutex
	byKey map[string]authorization.Role
}

func (r *roles) grant(key, role string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byKey[key] = map[string]authorization.Role{
		"reader": authorization.RoleReader, "writer": authorization.RoleWriter, "admin": authorization.RoleAdmin,
	}[role]
}

// GetClaims returns the permissions of a caller.
func (r *roles) GetClaims(from *authorization.AuthInfo) (*authorization.Claims, error) {
	if from.TLSSubject != nil && from.TLSSubject.CommonName == systemName {
		return &authorization.Claims{Subject: systemName, System: authorization.RoleAdmin}, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return &authorization.Claims{Subject: "key", System: r.byKey[strings.TrimPrefix(from.AuthToken, "Bearer ")]}, nil
}
