package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/api/call"
	apiservice "longhaul/api/service"
	"longhaul/internal/test"
)

// A reload replaces the triggers, unless the file has a mistake.
func TestTriggers_Reload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "triggers.yaml")
	write := func(name, message string) {
		text := fmt.Sprintf("triggers: [{name: %s, kind: secret, secret: 0123456789abcdef, principal: p, message: '%s', when: 'false'}]\n", name, message)
		test.OK(t, os.WriteFile(file, []byte(text), 0o600))
	}
	write("old", "x")
	core, logs := observer.New(zap.InfoLevel)
	h := newHost(zap.New(core), Build{})
	tr := &triggers{file: file, log: h.log}
	t.Cleanup(func() { _ = h.Stop() })
	test.OK(t, h.start(t.Context(), tr))
	page := tr.door(&apiservice.Service{Calls: call.New(call.Config{Log: h.log})})
	status := func(name string) int {
		r, w := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader("{}")), httptest.NewRecorder()
		r.Header.Set("Authorization", "Bearer 0123456789abcdef")
		page.Serve(&call.Call{}, w, r, name)
		return w.Code
	}
	for _, step := range []struct{ name, message, log, has, lacks string }{
		{"new", "x", "Read the triggers again", "new", "old"},
		{"wrong", "{{", "Kept the triggers from before", "new", "wrong"},
	} {
		write(step.name, step.message)
		h.reload()
		if has, lacks := status(step.has), status(step.lacks); has != http.StatusOK || lacks != http.StatusUnauthorized {
			t.Errorf("after %s: %d and %d", step.name, has, lacks)
		}
		if logs.FilterMessage(step.log).Len() != 1 {
			t.Errorf("after %s: the log is %v", step.name, logs.All())
		}
	}
}

// Without a file there is no door.
func TestTriggers_none(t *testing.T) {
	tr := &triggers{}
	if err := tr.Start(t.Context()); err != nil || tr.door(nil) != nil {
		t.Errorf("%+v %v", tr, err)
	}
}
