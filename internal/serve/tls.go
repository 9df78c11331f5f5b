package serve

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.uber.org/zap"
)

// checkFilesEvery is the shortest time between two checks of the files of certificates.
const checkFilesEvery = time.Second

// certificates are the files of a TLS server. They are read again when they have changed. While
// they cannot be read, the last valid ones are used.
type certificates struct {
	cert, key, clientCA string // clientCA is "" for no client certificates
	log                 *zap.Logger
	now                 func() time.Time

	mu        sync.Mutex
	checkedAt time.Time
	stamp     string // of the files at the latest attempt to read them
	current   *tls.Config
}

// certificates reads the files of the settings. It returns nil for a server
// without TLS.
func (s authSettings) certificates(log *zap.Logger) (*certificates, error) {
	if s.TLSCert == "" {
		return nil, nil
	}
	c := &certificates{cert: s.TLSCert, key: s.TLSKey, clientCA: s.ClientCA, log: log, now: time.Now}
	var err error
	if c.current, err = c.read(); err != nil {
		return nil, err
	}
	c.checkedAt, c.stamp = c.now(), c.fileStamps()
	return c, nil
}

// config returns the configuration of a listener for the given protocols.
func (c *certificates) config(protocols ...string) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: protocols,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			latest := c.latest().Clone()
			latest.NextProtos = protocols
			return latest, nil
		},
	}
}

// latest returns the configuration with the latest files.
func (c *certificates) latest() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.checkedAt) < checkFilesEvery {
		return c.current
	}
	c.checkedAt = now
	stamp := c.fileStamps()
	if stamp == c.stamp {
		return c.current
	}
	c.stamp = stamp
	read, err := c.read()
	if err != nil {
		c.log.Error("Kept the certificates from before", zap.Error(err))
		return c.current
	}
	c.log.Info("Read the certificates again")
	c.current = read
	return read
}

// fileStamps returns a text that changes when the files change.
func (c *certificates) fileStamps() (text string) {
	for _, path := range []string{c.cert, c.key, c.clientCA} {
		if info, err := os.Stat(path); err == nil {
			text += fmt.Sprintln(info.ModTime().UnixNano(), info.Size())
		}
	}
	return text
}

func (c *certificates) read() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, fmt.Errorf("read --tls-cert and --tls-key: %w", err)
	}
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair},
		SessionTicketsDisabled: true, // a resumed session would outlive a change of the authorities
	}
	if c.clientCA == "" {
		return cfg, nil
	}
	text, err := os.ReadFile(c.clientCA)
	if err != nil {
		return nil, fmt.Errorf("read --client-ca: %w", err)
	}
	cfg.ClientCAs = x509.NewCertPool()
	if !cfg.ClientCAs.AppendCertsFromPEM(text) {
		return nil, errors.New("read --client-ca: it has no certificate in PEM form")
	}
	cfg.ClientAuth = tls.VerifyClientCertIfGiven // the card is public, and callers may have other credentials
	return cfg, nil
}
