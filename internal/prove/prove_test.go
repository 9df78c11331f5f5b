package prove_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/internal/prove"
	"longhaul/internal/test"
)

func config(f *fake) prove.Config {
	return prove.Config{
		URL: f.url(), HTTP: &http.Client{Transport: &http.Transport{}}, Server: f, Runs: true,
		Kills: 1, Restarts: 1, Partitions: 1, Tasks: 10, Down: 50 * time.Millisecond, Timeout: 8 * time.Second,
		Message: "work {token}", Ask: "ask {token}", Answer: "yes", Seed: 7, Note: func(string, ...any) {},
	}
}

// Each server has one fault or none, and the kit must find exactly that.
func TestRun(t *testing.T) {
	type result struct {
		version, sickness string
		want              []string
		card              *prove.Scorecard
		err               error
	}
	cases := map[string]*result{
		"healthy":                    {version: "1.0", sickness: "", want: nil},
		"healthy, 0.3":               {version: "0.3", sickness: "", want: nil},
		"cancels, unanswered":        {version: "1.0", sickness: "loses answers", want: nil},
		"forgets tasks":              {version: "1.0", sickness: "forgets", want: []string{"accepted lost"}},
		"stops work":                 {version: "1.0", sickness: "stops", want: []string{"finished lost"}},
		"changes results":            {version: "1.0", sickness: "changes", want: []string{"kept lost"}},
		"makes a task twice":         {version: "1.0", sickness: "doubles", want: []string{"once repeated"}},
		"makes a task twice, 0.3":    {version: "0.3", sickness: "doubles", want: []string{"once repeated"}},
		"leaves out a piece":         {version: "1.0", sickness: "streams too little", want: []string{"streams lost"}},
		"sends a piece twice":        {version: "1.0", sickness: "streams twice", want: []string{"streams repeated"}},
		"sends events after the end": {version: "1.0", sickness: "streams on", want: []string{"streams out-of-order"}},
		"leaves a task out of lists": {version: "1.0", sickness: "lists too few", want: []string{"lists lost"}},
		"lists tasks twice":          {version: "1.0", sickness: "lists twice", want: []string{"lists out-of-order", "lists repeated"}},
		"lists the oldest first":     {version: "1.0", sickness: "lists backwards", want: []string{"lists out-of-order"}},
		"drops answers":              {version: "1.0", sickness: "deaf", want: []string{"finished lost"}},
		"revives canceled tasks":     {version: "1.0", sickness: "revives", want: []string{"kept lost"}},
	}
	var all sync.WaitGroup // they wait most of the time
	for _, tt := range cases {
		cfg := config(newFake(t, tt.version, tt.sickness))
		all.Go(func() { tt.card, tt.err = prove.Run(t.Context(), cfg) })
	}
	all.Wait()
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			card := tt.card
			if tt.err != nil {
				t.Fatal(tt.err)
			}
			t.Logf("took %.1f s", card.Took)
			var got []string
			for _, f := range card.Findings {
				if kind := f.Check + " " + string(f.Kind); !slices.Contains(got, kind) {
					got = append(got, kind)
				}
			}
			slices.Sort(got)
			test.Equal(t, fmt.Sprintf("findings\n%+v", card.Findings), tt.want, got)
			test.Is(t, "Clean()", tt.want == nil, card.Clean())
			for _, check := range card.Checks {
				if n := card.Of(check.Name); n.Cases == 0 && check.Name != "pushes" && tt.sickness == "" {
					t.Errorf("nothing was checked for %q: %s", check.Name, n.Skipped)
				}
			}
			checkForms(t, card)
		})
	}
}

// checkForms checks that the text names every kind of finding, and that the picture is XML.
func checkForms(t *testing.T, card *prove.Scorecard) {
	t.Helper()
	var text, picture bytes.Buffer
	test.OK(t, errors.Join(card.WriteText(&text), card.WritePicture(&picture)))
	for _, f := range card.Findings[:min(1, len(card.Findings))] {
		test.Contains(t, "the text", f.Seen, text.String())
	}
	judged := slices.ContainsFunc(card.Findings, func(f prove.Finding) bool {
		return slices.Contains([]string{"accepted", "kept", "once"}, f.Check) && f.Kind != prove.OutOfOrder
	})
	if judged != (card.Anomaly != "") && !slices.ContainsFunc(card.Findings, func(f prove.Finding) bool { return f.Check == "lists" }) {
		t.Errorf("the picture of the first anomaly is %q", card.Anomaly)
	}
	for line := range strings.Lines(card.Anomaly) {
		test.Contains(t, "the text", line, text.String())
	}
	if strings.Contains(picture.String(), "is broken") != (card.Anomaly != "") {
		t.Errorf("the picture has not the anomaly\n%s", card.Anomaly)
	}
	if !strings.Contains(text.String(), card.Verdict()) || !strings.Contains(picture.String(), card.Verdict()) {
		t.Errorf("a form has no verdict:\n%s", text.String())
	}
	for d := xml.NewDecoder(&picture); ; {
		if _, err := d.Token(); err != nil {
			test.Error(t, "the end of the picture", io.EOF, err)
			return
		}
	}
}

func TestRun_refuses(t *testing.T) {
	f := newFake(t, "1.0", "")
	for name, tt := range map[string]struct {
		change func(*prove.Config)
		want   string
	}{
		"no URL":              {func(c *prove.Config) { c.URL = "here" }, "is not the URL of an agent"},
		"nobody there":        {func(c *prove.Config) { c.Server, c.Runs, c.Timeout = nil, false, 50*time.Millisecond }, "did not answer within 50ms"},
		"a version too old":   {func(c *prove.Config) { c.Protocol = "0.3" }, "has no JSON-RPC interface for A2A 0.3"},
		"a program that ends": {func(c *prove.Config) { c.Server = &prove.Process{Line: "exit 3", Log: io.Discard} }, "the server ended before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(f)
			tt.change(&cfg)
			test.Fails(t, "the call", tt.want, test.Err(prove.Run(t.Context(), cfg)))
			test.Error(t, "the call", nil, f.Kill(t.Context()))
		})
	}
	test.OK(t, f.Start(t.Context()))
	test.Fails(t, "a server runs already", "stop it first", test.Err(prove.Run(t.Context(), config(f))))
}
