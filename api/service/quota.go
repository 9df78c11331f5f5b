package service

// A Quota limits how much one principal may call. The errors are faults that say
// when to try again.
type Quota interface {
	// Call begins a call, which lasts until release is called.
	Call(c Caller) (release func(), err error)
	// Stream opens a stream, which lasts until release is called.
	Stream(c Caller) (release func(), err error)
}

// acquireQuota takes a permit from the quota of the caller, until releaseQuota. An anonymous caller
// has no quota: all anonymous callers share one principal.
func (c *Call) acquireQuota(q Quota) (err error) {
	if q == nil || c.Anonymous {
		return nil
	}
	c.quota = q
	c.releaseCall, err = q.Call(c.Caller)
	return err
}

// releaseQuota releases the permit of the call. It may be called more than once.
func (c *Call) releaseQuota() {
	if c.releaseCall != nil {
		c.releaseCall()
		c.releaseCall = nil
	}
}

// streaming calls open with a permit for a stream, and then releases the permit of the
// call. The stream has its permit until it is closed. The permit is taken first, so that a
// send that is refused for it delivers nothing.
func (c *Call) streaming(open func() (*Stream, error)) (out *Stream, err error) {
	release := func() {}
	if c.quota != nil {
		if release, err = c.quota.Stream(c.Caller); err != nil {
			return nil, err
		}
	}
	defer func() {
		if out == nil {
			release()
		}
	}()
	if out, err = open(); err != nil {
		return nil, err
	}
	c.streams = true
	c.observer.Streaming(1)
	out.releaseStream = func() {
		release()
		c.observer.Streaming(-1)
	}
	out.callerCheck = c.callerCheck
	c.releaseQuota()
	return out, nil
}
