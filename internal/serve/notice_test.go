package serve

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/test"
	"longhaul/opt/outbox"
)

// Mistakes in the file with channels end the program before anything begins.
func TestRun_noticeMistakes(t *testing.T) {
	file := test.File(t, "notices.yaml", "channels:\n- name: a\n  kind: webhook\n  url: https://example.com\n  template: '{{.Nothing}}'\n")
	denied := test.File(t, "denied.yaml", "channels:\n- name: a\n  kind: webhook\n  url: http://127.0.0.1:9/canary\n- name: b\n  kind: webhook\n  url: http://169.254.169.254/canary\n- name: c\n  kind: webhook\n  url: https://denied.example.com/canary\n")
	const own = ": url: must be an http or https URL without a user or a fragment, of a host that neither --egress-deny nor the rules for metadata services name"
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{denied}, "longhaul: " + denied + ":7" + own + ` (address: address 169.254.169.254)`},
		{[]string{denied, "--egress-deny", "denied.example.com"}, denied + ":10" + own + ` (host: host denied.example.com)`},
		{[]string{file}, file + ":5: template: "},
		{[]string{file + "x"}, "read the channels for notices: open " + file + "x"},
	} {
		if said := refused(t, 1, Build{}, append([]string{"worker", "--notices"}, tc.args...)...); !strings.Contains(said, tc.want) || strings.Contains(said, "canary") {
			t.Errorf("%v: it said\n%s", tc.args, said)
		}
	}
}

// A link is below the public URL, and the API reads what a worker has made.
func TestAnswerLinks(t *testing.T) {
	for _, public := range []string{"https://agent.example.com", "https://agent.example.com/", "https://example.com/agent"} {
		links := test.Value(linkSettings{AnswerKeys: process.Secret(firstKey), PublicURL: public, AnswerLinkTTL: time.Hour}.links())(t)
		l := outbox.AnswerLink{ID: "n", Tenant: "acme", Principal: "ann", GateID: "task-x:1", Expires: a2a.At(time.Now().Add(time.Hour).Truncate(time.Second))}
		made := test.Value(links.URL(l))(t)
		token, ok := strings.CutPrefix(made, strings.TrimSuffix(public, "/")+"/answer/")
		got, err := links.Verify(token)
		if diff := cmp.Diff(l, got); !ok || err != nil || diff != "" || token != url.PathEscape(token) {
			t.Errorf("%s: %v (-want +got):\n%s", made, err, diff)
		}
	}
}

// Without keys there is no page.
func TestNotices_withoutKeys(t *testing.T) {
	n := &notices{settings: linkSettings{PublicURL: "https://agent.example.com"}}
	if err := n.Start(t.Context()); err != nil || n.page(nil, nil, true) != nil || n.forJournal() != nil {
		t.Errorf("%+v", n)
	}
}

// A reload replaces the channels, unless the file has a mistake.
func TestNotices_Reload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "notices.yaml")
	write := func(name, url string) {
		test.OK(t, os.WriteFile(file, []byte("channels:\n- {name: "+name+", kind: webhook, url: '"+url+"'}\n"), 0o600))
	}
	write("old", "https://old.example.com")
	core, logs := observer.New(zap.InfoLevel)
	h := newHost(zap.New(core), Build{})
	r := &reach{log: h.log}
	n := &notices{file: file, reach: r, log: h.log, store: &store{}}
	t.Cleanup(func() { _ = h.Stop() })
	test.OK(t, h.start(t.Context(), r, n))
	var err error
	if n.store.journal, err = journal.Open(t.Context(), journal.Config{Channels: n.forJournal()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = n.store.journal.Close() })
	n.sender(nil)
	for _, step := range []struct{ name, url, log, has, lacks string }{
		{"new", "https://new.example.com", "Read the channels for notices again", "new", "old"},
		{"wrong", "no URL", "Kept the channels for notices from before", "new", "wrong"},
	} {
		write(step.name, step.url)
		h.reload()
		if n.to.Host(step.has) == "" || n.to.Host(step.lacks) != "" || len(n.channels) != 1 || n.channels[0].Name != step.has {
			t.Errorf("after %s: the channels are %+v", step.name, n.channels)
		}
		if logs.FilterMessage(step.log).Len() != 1 {
			t.Errorf("after %s: the log is %v", step.name, logs.All())
		}
	}
}
