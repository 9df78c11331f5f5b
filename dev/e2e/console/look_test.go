package console_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// sizes are the windows in which pages are looked at: a phone, a laptop and a desk.
var sizes = []struct {
	name          string
	width, height int64
}{{"narrow", 360, 780}, {"wide", 1280, 900}, {"desk", 1920, 1080}}

// schemes are the settings of people for colours, each with the rules of axe-core that pages are held to in
// it. Pages differ in nothing but their colours, so that one scheme is held to all rules.
var schemes = []struct{ name, rules string }{
	{"light", `["wcag2a", "wcag2aa"]`},
	{"dark", `{type: "rule", values: ["color-contrast", "link-in-text-block"]}`},
}

// A violation is a rule of axe-core that a page breaks.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

func (v violation) String() string {
	text := fmt.Sprintf("%s: %s (%d elements)", v.ID, v.Help, len(v.Nodes))
	for _, n := range v.Nodes[:min(3, len(v.Nodes))] {
		text += fmt.Sprintf("\n\t%.300s\n\t%s", n.HTML, strings.ReplaceAll(n.FailureSummary, "\n", " "))
	}
	return text
}

// axe returns the source of axe-core.
func (o *office) axe(t *testing.T) string {
	t.Helper()
	if o.rules == "" {
		source := harness.ReadFile(t, filepath.Join(harness.NodePackages(t, "js"), "node_modules", "axe-core", "axe.min.js"))
		o.rules = string(source)
	}
	return o.rules
}

// look checks the page that the tab shows, at each size and with each scheme of colours:
// nothing is wider than the window, and axe-core finds no violation of WCAG 2 A and AA. With
// -v it takes pictures of what it sees.
func (b *tab) look(name string) {
	b.t.Helper()
	defer b.holdRefresh()() // so that all of it is about one state
	defer b.paint("light")
	for _, size := range sizes {
		b.resize(size.width, size.height)
		for _, scheme := range schemes {
			b.paint(scheme.name)
			at := fmt.Sprintf("%s %s %s", name, size.name, scheme.name)
			if testing.Verbose() {
				b.shot(strings.ReplaceAll(at, " ", "-"))
			}
			b.fits(at)
			b.obeys(at, scheme.rules)
		}
	}
}

// paint sets the scheme of colours that the person prefers.
func (b *tab) paint(scheme string) {
	b.t.Helper()
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// widest is a script that names the elements that are wider than the window, except
// inside of regions that scroll.
const widest = `(() => {
	const scrolls = (e) => e && (/auto|scroll|hidden|clip/.test(getComputedStyle(e).overflowX) && e !== document.documentElement && e !== document.body || scrolls(e.parentElement));
	const wide = [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !scrolls(e.parentElement) && !e.closest("svg svg, svg *"));
	return [document.documentElement.scrollWidth - innerWidth, ...wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 200))].map(String);
})()`

func (b *tab) fits(at string) {
	b.t.Helper()
	found, err := eval[[]string](b, widest)
	if err != nil {
		b.t.Errorf("%s: measure the page: %v", at, err)
		return
	}
	if found[0] != "0" && !strings.HasPrefix(found[0], "-") {
		b.t.Errorf("%s: the page is %s px wider than the window: %s", at, found[0], strings.Join(found[1:], "\n\t"))
	}
}

func (b *tab) obeys(at, rules string) {
	b.t.Helper()
	if known, _ := eval[bool](b, `typeof axe === "object"`); !known {
		if _, err := eval[any](b, b.office.axe(b.t)+"; null"); err != nil {
			b.t.Fatalf("%s: load axe-core: %v", at, err)
		}
	}
	out, err := eval[string](b, `axe.run(document, {runOnly: `+rules+`, resultTypes: ["violations"]}).then((r) => JSON.stringify(r.violations))`)
	var list []violation
	if err == nil {
		err = json.Unmarshal([]byte(out), &list)
	}
	if err != nil {
		b.t.Errorf("%s: axe-core: %v", at, err)
	}
	for _, v := range list {
		b.t.Errorf("%s: %s", at, v)
	}
}

// pictures names the directory for the pictures of the manual.
var pictures = flag.String("pictures", "", "write the pictures of docs/console.md into this `directory`")

// inManual are the pages that the manual shows, by their names.
var inManual = []string{"overview", "inbox", "gate", "objectives", "objective", "task", "draft", "timeline", "new", "preview", "sign-in"}

// publish writes a picture of the page for the manual, if it is to be written.
func (b *tab) publish(name string) {
	b.t.Helper()
	if *pictures == "" || !slices.Contains(inManual, name) {
		return
	}
	b.resize(800, 600)
	data := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{}).Data
	if len(data) > 100<<10 {
		b.t.Errorf("the picture of %s has %d KiB", name, len(data)>>10)
	}
	test.Error(b.t, "the call", nil, os.WriteFile(filepath.Join(*pictures, "console-"+name+".png"), data, 0o644))
}

