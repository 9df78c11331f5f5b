package call

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

// A StreamPermit is the permit of a call for a stream.
type StreamPermit struct {
	call *Call
	Drop func() // gives the permit back
}

// PermitStream takes a permit for a stream, which lasts until it is dropped or ended. It is taken
// before the stream is opened, so that a send that is refused for it delivers nothing.
func (c *Call) PermitStream() (p StreamPermit, err error) {
	p = StreamPermit{c, func() {}}
	if c.quota != nil {
		p.Drop, err = c.quota.Stream(c.Caller)
	}
	return p, err
}

// Begin notes that the call was answered with a stream, and gives back the permit of the call. It
// returns what to call when the stream is closed, and the check of its caller meanwhile.
func (p StreamPermit) Begin() (end func(), check CallerCheck) {
	c := p.call
	c.streams = true
	c.observer.Streaming(1)
	c.releaseQuota()
	return func() {
		p.Drop()
		c.observer.Streaming(-1)
	}, c.callerCheck
}

// Refusal returns the authentication of a call whose credentials are wrong: cause is for the log
// alone. With a quota, an address that sends many has to wait.
func (c *Call) Refusal(wrong Quota, cause error) func() (Caller, error) {
	return func() (Caller, error) {
		if wrong == nil {
			return Caller{}, cause
		}
		release, err := wrong.Call(Caller{Principal: c.From.String()})
		if err != nil {
			return Caller{}, err
		}
		release()
		return Caller{}, cause
	}
}
