package call

import (
	"errors"
	"time"

	"longhaul/opt"
)

// A CallerCheck checks at intervals that the caller of an open stream is still accepted: its
// credential may be revoked or expire.
type CallerCheck struct {
	authenticate func() (Caller, error) // nil: the caller is not checked
	caller       Caller
	every        time.Duration
	checked      time.Time
}

// Check returns a fault if the caller is not accepted any more. A credential that
// cannot be checked now stays accepted.
func (p *CallerCheck) Check() error {
	if p.authenticate == nil || p.caller.Anonymous || time.Since(p.checked) < p.every {
		return nil
	}
	p.checked = time.Now()
	now, err := p.authenticate()
	_, busy := errors.AsType[*Fault](err)
	switch {
	case busy, errors.Is(err, opt.ErrUnavailable):
		return nil
	case err != nil, now.Tenant != p.caller.Tenant, now.Principal != p.caller.Principal:
		return ErrUnauthenticated
	}
	return nil
}
