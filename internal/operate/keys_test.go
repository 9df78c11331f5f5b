package operate

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/api/call"
	"longhaul/api/identity"
	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/serve"
	"longhaul/internal/test"
)

// A key that was made by the command is accepted until another command revokes it.
func TestRun_keys(t *testing.T) {
	dir := t.TempDir()
	run := func(args ...string) (stdout, stderr string, code int) {
		var out, errs strings.Builder
		code = run(t.Context(), append(append([]string{"keys"}, args...), "--data-dir", dir), &out, &errs)
		return out.String(), errs.String(), code
	}
	if out, errs, code := run("list"); out != "" || code != 0 || !strings.Contains(errs, "in the data directory "+dir+". To make one: longhaul keys create") {
		t.Errorf("an empty list: %q, %q, exit code %d", out, errs, code)
	}
	if _, errs, code := run("create", "ann"); code != 2 || !strings.Contains(errs, "--scopes") || !strings.Contains(errs, "See longhaul keys create --help.") {
		t.Errorf("without scopes: %q, exit code %d", errs, code)
	}
	help, _, _ := run("create", "--help")
	for _, scope := range call.Scopes() {
		if !strings.Contains(help, string(scope)) {
			t.Errorf("the help names no scope %s:\n%s", scope, help)
		}
	}
	text, where, code := run("create", "ann", "--tenant", "acme", "--scopes", "runs:read,runs:create", "--groups", "finance", "--name", "The build")
	if text = strings.TrimSpace(text); code != 0 || !strings.HasPrefix(text, "lh_") {
		t.Fatalf("created %q, exit code %d", text, code)
	}
	test.Contains(t, "created with", "ann in tenant acme, for servers with the data directory "+dir, where)
	list, _, _ := run("list")
	id, secret, _ := strings.Cut(strings.TrimPrefix(text, "lh_"), "_")
	for _, want := range []string{id, "acme", "ann", "runs:create,runs:read", "finance", "valid", "The build"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	if strings.Contains(list, secret) {
		t.Errorf("the list shows the secret:\n%s", list)
	}
	var at serve.Store
	at.DataDir = dir
	cfg := test.Value(at.JournalConfig())(t)
	j := test.Value(journal.Open(t.Context(), cfg))(t)
	defer j.Close()
	calling := func() (call.Caller, error) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
		r.Header.Set("Authorization", "Bearer "+text)
		return identity.New(identity.Config{Keys: j.APIKeys}).Authenticate(r)
	}
	want := call.Caller{Tenant: "acme", Principal: "ann", Groups: []string{"finance"}, Scopes: []call.Scope{"runs:create", "runs:read"}}
	if got, err := calling(); err != nil || !cmp.Equal(want, got) {
		t.Errorf("error %v, caller %+v", err, got)
	}
	if out, _, code := run("revoke", text); code != 0 || strings.Contains(out, secret) {
		t.Errorf("revoked: %q, exit code %d", out, code)
	}
	if got, err := calling(); err == nil {
		t.Errorf("a revoked key is accepted: %+v", got)
	}
	if list, _, _ := run("list"); !strings.Contains(list, "revoked ") {
		t.Errorf("the list does not say that the key is revoked:\n%s", list)
	}
}

func TestRun_keysRefused(t *testing.T) {
	for args, want := range map[string]string{
		"create ann":                            "missing flags: --scopes",
		"create ann --scopes runs:everything":   `unknown scope "runs:everything": the scopes are runs:create, runs:read, runs:cancel, approvals:respond, webhooks:manage`,
		"create ann --scopes all --expires=-1h": "--expires must be above 0",
		"create ann --scopes all --tenant= ":    "need a name",
		"revoke unknown":                        "there is no API key with this id",
	} {
		var stderr strings.Builder
		fields := append(append([]string{"keys"}, strings.Fields(args)...), "--data-dir", t.TempDir())
		if code := run(t.Context(), fields, io.Discard, &stderr); code == 0 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: exit code %d, standard error:\n%s", args, code, stderr.String())
		}
	}
}

// run runs a command of this package, and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p := &process.Process{Ctx: ctx, Stdout: stdout, Stderr: stderr}
	return p.Report(p.Start(args, &Commands{}))
}
