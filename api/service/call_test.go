package service_test

import (
	"errors"
	"fmt"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/api/service"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
)

// newService returns a service on a journal in memory, without an engine.
func newService(t *testing.T, card card.Info) *service.Service {
	t.Helper()
	j := test.Value(journal.Open(t.Context(), journal.Config{}))(t)
	t.Cleanup(func() { _ = j.Close() })
	return service.New(service.Config{
		Journal: j, Pushes: j.Pushes, Watch: func(id string) call.Watch { return j.Watch(id) }, Card: card,
	})
}

func TestService_Serve(t *testing.T) {
	s := newService(t, card.Info{})
	known := func() (call.Caller, error) {
		return call.Caller{Tenant: "acme", Principal: "ann", Scopes: []call.Scope{call.ReadRuns}}, nil
	}
	steps := func(authenticate func() (call.Caller, error), handle func() error) call.Steps {
		return call.Steps{Authenticate: authenticate, Read: func() (call.Right, error) {
			return call.Right{Operation: "GetTask", Scopes: []call.Scope{call.ReadRuns}}, nil
		}, Handle: handle}
	}
	fails := func(err error) func() (call.Caller, error) {
		return func() (call.Caller, error) { return call.Caller{}, err }
	}
	for name, tc := range map[string]struct {
		authenticate func() (call.Caller, error)
		err          error
		ofOPT        bool
		want         call.Kind
	}{
		"no such key":               {fails(errors.New("no such key")), nil, false, call.Unauthenticated},
		"not allowed":               {fails(fmt.Errorf("guest: %w", call.ErrForbidden)), nil, false, call.Forbidden},
		"cannot authenticate":       {fails(opt.ErrUnavailable), nil, false, call.Unavailable},
		"unknown":                   {known, opt.ErrUnknown, false, call.TaskNotFound},
		"unknown, of the extension": {known, opt.ErrUnknown, true, call.NotFound},
		"ended":                     {known, opt.ErrEnded, false, call.Unsupported},
		"ended, of the extension":   {known, opt.ErrEnded, true, call.InvalidState},
		"other content":             {known, opt.ErrConflict, false, call.InvalidParams},
		"anything else":             {known, errors.New("disk full"), false, call.Internal},
	} {
		c := s.NewCall("")
		c.OfOPT = tc.ofOPT
		handled := false
		fault := s.Serve(c, steps(tc.authenticate, func() error { handled = true; return tc.err }))
		if fault == nil || fault.Kind != tc.want || c.Fault != fault {
			t.Errorf("%s: fault is %+v, want kind %d", name, fault, tc.want)
		}
		test.Is(t, name+": handled", tc.err != nil, handled)
	}
	c := s.NewCall("mine")
	if fault := s.Serve(c, steps(known, func() error { panic("lost") })); fault == nil || fault.Kind != call.Internal {
		t.Errorf("after a panic the fault is %+v", fault)
	}
	c = s.NewCall("mine")
	if fault := s.Serve(c, steps(known, func() error { return nil })); fault != nil || c.Principal != "ann" || c.RequestID != "mine" {
		t.Errorf("served with %+v: %+v", fault, c)
	}
}

func TestService_Activate(t *testing.T) {
	const other = "urn:other"
	for name, tc := range map[string]struct {
		required         bool
		ofOPT            bool
		named, mentioned []string
		want             []string
		missing          bool
	}{
		"nothing":                   {},
		"named":                     {named: []string{"urn:x", other}, want: []string{other}},
		"mentioned":                 {mentioned: []string{a2a.ExtensionOPT}, want: []string{a2a.ExtensionOPT}},
		"by its method":             {ofOPT: true, want: []string{a2a.ExtensionOPT}},
		"required":                  {required: true, missing: true},
		"required and named":        {required: true, named: []string{a2a.ExtensionOPT}, want: []string{a2a.ExtensionOPT}},
		"required, by its method":   {required: true, ofOPT: true, missing: true},
		"required, named by a call": {required: true, ofOPT: true, named: []string{a2a.ExtensionOPT}, want: []string{a2a.ExtensionOPT}},
	} {
		s := newService(t, card.Info{OPTRequired: tc.required, Extensions: []call.Extension{{URI: other}}})
		c := s.NewCall("")
		c.OfOPT, c.Named = tc.ofOPT, tc.named
		err := s.Activate(c, tc.mentioned)
		var fault *call.Fault
		if errors.As(err, &fault); tc.missing != (fault != nil && fault.Kind == call.MissingExtension) || !tc.missing && err != nil {
			t.Errorf("%s: error is %v", name, err)
		}
		test.Equal(t, name+": active extensions", tc.want, c.Active)
	}
}
