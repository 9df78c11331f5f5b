package console_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"longhaul/internal/needs"
	"longhaul/internal/test"
)

// startBrowser starts a browser without a window, which ends with the test.
func startBrowser(t *testing.T) context.Context {
	t.Helper()
	path := needs.Tool(t, "chromium")
	profile := test.Value(os.MkdirTemp("", "longhaul-browser-"))(t)
	options := []chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoFirstRun, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU}
	for _, flag := range []string{"disable-quic", "disable-background-networking", "disable-component-update", "disable-sync", "disable-dev-shm-usage", "disable-background-timer-throttling", "disable-renderer-backgrounding", "disable-extensions", "hide-scrollbars"} {
		options = append(options, chromedp.Flag(flag, true))
	}
	allocated, stop := chromedp.NewExecAllocator(context.Background(), append(options, chromedp.Flag("lang", "en-GB"), chromedp.WSURLReadTimeout(within))...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // waits for the end of the processes
		cancel()
		stop()
		_ = os.RemoveAll(profile) // processes that are ending may still write
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	return ctx
}

// A tab is a page in a browser session of its own: it shares no cookies with others. What
// goes wrong in it fails its test: errors of scripts, violations of the policy of the
// pages, dialogs, and requests to other sites.
type tab struct {
	t      *testing.T
	office *office
	ctx    context.Context

	mu      sync.Mutex
	faults  []string
	allowed []string // parts of faults that the test expects
}

// watchPolicy is a script for each page that reports violations of its policy.
const watchPolicy = `addEventListener("securitypolicyviolation", (e) => console.error("The policy refuses " + e.violatedDirective + " " + e.blockedURI + " " + e.sample));`

// holdFetch is a script for each page with which a test can keep the page as it is, as if its
// requests were slow, except for forms.
const holdFetch = `{
	const real = window.fetch;
	let gate = null, open = null;
	window.asked = 0;   // requests that are on their way
	window.fetched = 0; // requests that the page has had the answers of
	window.hold = () => { gate ??= new Promise((done) => { open = done; }); };
	window.unhold = () => { open?.(); gate = open = null; };
	window.fetch = async (...args) => {
		if (args[1]?.method !== "POST") await gate;
		asked++;
		const done = () => setTimeout(() => { asked--; fetched++; });
		try {
			const r = await real(...args);
			r.clone().text().then(done, done);
			return r;
		} catch (e) {
			done();
			throw e;
		}
	};
}`

// newTab opens an empty tab.
func (o *office) newTab(t *testing.T) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(o.browser, chromedp.WithNewBrowserContext())
	b := &tab{t: t, office: o, ctx: ctx}
	if err := chromedp.Listen(ctx, b.onEvent); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	b.allow("status of 400 (Bad Request) " + o.site.URL() + "/console/events/") // a stream of work that ended before it began
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	b.paint("light") // without motion, for which the browser would draw all the time
	for _, script := range []string{watchPolicy, holdFetch} {
		call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.shot("failed")
		}
		for _, fault := range b.seenFaults() {
			t.Error("in the browser: " + fault)
		}
		cancel()
	})
	return b
}

// call calls a command of the browser.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// answerWithin is how long a check waits for the browser before it is repeated: a command
// that meets the end of a page may get no answer.
const answerWithin = 15 * time.Second

// try is call that may fail, for checks that are repeated.
func try[P, R any](b *tab, command cdp.Command[P, R], params P) (R, error) {
	ctx, cancel := context.WithTimeout(b.ctx, answerWithin)
	defer cancel()
	return chromedp.Call(ctx, command, params)
}

// do carries out an action.
func do[T any](b *tab, what string, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, within)
	defer cancel()
	r, err := chromedp.Run(ctx, action)
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
	return r
}

// onEvent handles the events of the tab. It must not wait.
func (b *tab) onEvent(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.fault("a script failed: " + e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			text := "the console says:"
			for _, a := range e.Args {
				text += " " + string(a.Value)
			}
			b.fault(text)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.fault("the log says: " + e.Entry.Text + " " + e.Entry.URL)
		}
	case *page.EventJavascriptDialogOpening:
		b.fault("a dialog: " + e.Message)
	case *network.EventRequestWillBeSent:
		url := e.Request.URL
		if !strings.HasPrefix(url, b.office.site.URL()+"/") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "about:") {
			b.fault("a request to another site: " + url)
		}
	}
}

func (b *tab) fault(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.faults, text) {
		b.faults = append(b.faults, text)
	}
}

// allow declares faults that the test brings about, by parts of their texts.
func (b *tab) allow(parts ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, parts...)
}

// seenFaults lists the faults that were not allowed.
func (b *tab) seenFaults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.faults), func(fault string) bool {
		return slices.ContainsFunc(b.allowed, func(part string) bool { return strings.Contains(fault, part) })
	})
}