// reviewed are parts of an object, one for each form in which pages show them.
var reviewed = []a2a.Part{
	{Data: []byte(`{"supplier":"carpenter","total":1249.5,"currency":"EUR","risk":"low","lines":[{"what":"Chairs","pieces":12,"price":89.5},{"what":"Table","pieces":1,"price":175.5}],"approved":false,"note":null}`), Filename: "order.json"},
	{Text: new("what,pieces,price\nChairs,12,89.50\n\"Table, round\",1,175.50\n"), MediaType: "text/csv", Filename: "lines.csv"},
	{Text: new("## Terms\n\n- **30 days** after delivery\n- 2 % discount within 10 days\n"), MediaType: "text/markdown", Filename: "terms.md"},
	{Raw: []byte("%PDF-1.7\n"), MediaType: "application/pdf", Filename: "offer.pdf"},
}

// Each page can be read and used at each size and with each scheme of colors.
func testLook(t *testing.T, o *office) {
	id, _ := o.ask(t, "look", &harness.Plan{Name: "Look", Tasks: []harness.PlanTask{
		{Name: "Measure", Description: "say 4 m"}, {Name: "Saw", Description: "fail", Metadata: harness.Optional(), Dependencies: []string{}},
		{Name: "Paint", Description: "say red", Dependencies: []string{"task-0"}}, {Name: "Approve", Description: "approve Is it even?", Dependencies: []string{"task-1", "task-2"}},
		{Name: "Ship", Description: "say shipped", Dependencies: []string{"task-3"}},
	}})
	gate := o.begin(t, "Write notes about looks")
	for _, name := range []string{"Sand", "Oil"} {
		test.OK(t, test.Err(o.as("ann").Send(t.Context(), harness.Message{ID: "look-" + name, Text: name, Plan: harness.NewPlan(name, "say done"), Wait: true})))
	}
	ladder := fmt.Sprintf(`,"expiresAt":%q,"ladder":[{"kind":"remind","after":600},{"kind":"escalate","after":3000,"to":{"principals":["dan"]}},{"kind":"expire","after":3600,"action":"reject"}],"taken":1`, time.Now().UTC().Add(time.Hour).Format(time.RFC3339))
	_, question := o.askAbout(t, "review", reviewed, ladder)
	b := o.enter(t, "ann")
	b.open("/console/")
	b.sees("Slots used", " of 200") // once the worker has said it to Temporal
	for _, at := range []struct{ name, path string }{
		{"overview", "/console/"}, {"objectives", "/console/objectives"}, {"new", "/console/new?text=Write+notes"}, {"inbox", "/console/inbox"}, {"gate-plain", "/console/inbox/" + gate}, {"gate", question}, {"objective", "/console/objectives/" + id}, {"timeline", "/console/objectives/" + id + "/timeline"},
		{"graph", "/console/objectives/" + id + "?view=graph"}, {"plan", "/console/objectives/" + id + "?plan=1"}, {"find", "/console/find?q=look"}, {"columns", "/console/objectives?cols=failure&cols=changed&sort=changed"},
		{"task", "/console/objectives/" + id + "?task=1-0"}, {"task-waits", "/console/objectives/" + id + "?task=1-3"},
	} {
		b.open(at.path)
		b.look(at.name)
		b.publish(at.name)
	}
	for _, at := range []struct{ name, text, sees string }{{"preview", "Write notes about tea", "Publish the notes?"}, {"preview-later", "Sing a song", "A worker makes the plan once the objective has begun"}} {
		b.open("/console/new?text=" + url.QueryEscape(at.text))
		b.click("button", "Show the plan")
		b.sees(at.sees)
		b.look(at.name)
		b.publish(at.name)
	}
	b.allow("status of 404")
	b.open("/console/no-page")
	b.look("nothing")
	out := o.newTab(t)
	out.open("/console/sign-in")
	out.look("sign-in")
	out.publish("sign-in")
}

// A person decides beforehand about the next questions, names a deputy, and rehearses a request.
func testRules(t *testing.T, o *office) {
	gate := o.begin(t, "Write notes about rules")
	b := o.enter(t, "bob")
	b.open("/console/inbox/" + gate)
	b.click("link", "Decide the next ones beforehand")
	b.fill("If, in CEL", `text == "none of the others"`)
	b.look("standing-form")
	b.click("button", "Decide beforehand")
	b.sees("active", "Nothing yet.")
	b.look("standing")
	b.open("/console/standing")
	b.sees("none of the others")
	b.look("standings")
	b.open("/console/absences")
	b.fill("Deputy", "nobody-else")
	b.run(fmt.Sprintf(`document.getElementById("until").value = %q; null`, time.Now().UTC().Format(time.DateOnly)))
	b.click("button", "Add")
	b.sees("nobody-else", "now")
	b.look("absences")
	b.click("button", "End the absence of bob")
	b.sees("ended by bob")
	b.open("/console/new?text=Write+notes+about+plays")
	b.click("button", "Show the plan")
	b.click("button", "Rehearse")
	b.sees("Rehearsal", "completed after", "past run", "asked everyone")
	b.look("rehearsal")
}
