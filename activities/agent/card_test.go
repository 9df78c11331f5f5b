package agent_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/api/service/servicetest"
	"longhaul/internal/signing"
	"longhaul/internal/test"
)

// An agent whose card must be signed is used as the signed part of its card says, and not at all
// if that is signed by others or was changed.
func TestExecutor_cardKeys(t *testing.T) {
	keeper := func() *signing.Keeper {
		return signing.New(signing.Config{Store: servicetest.New(t, servicetest.Config{}).Journal().SigningKeys})
	}
	trusted, other := keeper(), keeper()
	keys, err := trusted.PublicKeys(t.Context())
	test.OK(t, err)
	file := test.File(t, "keys.json", string(keys))
	status := http.StatusOK
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the keys were asked for with the credentials of the agent")
		}
		w.WriteHeader(status)
		_, _ = w.Write(keys)
	}))
	t.Cleanup(site.Close)
	sign := func(k *signing.Keeper) func(object) {
		return func(c object) {
			body, _ := json.Marshal(c)
			if c["signatures"], err = k.SignCard(t.Context(), body, site.URL); err != nil { // which also leads to the trusted keys
				t.Error(err)
			}
		}
	}
	const demands = "card-not-verified: Agent other is not used: card-keys in the file of --agents demands a card that is signed with a known key, and "
	for _, tt := range []struct {
		name, keys string
		card       func(object)
		status     int
		want       string // begin of how an attempt ends at once; "" begins the task
	}{
		{"signed", site.URL, sign(trusted), 200, ""},
		{"signed, keys in a file", file, sign(trusted), 200, ""},
		{"unsigned members beside", file, func(c object) {
			sign(trusted)(c)
			c["url"], c["protocolVersion"] = "http://127.0.0.1:1", "0.3.0"
		}, 200, ""},
		{"not signed", file, nil, 200, demands + "the card has no signatures."},
		{"changed", site.URL, func(c object) {
			sign(trusted)(c)
			c["supportedInterfaces"] = []object{{"url": "http://127.0.0.1:1/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}}
		}, 200, demands + "no signature of the card is valid."},
		{"signed by others", site.URL, sign(other), 200, demands + `the card is signed with "`},
		{"keys away", site.URL, sign(trusted), 404, "unreachable: Agent other cannot be used. The keys of its card cannot be read. The answer has HTTP status 404."},
	} {
		f := newFake(t, "1.0", false)
		f.card, status = tt.card, tt.status
		o, err := executor(t, f, ", card-keys: '"+tt.keys+"'").Execute(t.Context(), task("go"), &executortest.Stream{})
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case o.Code != "":
			got = o.Code + ": " + o.Message
		case at(t, o) != f.URL+"/a2a":
			got = "uses " + at(t, o)
		}
		if !strings.HasPrefix(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// at returns the URL of the interface that a task uses.
func at(t *testing.T, o activities.Outcome) string {
	t.Helper()
	var m struct{ At struct{ URL string } }
	test.OK(t, json.Unmarshal(o.Memo, &m))
	return m.At.URL
}

// A task waits for an agent without a card, such as one that answers each path or none, and uses it as
// soon as it has one.
func TestExecutor_noCard(t *testing.T) {
	f := newFake(t, "1.0", false)
	e := executor(t, f, "")
	for _, tt := range []struct {
		status  map[string]answered
		missing bool
		want    string
	}{
		{nil, true, "The answer at the URL of its agent card is no card"},
		{map[string]answered{"card": {status: 404}}, false, "Its agent card cannot be read. The answer has HTTP status 404."},
		{nil, false, ""},
	} {
		f.status = tt.status
		f.card = func(c object) {
			if tt.missing {
				clear(c)
			}
		}
		o, err := e.Execute(t.Context(), task("go"), &executortest.Stream{})
		if waits := err != nil && strings.Contains(err.Error(), tt.want); waits != (tt.want != "") || o.State.Ended() {
			t.Errorf("%q: %+v, %v", tt.want, o, err)
		}
	}
}
