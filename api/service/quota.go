package service

// A Quota limits how much one principal may call. The errors are faults that say
// when to try again.
type Quota interface {
	// Call begins a call, which lasts until leave is called.
	Call(c Caller) (leave func(), err error)
	// Stream opens a stream, which lasts until leave is called.
	Stream(c Caller) (leave func(), err error)
}

// enterQuota takes a permit from the quota of the caller, until leaveQuota. An anonymous caller
// has no quota: all anonymous callers share one principal.
func (c *Call) enterQuota(q Quota) (err error) {
	if q == nil || c.Anonymous {
		return nil
	}
	c.quota = q
	c.leave, err = q.Call(c.Caller)
	return err
}

// leaveQuota releases the permit of the call. It may be called more than once.
func (c *Call) leaveQuota() {
	if c.leave != nil {
		c.leave()
		c.leave = nil
	}
}

// streaming calls open with a permit for a stream, and then releases the permit of the
// call. The stream has its permit until it is closed. The permit is taken first, so that a
// send that is refused for it delivers nothing.
func (c *Call) streaming(open func() (*Stream, error)) (out *Stream, err error) {
	leave := func() {}
	if c.quota != nil {
		if leave, err = c.quota.Stream(c.Caller); err != nil {
			return nil, err
		}
	}
	defer func() {
		if out == nil {
			leave()
		}
	}()
	if out, err = open(); err != nil {
		return nil, err
	}
	c.streams = true
	c.observer.Streaming(1)
	out.leave = func() {
		leave()
		c.observer.Streaming(-1)
	}
	out.callerCheck = c.callerCheck
	c.leaveQuota()
	return out, nil
}
