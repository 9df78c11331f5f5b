package callback_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/callback"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A fake receives callbacks.
type fake struct {
	caller call.Caller
	got    []opt.Callback
	err    error
}

func (f *fake) ReceiveCallback(_ context.Context, c *call.Call, in opt.Callback) error {
	f.caller = c.Caller
	f.got = append(f.got, in)
	return f.err
}

// tokens knows two tokens.
type tokens struct{}

func (tokens) Verify(token string) (opt.CallbackRef, error) {
	switch token {
	case "full":
		return opt.CallbackRef{Tenant: "t", TaskID: "task", Round: 2}, nil
	case "wake":
		return opt.CallbackRef{Tenant: "t", TaskID: "task", Round: 2, Wake: true}, nil
	}
	return opt.CallbackRef{}, errors.New("no")
}

func post(f *fake, token, body string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/callbacks/"+token, strings.NewReader(body))
	r.Header.Set("Idempotency-Key", "k")
	callback.New(call.New(call.Config{Log: zap.NewNop()}), f, tokens{}).Serve(&call.Call{}, w, r, token)
	return w
}

func TestPage_reads(t *testing.T) {
	for name, tt := range map[string]struct {
		token, body string
		want        opt.Callback
	}{
		"nothing":       {"full", "", opt.Callback{}},
		"no member":     {"full", "{}", opt.Callback{}},
		"text":          {"full", `{"text":"half"}`, opt.Callback{Text: "half"}},
		"piece":         {"full", `{"artifact":{"artifactId":"a","parts":[{"text":"x"}]},"append":true,"lastChunk":true}`, opt.Callback{Chunk: &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("x")}}, Append: true, Last: true}}},
		"outcome":       {"full", `{"outcome":{"state":"completed"}}`, opt.Callback{Outcome: &opt.Outcome{State: opt.TaskCompleted}}},
		"only a wake":   {"wake", `{"outcome":{"state":"completed"},"text":"x"}`, opt.Callback{}},
		"other content": {"wake", `<task/>`, opt.Callback{}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{}
			if w := post(f, tt.token, tt.body); w.Code != http.StatusAccepted {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			tt.want.ID, tt.want.TaskID, tt.want.Round = "k", "task", 2
			test.Equal(t, "got", []opt.Callback{tt.want}, f.got, cmpopts.EquateEmpty())
			if f.caller.Tenant != "t" {
				t.Errorf("the caller is %+v", f.caller)
			}
		})
	}
}

func TestPage_refuses(t *testing.T) {
	for name, tt := range map[string]struct {
		token, body string
		err         error
		want        int
	}{
		"wrong token":    {"else", "{}", nil, 404},
		"no JSON":        {"full", "half", nil, 400},
		"another member": {"full", `{"state":"completed"}`, nil, 400},
		"too large":      {"full", `{"text":"` + strings.Repeat("x", 1<<20) + `"}`, nil, 400},
		"ended":          {"full", "{}", &call.Fault{Kind: call.Unsupported}, 410},
		"unknown":        {"full", "{}", &call.Fault{Kind: call.TaskNotFound}, 404},
		"engine away":    {"full", "{}", &call.Fault{Kind: call.Unavailable}, 503},
		"too many":       {"full", "{}", &call.Fault{Kind: call.RateLimited}, 429},
		"broken":         {"full", "{}", errors.New("boom"), 500},
	} {
		f := &fake{err: tt.err}
		if w := post(f, tt.token, tt.body); w.Code != tt.want || !strings.HasPrefix(w.Body.String(), "{") {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, tt.want)
		}
	}
}

// An unknown URL says what to do.
func TestPage_unknownURL(t *testing.T) {
	if w := post(&fake{}, "else", "{}"); !strings.Contains(w.Body.String(), "send to callbackUrl or wakeUrl of the work, unchanged") {
		t.Errorf("the answer is %s", w.Body)
	}
}
