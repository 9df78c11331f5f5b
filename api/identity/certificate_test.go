package identity_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"longhaul/api/call"
	apigrpc "longhaul/api/grpc"
	"longhaul/api/identity"
	"longhaul/internal/test"
)

// An issuer makes certificates.
type issuer struct {
	pair tls.Certificate
	pool *x509.CertPool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	template := x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, Subject: pkix.Name{CommonName: "CA"}}
	pair := issue(t, template, nil)
	pool := x509.NewCertPool()
	pool.AddCert(pair.Leaf)
	return &issuer{pair, pool}
}

// issue makes a certificate that is valid now; by is nil for one that signs itself.
func issue(t *testing.T, template x509.Certificate, by *issuer) tls.Certificate {
	t.Helper()
	key := test.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template.SerialNumber = big.NewInt(1)
	if template.NotAfter.IsZero() {
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	parent, signer := &template, key
	if by != nil {
		parent, signer = by.pair.Leaf, by.pair.PrivateKey.(*ecdsa.PrivateKey)
	}
	der := test.Value(x509.CreateCertificate(rand.Reader, &template, parent, key.Public(), signer))(t)
	leaf := test.Value(x509.ParseCertificate(der))(t)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// client returns a certificate for a client.
func (i *issuer) client(t *testing.T, template x509.Certificate) tls.Certificate {
	t.Helper()
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return issue(t, template, i)
}

// The principal of a client is the first name in its certificate, and only a
// verified one counts.
func TestAuthenticate_certificate(t *testing.T) {
	ours, theirs := newIssuer(t), newIssuer(t)
	spiffe := test.Value(url.Parse("spiffe://example.com/build"))(t)
	named := pkix.Name{CommonName: "Build"}
	f := newFixture(t, identity.Config{Certificates: &identity.Certificates{Tenant: "acme", Scopes: []call.Scope{call.ReadRuns}}})
	key, _ := f.key(t)
	hosts := secured(t, f, ours)
	for _, tc := range []struct {
		name        string
		certificate tls.Certificate
		headers     []string
		principal   string // "" for a refusal
	}{
		{"URI", ours.client(t, x509.Certificate{Subject: named, DNSNames: []string{"build.example.com"}, URIs: []*url.URL{spiffe}}), nil, "spiffe://example.com/build"},
		{"DNS name", ours.client(t, x509.Certificate{Subject: named, DNSNames: []string{"build.example.com"}}), nil, "build.example.com"},
		{"common name", ours.client(t, x509.Certificate{Subject: named}), nil, "Build"},
		{"no name", ours.client(t, x509.Certificate{}), nil, ""},
		{"no certificate", tls.Certificate{}, nil, ""},
		{"a key and a certificate", ours.client(t, x509.Certificate{Subject: named}), []string{"X-API-Key", key}, "ann"},
		{"a wrong key and a certificate", ours.client(t, x509.Certificate{Subject: named}), []string{"X-API-Key", "lh_a_b"}, ""},
	} {
		wantStatuses := map[bool][2]int{true: {http.StatusOK, int(codes.OK)}, false: {http.StatusUnauthorized, int(codes.Unauthenticated)}}[tc.principal != ""]
		got := hosts.call(t, tc.certificate, tc.headers...)
		test.Equal(t, tc.name+": statuses over HTTP and gRPC", wantStatuses, got)
		if tc.principal == "" {
			continue
		}
		want := call.Caller{Tenant: "acme", Principal: tc.principal, Scopes: []call.Scope{call.ReadRuns}}
		test.Equal(t, tc.name+": caller", want, hosts.caller, cmp.FilterPath(func(p cmp.Path) bool { return p.String() == "Groups" }, cmp.Ignore()))
	}
	for name, certificate := range map[string]tls.Certificate{
		"of another authority": theirs.client(t, x509.Certificate{Subject: named}),
		"expired":              ours.client(t, x509.Certificate{Subject: named, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}),
		"for servers":          issue(t, x509.Certificate{Subject: named, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, ours),
	} {
		if got := hosts.call(t, certificate); got[0] != 0 || got[1] != int(codes.Unavailable) {
			t.Errorf("%s: statuses %v, want no connection", name, got)
		}
	}
}

// A certificate that the listener has not verified proves nothing, nor does one
// that has expired on an open connection.
func TestAuthenticate_unverified(t *testing.T) {
	f := newFixture(t, identity.Config{Certificates: &identity.Certificates{Tenant: "acme"}})
	leaf := newIssuer(t).client(t, x509.Certificate{Subject: pkix.Name{CommonName: "Build"}}).Leaf
	r := request(t)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}
	if got, err := f.Authenticate(r); err == nil {
		t.Errorf("caller %+v", got)
	}
	r.TLS.VerifiedChains = [][]*x509.Certificate{{leaf}}
	test.Is(t, "verified: caller", "Build", test.Value(f.Authenticate(r))(t).Principal)
	f.clock.move(leaf.NotAfter.Sub(f.clock.Now()) + time.Second)
	if got, err := f.Authenticate(r); err == nil {
		t.Errorf("expired since the connection was opened: caller %+v", got)
	}
}

// A host serves HTTP and gRPC with TLS, and verifies client certificates.
type host struct {
	http   *httptest.Server
	grpc   string // its address
	roots  *x509.CertPool
	caller call.Caller // of the last HTTP call
}

func secured(t *testing.T, f *fixture, clients *issuer) *host {
	t.Helper()
	servers := newIssuer(t)
	cfg := &tls.Config{
		Certificates: []tls.Certificate{issue(t, x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}, servers)},
		ClientCAs:    clients.pool, ClientAuth: tls.VerifyClientCertIfGiven,
	}
	h := &host{roots: servers.pool}
	h.http = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.caller, _ = f.Authenticate(r)
		f.http.ServeHTTP(w, r)
	}))
	h.http.TLS = cfg.Clone()
	h.http.Config.ErrorLog = nil
	h.http.StartTLS()
	t.Cleanup(h.http.Close)
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	h.grpc = l.Addr().String()
	s := apigrpc.New(apigrpc.Config{Service: f.service, Authenticate: f.Authenticate, TLS: cfg.Clone()})
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	t.Cleanup(func() {
		test.Error(t, "the call", nil, s.Shutdown(context.Background()))
		<-served
	})
	return h
}

