package llm_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"longhaul/activities"
	"longhaul/activities/executortest"
	"longhaul/activities/llm"
	"longhaul/activities/llm/llmtest"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/child"
	"longhaul/internal/needs"
	"longhaul/internal/test"
	"longhaul/opt"
)

// official is a file with the servers of the MCP project, over both transports.
const official = `
models: {main: {provider: openai, url: "%s/v1", model: m}}
servers:
  files: {run: [%q, %q, %q], env: [PATH], tools: {"*": allow}}
  local: {run: [%q, %q, stdio], env: [PATH], tools: {"*": allow}}
  remote: {url: "http://%s/mcp", tools: {"*": allow}}
`

// The official MCP servers list their tools and are called, over standard input and
// output and over streamable HTTP.
func TestOfficialServers(t *testing.T) {
	packages := filepath.Join(harness.NodePackages(t, "js"), "node_modules", "@modelcontextprotocol")
	everything := filepath.Join(packages, "server-everything", "dist", "index.js")
	node := needs.Tool(t, "node")
	dir := t.TempDir()
	note := filepath.Join(dir, "note.txt")
	remote := serveEverything(t, node, everything)
	for _, tt := range []struct{ tool, args, told string }{
		{"files/write_file", fmt.Sprintf(`{"path":%q,"content":"tea"}`, note), "Successfully wrote to " + note},
		{"files/move_file", fmt.Sprintf(`{"source":%q,"destination":%q}`, note, note+".old"), "Successfully moved " + note + " to " + note + ".old"},
		{"files/read_text_file", fmt.Sprintf(`{"path":%q}`, note+".old"), "tea"},
		{"files/read_text_file", `{"path":"/etc/passwd"}`, "Access denied"},
		{"local/echo", `{"message":"tea"}`, "Echo: tea"},
		{"remote/echo", `{"message":"milk"}`, "Echo: milk"},
	} {
		server := llmtest.New(t, llmtest.Turns(
			llmtest.Turn{Calls: []llmtest.Call{{Name: strings.Replace(tt.tool, "/", "__", 1), Args: tt.args}}}, llmtest.Turn{Text: []string{"Done."}}))
		path := filepath.Join(t.TempDir(), "models.yaml")
		text := fmt.Sprintf(official, server.URL, node, filepath.Join(packages, "server-filesystem", "dist", "index.js"), dir, node, everything, remote)
		test.OK(t, os.WriteFile(path, []byte(text), 0o600))
		m := test.Value(llm.Load(path, os.LookupEnv))(t)
		name, _, _ := strings.Cut(tt.tool, "/")
		w := activities.Work{TaskID: "task-1", Round: 1, Attempt: 1, Input: json.RawMessage(fmt.Sprintf(`{"prompt":"x","tools":["%s/*"]}`, name))}
		p, err := executortest.Player{Executor: llm.Executor{Models: m}}.Play(t.Context(), w)
		if err != nil {
			t.Errorf("%s: %v", tt.tool, err)
			continue
		}
		r := server.Requests()
		last := r[len(r)-1].Messages
		if told := last[len(last)-1].Text; p.Outcome.State != opt.TaskCompleted || !strings.HasPrefix(told, tt.told) {
			t.Errorf("%s: the model got %q; %+v", tt.tool, told, p.Outcome)
		}
	}
}

// serveEverything runs the server over streamable HTTP and returns its address.
func serveEverything(t *testing.T, node, program string) (addr string) {
	t.Helper()
	addr = harness.FreeAddr(t)
	_, port, _ := strings.Cut(addr, ":")
	cmd := exec.Command(node, program, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	server, err := child.Start(cmd, child.Options{})
	test.OK(t, err)
	t.Cleanup(server.Kill)
	harness.Eventually(t, within, "the server listens at "+addr, func() error {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
	return addr
}
