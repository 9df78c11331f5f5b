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
	name, unknown := errors.AsType[*net.DNSError](err)
	timeout, network := errors.AsType[net.Error](err)
	switch {
	case err == nil:
		return ""
	case wraps[*Denied](err):
		return ClassDenied
	case unknown && !name.IsTimeout:
		return ClassName
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), network && timeout.Timeout():
		return ClassTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		return ClassRefused
	case wraps[*tls.CertificateVerificationError](err), wraps[tls.RecordHeaderError](err), wraps[tls.AlertError](err), wraps[x509.HostnameError](err):
		return ClassTLS
	}
	return ClassNetwork
}

// wraps reports whether err is or wraps an error of a type.
func wraps[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Final reports whether a repeat of a request would fail in the same way: the URL
// itself is denied.
func Final(err error) bool {
	denied, ok := errors.AsType[*Denied](err)
	return ok && !denied.Now
}

// Rule returns the rule that denied a request, with its details for logs; "" if none
// did.
func Rule(err error) string {
	if denied, ok := errors.AsType[*Denied](err); ok {
		return denied.Rule + ": " + denied.Detail
	}
	return ""
}

// AllowFlags names the flags that set [Config].Allow and AllowPrivate, for messages.
const AllowFlags = "--egress-allow HOST or, for development, --allow-private-egress"

// Private reports whether a request was denied only because neither Allow nor AllowPrivate
// opens the host.
func Private(err error) bool {
	denied, ok := errors.AsType[*Denied](err)
	return ok && denied.Private
}
