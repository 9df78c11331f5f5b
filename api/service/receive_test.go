package service_test

import (
	"errors"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/opt"
)

// Callbacks that must not be stored in a history are refused before the task is looked up.
func TestService_ReceiveCallback_refuses(t *testing.T) {
	s := newService(t, card.Info{})
	piece := func(id string, parts ...a2a.Part) opt.Callback {
		return opt.Callback{Chunk: &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: id, Parts: parts}}}
	}
	long := strings.Repeat("x", 64<<10)
	forged := a2a.Part{Ref: &a2a.Ref{ID: "0", Member: "text", Size: 1}}
	done := func(parts ...a2a.Part) opt.Callback {
		return opt.Callback{Outcome: &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "a", Parts: parts}}}}
	}
	for name, tt := range map[string]struct {
		in    opt.Callback
		field string // that is wrong; "" for a valid callback for a task that does not exist
	}{
		"text":           {opt.Callback{Text: strings.Repeat("x", 4<<10)}, ""},
		"long text":      {opt.Callback{Text: strings.Repeat("x", 4<<10+1)}, "text"},
		"piece":          {piece("a", a2a.TextPart(long[:60<<10])), ""},
		"long piece":     {piece("a", a2a.TextPart(long)), "artifact"},
		"long url":       {piece("a", a2a.Part{URL: &long}), "artifact"},
		"long file name": {piece("a", a2a.Part{Text: new(string), Filename: long}), "artifact"},
		"long metadata":  {piece("a", a2a.Part{Text: new(string), Metadata: a2a.Metadata{}.With("k", long)}), "artifact"},
		"no id":          {piece("", a2a.TextPart("x")), "artifact"},
		"no parts":       {piece("a"), "artifact"},
		"forged piece":   {piece("a", forged), "artifact"},
		"outcome":        {done(a2a.TextPart(long)), ""},
		"forged outcome": {done(forged), "outcome"},
		"empty outcome":  {done(), "outcome"},
	} {
		err := s.Callbacks.ReceiveCallback(t.Context(), s.NewCall(""), tt.in)
		var fault *call.Fault
		switch {
		case tt.field == "" && !errors.Is(err, opt.ErrUnknown):
			t.Errorf("%s: %v", name, err)
		case tt.field != "" && (!errors.As(err, &fault) || len(fault.Violations) != 1 || fault.Violations[0].Field != tt.field):
			t.Errorf("%s: %v, want a fault of %s", name, err, tt.field)
		}
	}
}
