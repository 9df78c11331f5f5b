package call

import (
	"cmp"
	"encoding/hex"
	"errors"
	"io"
	"net/netip"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/opt"
)

// A Caller is the sender of a request.
type Caller struct {
	Tenant, Principal string
	Groups            []string // that the principal belongs to
	Scopes            []Scope  // without one, it may do nothing
	Anonymous         bool     // not authenticated
}

// ErrForbidden is wrapped by errors of authentication about a known caller
// without permission.
var ErrForbidden = errors.New("forbidden")

// Rules has the differences in behaviour between the protocol versions.
type Rules struct {
	SubscribeToEnded bool // a subscription to an ended task shows the task once
	InterruptEnds    bool // a subscription ends when the task needs input
	CardFault        bool // a missing extended card has its own fault
	DefaultPush      bool // a push config may have no id
}

// A Call is one request in progress: its caller, the rules of its version, its
// extensions, and the ids to log. It is for one goroutine.
type Call struct {
	Caller
	RequestID string
	From      netip.Prefix // the network that its client is counted with; the zero Prefix if that is not known
	Rules     Rules
	TraceID   string     // of its trace, for the log; "" for none
	Binding   string     // by which it came; "" for plain HTTP
	Method    string     // its name in the log; "" until it is known
	OfOPT     bool       // the method is one of the extension
	Key       string     // the idempotency key that the sender chose, "" for none
	KeyField  string     // where in the request Key stands
	After     string     // the number of the last event that a resumed stream has delivered
	Named     []string   // extensions that it names for the whole request
	Active    []string   // extensions that are on, once Activate has been called
	Answer    *Answering // nil if it is not known to answer a gate
	Fault     *Fault     // that it failed with

	quota               Quota       // nil for a call without limits
	releaseCall         func()      // ends its place in the quota; nil: it has none
	callerCheck         CallerCheck // of its caller, for a stream
	operation           string      // "" until it is known to be one of ours
	streams             bool        // it was answered with a stream
	observer            Observer
	Began               time.Time
	objectiveID, taskID string
	refused             string // why its credentials were refused; for the log alone
}

// TakeKey takes the id that the metadata of a request gives to a change as its
// idempotency key, unless there is one in the header.
func (c *Call) TakeKey(id string) {
	if c.Key == "" && id != "" {
		c.Key, c.KeyField = id, "metadata."+opt.KeyRequestID
	}
}

// Knows reports whether an extension is on.
func (c *Call) Knows(uri string) bool { return slices.Contains(c.Active, uri) }

// KnowsOPT reports whether the client understands the extension.
func (c *Call) KnowsOPT() bool { return c.Knows(a2a.ExtensionOPT) }

// NamesOPT reports whether the client named the extension for the whole request.
func (c *Call) NamesOPT() bool { return slices.Contains(c.Named, a2a.ExtensionOPT) }

// SetIDs sets the ids to log, all of which the caller may see.
func (c *Call) SetIDs(objectiveID, taskID string) { c.objectiveID, c.taskID = objectiveID, taskID }

// Operation returns the name of the operation that c calls, "other" if it calls none.
func (c *Call) Operation() string { return cmp.Or(c.operation, otherOperation) }

// About returns the ids of the objective and the task of c for its trace: names, each followed
// by its value, which may be empty.
func (c *Call) About() []string {
	return []string{
		"longhaul.request_id", c.RequestID, "longhaul.tenant", c.Tenant, "longhaul.objective_id", c.objectiveID, "longhaul.task_id", c.taskID,
		"longhaul.outcome", outcomeOf(c.Fault),
	}
}

func (c *Call) fields() []zap.Field {
	fields := []zap.Field{zap.String("requestId", c.RequestID)}
	for _, f := range []struct{ name, value string }{
		{"method", c.Method}, {"tenant", c.Tenant}, {"principal", c.Principal}, {"objectiveId", c.objectiveID}, {"taskId", c.taskID},
		{"refused", c.refused}, {"traceId", c.TraceID},
	} {
		if f.value != "" {
			fields = append(fields, zap.String(f.name, f.value))
		}
	}
	return fields
}

// An Extension of A2A that the agent supports, as its card declares it.
type Extension = codec.Extension

// A Config is what all calls share.
type Config struct {
	Log        *zap.Logger
	Rand       io.Reader
	Extensions []Extension
	Quota      Quota         // of authenticated callers; nil: no limits
	Recheck    time.Duration // of the callers of open streams
	Observer   Observer
}

// Calls has the common steps of all calls: authentication, extensions, faults and
// the log.
type Calls struct{ cfg Config }

