package console_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"longhaul/internal/test"
	"longhaul/opt"
)

// A state has the same word, sign and color on all pages: in lists, drawings and timelines.
func TestState_sameEverywhere(t *testing.T) {
	s, id := planned(t, opt.PlanSpec{Name: "P", Tasks: tasksNamed("A")})
	b, page := s.signedIn(t, "acme/ann"), "/console/objectives/"+id
	check := func(word, kind string) {
		t.Helper()
		badge := fmt.Sprintf(`<span class="state %s">%s</span>`, kind, word)
		b.get("/console/objectives").holds(t, badge)
		b.get(page).holds(t, `<p class="why">`+badge)
	}
	drawn := func(word, kind string) {
		t.Helper()
		check(word, kind)
		b.get(page+"?view=graph").holds(t, fmt.Sprintf(`<title>P: %s</title>`, word), `#i-`+kind+`"`)
	}
	drawn("working", "working")
	s.world.Gate(task(id, 1, 0), opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept}})
	drawn("waiting", "waiting")
	all := b.get(page + "/timeline")
	all.wants(t, "The objective is waiting for an answer", "Plan “P” is waiting for an answer", "!blocked")
	all.holds(t, `<span class="state waiting" aria-hidden="true"></span> <span><bdi>The objective is waiting`)
	b.press(page, "change", "pause")
	check("paused", "pending")
}

// A selector is what a rule of a style sheet begins with; bareClass is one that is a class alone.
var (
	selectors = regexp.MustCompile(`([^{}]+)\{`)
	bareClass = regexp.MustCompile(`^\.[a-z][a-z-]*$`)
)

// Pages load all style sheets: what one gives to a class by itself would change the pages of another.
func TestStyles_ownClasses(t *testing.T) {
	sheets, err := filepath.Glob("assets/*.css")
	if err != nil || len(sheets) < 2 {
		t.Fatalf("the style sheets are %v: %v", sheets, err)
	}
	of := map[string]string{}
	for _, sheet := range sheets {
		text := test.Value(os.ReadFile(sheet))(t)
		for _, rule := range selectors.FindAllStringSubmatch(string(text), -1) {
			for class := range strings.SplitSeq(rule[1], ",") {
				class = strings.TrimSpace(class)
				if other := of[class]; bareClass.MatchString(class) && other != "" && other != sheet {
					t.Errorf("both %s and %s style %s", other, sheet, class)
				}
				of[class] = sheet
			}
		}
	}
}

// A dark page differs from a light one in colours alone: tests of pages in a browser count on that.
func TestStyles_dark(t *testing.T) {
	dark := regexp.MustCompile(`@media [^{]*prefers-color-scheme[^{]*\{\s*:root \{(\s*--[a-z-]+:[^;{}]*#[^;{}]*;)+\s*\}\s*\}`)
	sheets := ""
	for _, sheet := range test.Value(filepath.Glob("assets/*.css"))(t) {
		sheets += string(test.Value(os.ReadFile(sheet))(t))
	}
	test.Is(t, "rules about schemes that set only colours", strings.Count(sheets, "prefers-color-scheme"), len(dark.FindAllString(sheets, -1)))
	test.Is(t, "rules about schemes", 1, strings.Count(sheets, "prefers-color-scheme"))
}
