package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/api"
	"longhaul/api/card"
	apiservice "longhaul/api/service"
	"longhaul/internal/test"
)

// writePair writes a certificate that signs itself, and its key.
func writePair(t *testing.T, s authSettings, name string) {
	t.Helper()
	key := test.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der := test.Value(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	private := test.Value(x509.MarshalPKCS8PrivateKey(key))(t)
	writePEM(t, s.TLSCert, "CERTIFICATE", der)
	writePEM(t, s.TLSKey, "PRIVATE KEY", private)
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	test.OK(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func tlsSettings(t *testing.T) authSettings {
	dir := t.TempDir()
	return authSettings{TLSCert: filepath.Join(dir, "cert.pem"), TLSKey: filepath.Join(dir, "key.pem")}
}

// presented returns the name in the certificate of a server, which it takes from
// files for each connection.
func presented(t *testing.T, cfg *tls.Config) string {
	t.Helper()
	l := test.Value(tls.Listen("tcp", "127.0.0.1:0", cfg))(t)
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := l.Accept(); err == nil {
			_ = conn.(*tls.Conn).Handshake()
			_ = conn.Close()
		}
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}}) // only its name matters
	test.OK(t, err)
	defer conn.Close()
	<-done
	state := conn.ConnectionState()
	test.Is(t, "protocol", "h2", state.NegotiatedProtocol)
	return state.PeerCertificates[0].Subject.CommonName
}

// Changed files are read again, at most once a second. Files that cannot be read
// change nothing.
func TestCertificates_reload(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	s := tlsSettings(t)
	writePair(t, s, "first")
	c := test.Value(s.certificates(zap.New(core)))(t)
	now := time.Now()
	c.now = func() time.Time { return now }
	cfg := c.config("h2")
	changed := func(name string, age time.Duration) {
		writePair(t, s, name)
		for _, path := range []string{s.TLSCert, s.TLSKey} {
			test.OK(t, os.Chtimes(path, now.Add(age), now.Add(age)))
		}
	}
	want := func(name string) {
		t.Helper()
		test.Is(t, "the certificate is that of", name, presented(t, cfg))
	}
	now = now.Add(checkFilesEvery)
	want("first")
	changed("second", time.Hour)
	want("first")
	now = now.Add(checkFilesEvery)
	want("second")
	test.OK(t, os.WriteFile(s.TLSKey, []byte("half"), 0o600))
	for range 3 {
		now = now.Add(checkFilesEvery)
		want("second")
	}
	test.Is(t, "broken files were logged times", 1, logs.FilterMessage("Kept the certificates from before").Len())
	changed("third", 2*time.Hour)
	now = now.Add(checkFilesEvery)
	want("third")
}

func TestCertificates_refused(t *testing.T) {
	if c, err := (authSettings{}).certificates(zap.NewNop()); c != nil || err != nil {
		t.Errorf("without TLS: %v, error %v", c, err)
	}
	s := tlsSettings(t)
	test.Fails(t, "missing files", "read --tls-cert and --tls-key", test.Err(s.certificates(zap.NewNop())))
	writePair(t, s, "x")
	s.ClientCA = s.TLSKey
	test.Fails(t, "a key as authority", "--client-ca: it has no certificate", test.Err(s.certificates(zap.NewNop())))
}

// A server with TLS answers only over TLS, in HTTP/2 too.
func TestHTTPServer_tls(t *testing.T) {
	settings := tlsSettings(t)
	writePair(t, settings, "x")
	files := test.Value(settings.certificates(zap.NewNop()))(t)
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	s := &httpServer{api: &apiServer{ground: &ground{host: newHost(zap.NewNop(), Build{})}}}
	s.pages = api.New(api.Config{Service: apiservice.New(apiservice.Config{Card: card.Info{Name: "Longhaul"}}), Authenticate: anonymousAuthority{}.Authenticate})
	s.serve(l, files)
	defer func() {
		test.OK(t, s.Stop())
	}()
	roots := x509.NewCertPool()
	text, err := os.ReadFile(settings.TLSCert)
	if err != nil || !roots.AppendCertsFromPEM(text) {
		t.Fatal(err)
	}
	secure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true}}
	for url, want := range map[string]string{"https://" + l.Addr().String(): "HTTP/2.0 200", "http://" + l.Addr().String(): "HTTP/1.0 400"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", nil)
		r.RequestURI = ""
		res := test.Value(secure.Do(r))(t)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		test.Is(t, url, want, res.Proto+" "+res.Status[:3])
	}
}