// New returns the steps of calls.
func New(cfg Config) *Calls { return &Calls{cfg} }

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// NewCall returns a call that begins now. requestID is the id from the sender; if
// it is not well-formed, the call gets a random one.
func (s *Calls) NewCall(requestID string) *Call {
	c := &Call{RequestID: requestID, Began: time.Now(), observer: s.cfg.Observer}
	if requestIDForm.MatchString(requestID) {
		return c
	}
	c.RequestID = "unknown"
	var random [12]byte
	if _, err := io.ReadFull(s.cfg.Rand, random[:]); err == nil {
		c.RequestID = hex.EncodeToString(random[:])
	}
	return c
}

// Steps are the parts of a call that depend on its binding.
type Steps struct {
	Authenticate func() (Caller, error)
	// Read finds out which operation is called, and returns the right that this needs.
	Read   func() (Right, error)
	Handle func() error
}

// Serve authenticates the caller, checks its quota, reads the request, checks that
// the caller has a scope for the operation, and handles it. It returns a fault if
// that fails or panics, nil if it succeeds.
func (s *Calls) Serve(c *Call, steps Steps) *Fault {
	fault := s.Guard(c, func() (err error) {
		if err = c.authenticate(steps.Authenticate); err != nil {
			return err
		}
		c.callerCheck = CallerCheck{steps.Authenticate, c.Caller, s.cfg.Recheck, time.Now()}
		if err := c.acquireQuota(s.cfg.Quota); err != nil {
			return err
		}
		defer c.releaseQuota()
		needed, err := steps.Read()
		if needed.Operation == "AnswerInterrupt" {
			c.Answer = &Answering{} // more is known when its params are read
		}
		if err == nil {
			c.operation = needed.Operation
			err = c.permit(needed)
		}
		if err != nil {
			return err
		}
		return steps.Handle()
	})
	if fault != nil {
		s.logRefusedAnswer(c, fault)
	}
	return fault
}

const longestRefusal = 200 // bytes of the reason in the log, which may quote a token

// authenticate sets the caller of c. Only the log has the reason why credentials are
// refused, never the answer.
func (c *Call) authenticate(authenticate func() (Caller, error)) error {
	caller, err := authenticate()
	_, ready := errors.AsType[*Fault](err)
	switch {
	case err == nil:
		c.Caller = caller
		return nil
	case ready, errors.Is(err, opt.ErrUnavailable):
		return err
	case errors.Is(err, ErrForbidden):
		return errForbidden
	}
	c.refused = err.Error()
	if len(c.refused) > longestRefusal {
		c.refused = strings.ToValidUTF8(c.refused[:longestRefusal], "") + "…"
	}
	return ErrUnauthenticated
}

// Guard calls f and returns the fault for its error or panic, nil if there is
// none. The call keeps the fault.
func (s *Calls) Guard(c *Call, f func() error) *Fault {
	if err := s.Recover(c, f); err != nil {
		c.Fault = s.fault(c, err)
		return c.Fault
	}
	return nil
}

var errPanic = errors.New("panic")

// Recover calls f and returns a panic in it, which it logs, as an error.
func (s *Calls) Recover(c *Call, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.cfg.Log.Error("Panicked", append(c.fields(), zap.Any("panic", p), zap.ByteString("stack", debug.Stack()))...)
			err = errPanic
		}
	}()
	return f()
}

// Activate turns on the extensions that the call or its message names and the
// card declares. A method of the extension also turns it on, unless the operator
// requires that clients name it.
func (s *Calls) Activate(c *Call, mentioned []string) error {
	var missing []string
	for _, x := range s.cfg.Extensions {
		switch {
		case slices.Contains(c.Named, x.URI), slices.Contains(mentioned, x.URI):
			c.Active = append(c.Active, x.URI)
		case x.Required:
			missing = append(missing, x.URI)
		case c.OfOPT && x.URI == a2a.ExtensionOPT:
			c.Active = append(c.Active, x.URI)
		}
	}
	if len(missing) > 0 {
		return &Fault{Kind: MissingExtension, Message: "Extension required: " + strings.Join(missing, ", "),
			Info: map[string]string{"extensions": strings.Join(missing, ",")}}
	}
	return nil
}

// Log logs the result of a call and reports it to the observer: names, codes and ids,
// never content. more are fields of the binding. The level is debug, also for a call that
// was refused, and info if its credentials were. Only unavailable services and internal
// errors were logged before, with the reason, at warn and error.
func (s *Calls) Log(c *Call, more ...zap.Field) {
	took, level := time.Since(c.Began), zap.DebugLevel
	if c.refused != "" {
		level = zap.InfoLevel
	}
	s.cfg.Log.Log(level, "Served a request", append(append(c.fields(), more...), zap.Duration("took", took))...)
	if c.streams {
		took = 0
	}
	s.cfg.Observer.Called(c.Operation(), cmp.Or(c.Binding, bindingHTTP), outcomeOf(c.Fault), took)
}