// call calls with a certificate, unless it is empty, and returns the statuses over
// HTTP and gRPC. A failed connection has status 0 over HTTP.
func (h *host) call(t *testing.T, certificate tls.Certificate, headers ...string) (statuses [2]int) {
	t.Helper()
	cfg := &tls.Config{RootCAs: h.roots}
	if certificate.Leaf != nil {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	r := request(t, headers...)
	r.URL.Scheme, r.URL.Host, r.RequestURI = "https", strings.TrimPrefix(h.http.URL, "https://"), ""
	client := http.Client{Transport: &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}}
	if res, err := client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		statuses[0] = res.StatusCode
	}
	conn, err := grpc.NewClient(h.grpc, grpc.WithTransportCredentials(credentials.NewTLS(cfg)))
	test.OK(t, err)
	defer conn.Close()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "a2a-version", "1.0")
	for i := 0; i+1 < len(headers); i += 2 {
		ctx = metadata.AppendToOutgoingContext(ctx, strings.ToLower(headers[i]), headers[i+1])
	}
	_, err = a2apb.NewA2AServiceClient(conn).ListTasks(ctx, &a2apb.ListTasksRequest{})
	statuses[1] = int(status.Code(err))
	return statuses
}

// A name that is chosen with one kind of credential is no principal of another kind.
func TestAuthenticate_namesApart(t *testing.T) {
	p := newProvider(t)
	cfg := p.accepts(func(c *identity.Tokens) { c.PrincipalPrefix = "oidc:" })
	cfg.Certificates = &identity.Certificates{Tenant: "acme", Prefix: "cert:"}
	f := newFixture(t, cfg)
	key, _ := f.key(t)
	leaf := newIssuer(t).client(t, x509.Certificate{Subject: pkix.Name{CommonName: "ann"}}).Leaf
	byCertificate := request(t)
	byCertificate.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{leaf}}}
	var got []string
	for _, r := range []*http.Request{request(t, "X-API-Key", key), request(t, "Authorization", "Bearer "+p.token(f, nil)), byCertificate} {
		caller, err := f.Authenticate(r)
		if err != nil || caller.Tenant != "acme" {
			t.Fatalf("caller %+v, error %v", caller, err)
		}
		got = append(got, caller.Principal)
	}
	test.Equal(t, "principals", []string{"ann", "oidc:ann", "cert:ann"}, got)
	if _, err := f.Authenticate(request(t, "Authorization", "Bearer "+p.token(f, fields{"sub": ""}))); err == nil {
		t.Error("a token without a name is accepted")
	}
}
