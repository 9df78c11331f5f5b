package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"syscall"
)

// Classes of errors of [Client.Do].
const (
	ClassDenied  = "address denied"
	ClassTimeout = "timeout"
	ClassName    = "name not found"
	ClassRefused = "refused"
	ClassTLS     = "tls"
	ClassNetwork = "network"
)

// Class returns a word for an error of [Client.Do] that holds nothing of the URL
// or the answer: one of the classes, "" for nil.
func Class(err error) string {
	var denied *Denied
	var name *net.DNSError
	var timeout net.Error
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var host x509.HostnameError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &denied):
		return ClassDenied
	case errors.As(err, &name) && !name.IsTimeout:
		return ClassName
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return ClassTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return ClassRefused
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &host):
		return ClassTLS
	}
	return ClassNetwork
}

// Final reports whether a repeat of a request would fail in the same way: the URL
// itself is denied.
func Final(err error) bool {
	var denied *Denied
	return errors.As(err, &denied) && !denied.Now
}

// Rule returns the rule that denied a request, with its details for logs; "" if none
// did.
func Rule(err error) string {
	var denied *Denied
	if !errors.As(err, &denied) {
		return ""
	}
	return denied.Rule + ": " + denied.Detail
}

// AllowPrivate is the flag that sets [Config].AllowPrivate, for messages.
const AllowPrivate = "--allow-private-egress"

// Private reports whether a request was denied only because AllowPrivate is not set.
func Private(err error) bool {
	var denied *Denied
	return errors.As(err, &denied) && denied.Private
}
