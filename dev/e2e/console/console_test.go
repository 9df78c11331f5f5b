// Package console_test uses the console as people do: in a browser, with mouse and
// keyboard, against the whole service.
package console_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// within is how long the browser may need for a step, on a machine that has much to do.
const within = time.Minute

// An office is a site with people, who share one browser program.
type office struct {
	site    *harness.Site
	process *harness.Process
	browser context.Context
	keys    map[string]string // API keys, by person
	dir     string            // of pictures, "" before the first
	rules   string            // the source of axe-core, "" before the first use
	t       *testing.T
}

// TestConsole runs all parts on one site and in one browser, one after another.
func TestConsole(t *testing.T) {
	o := openOffice(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *office)
	}{
		{"watches", testWatching},
		{"signs in", testSigning},
		{"header", testHeader},
		{"inbox", testInbox},
		{"saved", testSaved},
		{"story", testStory},
		{"approves", testApproving},
		{"refines", testRefine},
		{"expires", testExpiry},
		{"rivals", testRivals},
		{"hidden", testHidden},
		{"notices", testNotices},
		{"pressed", testPressed},
		{"stays", testStays},
		{"retried", testRetried},
		{"revived", testRevived},
		{"questions", testQuestions},
		{"steers", testSteering},
		{"changes", testChanging},
		{"reader", testReader},
		{"keyboard", testKeyboard},
		{"no scripts", testPlain},
		{"attack", testAttack},
		{"look", testLook},
		{"rules", testRules},
		{"timeline", testTimeline},
		{"late", testLate},
		{"lost", testLost},
		{"load", testLoad},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, o) })
	}
}

func openOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, keys: map[string]string{}}
	playbooks := test.Value(filepath.Abs("playbooks"))(t)
	o.site = harness.NewSite(t, harness.Dev, "--auth", "keys", "--playbooks", playbooks, "--reply-wait", "10s")
	o.hire("ann", "--scopes", "all")
	o.hire("bob", "--scopes", "all")
	o.hire("carol", "--scopes", "all")
	o.hire("reader", "--scopes", "runs:read")
	o.hire("dora", "--scopes", "all", "--tenant", "desk")
	o.hire("nora", "--scopes", "all", "--tenant", "notices")
	o.hire("clerk", "--scopes", "all", "--tenant", "crowd")
	o.process = o.site.Start(harness.AllInOne)
	o.browser = startBrowser(t)
	return o
}

// hire makes an API key for a person.
func (o *office) hire(name string, args ...string) {
	o.t.Helper()
	o.keys[name] = o.site.Key(name, args...)
}

// as returns a client of the API with the key of a person.
func (o *office) as(name string) *harness.Client {
	return o.site.Client().With("Authorization", "Bearer "+o.keys[name])
}

// enter returns a tab in which a person has signed in.
func (o *office) enter(t *testing.T, name string) *tab {
	t.Helper()
	b := o.newTab(t)
	o.signIn(b, name)
	return b
}

// signIn signs a person in.
func (o *office) signIn(b *tab, name string) {
	b.t.Helper()
	b.open("/console/sign-in")
	b.fill("API key", o.keys[name])
	b.click("button", "Sign in")
	b.sees("Sign out")
}

// pictures returns the directory of pictures, which is kept.
func (o *office) pictures() string {
	if o.dir == "" {
		dir := test.Value(os.MkdirTemp("", "longhaul-console-"))(o.t)
		o.dir = dir
		o.t.Logf("The pictures are in %s", filepath.Clean(dir))
	}
	return o.dir
}
