package service

// A Quota limits how much one principal may call. The errors are faults that say
// when to try again.
type Quota interface {
	// Call begins a call, which lasts until leave is called.
	Call(c Caller) (leave func(), err error)
	// Stream opens a stream, which lasts until leave is called.
	Stream(c Caller) (leave func(), err error)
}

// enter takes a permit from the quota of the caller, until left. An anonymous caller
// has none: all of them share one principal.
func (c *Call) enter(q Quota) (err error) {
	if q == nil || c.Anonymous {
		return nil
	}
	c.quota = q
	c.leave, err = q.Call(c.Caller)
	return err
}

// left releases the permit of the call. It may be called more than once.
func (c *Call) left() {
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
	out.caller = c.presence
	c.left()
	return out, nil
}
