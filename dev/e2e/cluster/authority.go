package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"longhaul/internal/test"
)

// An Authority signs certificates.
type Authority struct {
	File string // with its own certificate

	dir    string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	issued int64
}

// NewAuthority returns an authority that keeps its files in dir.
func NewAuthority(t testing.TB, dir, name string) *Authority {
	t.Helper()
	a := &Authority{File: filepath.Join(dir, name+".pem"), dir: dir, key: newKey(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	store(t, a.File, "CERTIFICATE", a.sign(t, a.cert, a.key))
	return a
}

// Issue returns new files with a certificate for clients, and for servers on
// loopback, and its key.
func (a *Authority) Issue(t testing.TB, name string) (cert, key string) {
	t.Helper()
	a.issued++
	private := newKey(t)
	signed := a.sign(t, &x509.Certificate{
		SerialNumber: big.NewInt(1 + a.issued), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{serverName}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, private)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	test.OK(t, err)
	base := filepath.Join(a.dir, fmt.Sprintf("%s-%d", name, a.issued))
	store(t, base+".pem", "CERTIFICATE", signed)
	store(t, base+".key", "PRIVATE KEY", der)
	return base + ".pem", base + ".key"
}

func (a *Authority) sign(t testing.TB, cert *x509.Certificate, key *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, a.cert, &key.PublicKey, a.key)
	test.OK(t, err)
	return der
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	test.OK(t, err)
	return key
}

func store(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	test.OK(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}
