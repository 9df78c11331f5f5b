// Package secret_test gives the service secrets of every kind, over every binding,
// and looks for them in all that it answers, logs and stores.
package secret_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

const within = 60 * time.Second

// No answer, log, history or row has a secret: of callers, whether their
// credentials are right, wrong or revoked, or of the receivers of notifications.
func TestSecrets(t *testing.T) {
	t.Parallel()
	var delivered atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.URL.Path == "/refuses":
			http.Error(w, "echo: "+r.Header.Get("Authorization"), http.StatusForbidden) // an answer that repeats them
		case delivered.Add(1) == 1:
			http.Error(w, r.Header.Get("A2A-Notification-Token"), http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	site := harness.NewSite(t, harness.Dev, "--auth", "keys", "--allow-private-egress", "--log-level", "debug", "--push-transitions", "all")
	key, id := createKey(t, site, "ann")
	revoked, revokedID := createKey(t, site, "ben")
	site.Run("keys", "revoke", revokedID, "--data-dir", site.Dir)
	forged := strings.TrimSuffix(key, key[len(key)-6:]) + "canary"
	site.Hide(secretOf(key, id), secretOf(revoked, revokedID), "canary-wrong", "canary-token", "canary-bearer", "canary-user:canary-password", "canary-jwt", secretOf(forged, id))
	process := site.Start(harness.AllInOne)
	c := caller{t, site.Client()}

	for _, wrong := range []string{"Bearer " + forged, "Bearer " + revoked, "Bearer canary-wrong", "Basic " + base64.StdEncoding.EncodeToString([]byte("canary-user:canary-password")),
		"Bearer eyJhbGciOiJub25lIn0.canary-jwt.", "canary-wrong"} {
		for _, path := range []string{"/a2a", "/a2a/rest/message:send", "/v1/tasks/x/deliveries/y/1/redeliver"} {
			if status, _ := c.page(http.MethodPost, path, wrong, "1.0", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`); status != http.StatusUnauthorized {
				t.Errorf("%s with %q: status %d", path, wrong[:10], status)
			}
		}
	}

	auth := "Bearer " + key
	config := func(path string) string {
		return `"url":"` + receiver.URL + path + `","token":"canary-token","authentication":{"scheme":"Bearer","credentials":"canary-bearer"}`
	}
	basic := base64.StdEncoding.EncodeToString([]byte("canary-user:canary-password"))
	old := `"url":"` + receiver.URL + `/old","token":"canary-token","authentication":{"schemes":["Basic"],"credentials":"` + basic + `"}`
	task := c.must(auth, "1.0", "SendMessage", `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"x"}],"metadata":{"opt/v1/plan":{"name":"p","tasks":[{"name":"a","input":{"script":"say a"}}]}}},
		"configuration":{"taskPushNotificationConfig":{`+config("/inline")+`}}}`)
	taskID := find(t, task, "id")
	c.must(auth, "1.0", "CreateTaskPushNotificationConfig", `{"taskId":"`+taskID+`","id":"refuses",`+config("/refuses")+`}`)
	c.must(auth, "0.3", "tasks/pushNotificationConfig/set", `{"taskId":"`+taskID+`","pushNotificationConfig":{"id":"old",`+old+`}}`)
	c.must(auth, "1.0", "ListTaskPushNotificationConfigs", `{"taskId":"`+taskID+`"}`)
	c.must(auth, "0.3", "tasks/pushNotificationConfig/list", `{"id":"`+taskID+`"}`)
	c.must(auth, "0.3", "message/send", `{"message":{"messageId":"m2","role":"user","parts":[{"kind":"text","text":"y"}]},"configuration":{"pushNotificationConfig":{`+old+`}}}`)
	for name, params := range map[string]string{ // each refused, with the reason
		"CreateTaskPushNotificationConfig": `{"taskId":"` + taskID + `","id":"bad","url":"http://10.0.0.1/canary-wrong","token":"canary-token","authentication":{"scheme":"Digest","credentials":"canary-bearer"}}`,
		"GetTaskPushNotificationConfig":    `{"taskId":"` + taskID + `","id":7,"token":"canary-token"}`,
		"SendMessage":                      `{"message":{"messageId":"m3","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{` + config("/x") + `}}}`,
	} {
		c.call(auth, "1.0", name, params)
	}
	for _, path := range []string{"/a2a/rest/tasks/" + taskID + "/pushNotificationConfigs", "/a2a/rest/tasks/" + taskID + "/pushNotificationConfigs/refuses", "/v1/a2a/tasks/" + taskID, "/v1/runs/" + taskID} {
		if status, body := c.page(http.MethodGet, path, auth, "1.0", ""); status != http.StatusOK {
			t.Errorf("%s: status %d: %s", path, status, body)
		}
	}
	harness.Eventually(t, within, "every delivery was attempted", func() error {
		_, body := c.page(http.MethodGet, "/v1/tasks/"+taskID+"/deliveries", auth, "1.0", "")
		if strings.Contains(body, `"status":"due"`) || !strings.Contains(body, `"httpStatus":403`) || !strings.Contains(body, `"httpStatus":500`) || !strings.Contains(body, `"status":"delivered"`) {
			return fmt.Errorf("deliveries: %s", body)
		}
		return nil
	})
	process.Kill()
	site.Start(harness.AllInOne) // reads the secrets again
	c.must(auth, "1.0", "GetTask", `{"id":"`+taskID+`"}`)
}

// A caller calls the API with credentials.
type caller struct {
	t *testing.T
	*harness.Client
}

// must calls a method that has to succeed and returns the answer.
func (c caller) must(auth, version, method, params string) string {
	c.t.Helper()
	status, body := c.call(auth, version, method, params)
	if status != http.StatusOK || strings.Contains(body, `"error":{`) {
		c.t.Fatalf("%s: status %d: %s", method, status, body)
	}
	return body
}

func (c caller) call(auth, version, method, params string) (int, string) {
	c.t.Helper()
	return c.page(http.MethodPost, "/a2a", auth, version, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params))
}

func (c caller) page(verb, path, auth, version, body string) (int, string) {
	c.t.Helper()
	status, answer := c.With("Content-Type", "application/json").With("Authorization", auth).With("A2A-Version", version).MustPage(c.t, verb, path, body)
	return status, string(answer)
}

// find returns the id of the task in an answer.
func find(t *testing.T, answer, member string) string {
	t.Helper()
	var out struct {
		Result struct{ Task map[string]any }
	}
	test.OK(t, json.Unmarshal([]byte(answer), &out))
	return fmt.Sprint(out.Result.Task[member])
}

// createKey makes an API key with all scopes.
func createKey(t *testing.T, site *harness.Site, principal string) (key, id string) {
	t.Helper()
	key = site.Key(principal, "--scopes", "all")
	if !strings.HasPrefix(key, "lh_") {
		t.Fatal("no key was printed")
	}
	return key, strings.Split(key, "_")[1]
}

// secretOf returns the part of a key that is secret.
func secretOf(key, id string) string { return strings.TrimPrefix(key, "lh_"+id+"_") }
