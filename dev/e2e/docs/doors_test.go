package docs_test

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/chatapp/teamstest"
	"longhaul/internal/test"
)

const (
	doorsWithin = 60 * time.Second
	doorSecret  = harness.SlackSecret // of all senders
)

// fenced returns the blocks of code in a language.
func fenced(t *testing.T, text, language string) (list []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)\n```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	if len(list) == 0 {
		t.Fatalf("there is no %s", language)
	}
	return list
}

// The commands of docs/doors.md start one process with all doors of its examples, and work goes
// through each. Doubles stand in for the platforms and for the mail server, which does not answer.
func TestDoors_examples(t *testing.T) {
	text := string(harness.ReadFile(t, "../../../docs/doors.md"))
	slack, teams := harness.NewSlack(t), teamstest.New(t)
	s := newShell(t)
	url := "http://" + s.names.Replace("127.0.0.1:7420")
	s.names = strings.NewReplacer("127.0.0.1:7420", strings.TrimPrefix(url, "http://"), "longhaul ", "./program ")
	file := func(name, list string) { // the examples of one kind of file as one
		var all strings.Builder
		for _, block := range fenced(t, text, "yaml") {
			if items, ok := strings.CutPrefix(block, list+":\n"); ok {
				all.WriteString(items)
			}
		}
		items := strings.NewReplacer("kind: slack\n", "kind: slack\n    url: "+slack.URL+"\n",
			"url: https://smba.trafficmanager.net/emea/\n", "url: "+teams.URL+"\n    login: "+teams.URL+"/login\n    keys: "+teams.URL+"/metadata\n", "https://chat.example.com", slack.URL, "smtp.example.com:587", harness.FreeAddr(t)).Replace(all.String())
		s.run(fmt.Sprintf("cat >%s <<'END'\n%s:\n%sEND", name, list, items), 0)
	}
	file("notices.yaml", "channels")
	file("triggers.yaml", "triggers")
	given := map[string]string{"SLACK_BOT_TOKEN": harness.SlackToken, "BOT_APP_ID": teamstest.App, "BOT_SECRET": teamstest.Secret, "ENTRA_TENANT": teamstest.Directory}
	for _, name := range regexp.MustCompile(`\$\{(\w+)\}`).FindAllStringSubmatch(text, -1) {
		s.run("export "+name[1]+"="+cmp.Or(given[name[1]], doorSecret), 0)
	}
	begin, _, _ := strings.Cut(text, "\n## ")
	commands := commandsOf(begin)
	if len(commands) != 5 {
		t.Fatalf("the commands are %q", commands)
	}
	for _, command := range commands {
		code := 0
		if strings.HasPrefix(command, "longhaul send") {
			code = 3 // it waits for a person
		}
		out := s.run(command, code)
		if strings.Contains(command, "&") {
			s.run("timeout 60 sh -c 'until ./program health "+url+" 2>/dev/null; do sleep 0.1; done'", 0)
		}
		if strings.Contains(command, "inbox") && !strings.Contains(out, "Which color?") {
			t.Errorf("the inbox is\n%s", out)
		}
	}
	key := strings.TrimSpace(s.run("echo $LONGHAUL_TOKEN", 0))
	slack.Await(t, doorsWithin, "chat.postMessage", "Which color?")
	webhooks(t, url)
	for path, want := range map[string]string{"/console/": "Sign in", "/answer/x": "This link is not valid"} {
		if _, body := harness.Get(t, url+path); !strings.Contains(string(body), want) {
			t.Errorf("%s: %s", path, body)
		}
	}
	for _, platform := range []string{"slack", "teams"} {
		if status, body := post(t, url+"/chat/"+platform, nil, "{}"); status != http.StatusUnauthorized {
			t.Errorf("a forged press at %s: %d %s", platform, status, body)
		}
	}
	program := fmt.Sprintf("const threadId = 'thread', runId = 'run', key = %q\n%s\nif (!agent.state.objective) throw new Error(JSON.stringify(agent.state))\n", key, fenced(t, text, "js")[0])
	runPage(t, strings.ReplaceAll(program, "https://agent.example.com", url))
	runHost(t, strings.NewReplacer("https://agent.example.com", url, "…", key).Replace(fenced(t, text, "json")[0]))
}

// post sends a request.
func post(t *testing.T, url string, header map[string]string, body string) (status int, answer string) {
	t.Helper()
	sender := harness.Client{URL: url, HTTP: http.DefaultClient, Header: header}
	status, got := sender.MustPage(t, http.MethodPost, "", body)
	return status, string(got)
}

// webhooks sends an event to each trigger of the example.
func webhooks(t *testing.T, url string) {
	t.Helper()
	sign := func(text string) string {
		mac := hmac.New(sha256.New, []byte(doorSecret))
		mac.Write([]byte(text))
		return hex.EncodeToString(mac.Sum(nil))
	}
	const pull, dispute = `{"action":"opened","pull_request":{"html_url":"https://example.com/1"}}`, `{"id":"evt_1","type":"x","data":{"object":{"a":1}}}`
	at, bearer := fmt.Sprint(time.Now().Unix()), map[string]string{"Authorization": "Bearer " + doorSecret}
	for name, e := range map[string]struct {
		header map[string]string
		body   string
	}{
		"pulls":    {map[string]string{"X-Hub-Signature-256": "sha256=" + sign(pull), "X-GitHub-Event": "pull_request"}, pull},
		"disputes": {map[string]string{"Stripe-Signature": "t=" + at + ",v1=" + sign(at+"."+dispute)}, dispute},
		"alerts":   {bearer, `{"groupKey":"g","status":"firing"}`},
		"forms":    {bearer, `{"text":"x"}`},
	} {
		if status, answer := post(t, url+"/hooks/"+name, e.header, e.body); status != http.StatusAccepted || !strings.Contains(answer, `"taskId":"obj-`) {
			t.Errorf("the trigger %s: %d %s", name, status, answer)
		}
	}
}

// runPage runs a program for pages, with the official client.
func runPage(t *testing.T, program string) {
	t.Helper()
	dir := harness.NodeProgram(t, filepath.Join("..", "agui", "js"))
	main := harness.WriteFile(t, dir, "main.mjs", program)
	if out, err := exec.CommandContext(t.Context(), "node", main).CombinedOutput(); err != nil {
		t.Errorf("the page: %v\n%s\n%s", err, out, program)
	}
}

// runHost starts the server that the file of a host of models names, and lists its tools.
func runHost(t *testing.T, file string) {
	t.Helper()
	var host struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	test.OK(t, json.Unmarshal([]byte(file), &host))
	server := host.Servers["longhaul"]
	if server.Command != "longhaul" {
		t.Fatalf("the server is %+v", server)
	}
	cmd := exec.CommandContext(t.Context(), harness.Build(t, harness.Dev), server.Args...)
	cmd.Env = os.Environ()
	for name, v := range server.Env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"name":"inbox"`) {
		t.Errorf("the host gets %v\n%s%s", err, out, &complaints)
	}
}
