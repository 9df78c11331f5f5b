package playbook_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"longhaul/dev/e2e/harness"
)

// A decision is one of the chain of an objective.
type decision struct {
	Action    string `json:"action"`
	DecidedBy string `json:"decidedBy"`
	Closed    bool   `json:"closed"`
	Checks    []struct {
		Check, Verdict, Reason string
	} `json:"checks"`
}

// decisions returns the chain of an objective.
func decisions(t *testing.T, site *harness.Site, id string) (list []decision) {
	t.Helper()
	res, err := http.Get(site.URL() + "/v1/objectives/" + id + "/decisions")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page := struct{ Decisions *[]decision }{&list}
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil {
		t.Fatal(err)
	}
	return list
}

// The playbook of docs/decide.md asks no one about a usual order, and says what its checks have found about the
// others: one that is large, and one that the budget has no room for, which was sent back before.
func TestDecide(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	book := string(regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(harness.ReadFile(t, "../../../docs/decide.md"))[1])
	dir := t.TempDir()
	for name, order := range map[string]string{"pay": `"amount": 120, "for": "tea"`, "large": `"amount": 600, "for": "tea"`, "cars": `"amount": 120, "for": "cars"`} {
		text := strings.NewReplacer(`name: pay`, `name: `+name, `[pay]`, `[`+name+`]`, `"amount": 120, "for": "tea"`, order).Replace(book)
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	site := harness.NewSite(t, harness.Dev, "--playbooks", dir)
	site.Start(harness.AllInOne)
	c := site.Client()

	paid := c.MustSend(ctx, t, harness.Message{ID: "pay", Text: "pay", Wait: true})
	if paid.State != "COMPLETED" || len(paid.Artifacts) != 1 {
		t.Errorf("a usual order: %s", paid.Raw)
	}
	if chain := decisions(t, site, paid.ID); len(chain) != 1 || !chain[0].Closed || chain[0].Action != "accept" || chain[0].DecidedBy != "longhaul:checks" || len(chain[0].Checks) != 3 {
		t.Errorf("a usual order has the chain %+v", chain)
	}
	for name, want := range map[string][]string{"large": {""}, "cars": {"refine", "refine", ""}} {
		asked := c.MustSend(ctx, t, harness.Message{ID: name, Text: name})
		c.AwaitGate(t, within, asked.ID)
		chain := decisions(t, site, asked.ID)
		var got []string
		for _, d := range chain {
			got = append(got, d.Action)
		}
		last := chain[len(chain)-1]
		if !slices.Equal(got, want) || last.Closed || len(last.Checks) != 3 {
			t.Errorf("%s: the chain %+v", name, chain)
		}
		if task, err := c.Get(ctx, asked.ID); err != nil || !strings.Contains(string(task.Raw), "Checked, ") {
			t.Errorf("%s: the question has no findings: %v", name, err)
		}
	}
}

// With a standing decision no one is asked about the next order: it is decided in the chain, and counted.
func TestStanding(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	dir := t.TempDir()
	book := `
name: buy
match: {keywords: [buy]}
plans:
  - name: Buy
    tasks:
      - {name: Order, executor: echo, description: 'say {"amount": 12, "for": "tea"}'}
      - name: Approve
        standing: true
        human: {approve: "Pay?", object: '{{results "Order"}}'}
`
	if err := os.WriteFile(filepath.Join(dir, "buy.yaml"), []byte(book), 0o600); err != nil {
		t.Fatal(err)
	}
	site := harness.NewSite(t, harness.Dev, "--playbooks", dir)
	site.Start(harness.AllInOne)
	c := site.Client()
	asked := c.MustSend(ctx, t, harness.Message{ID: "first", Text: "buy"})
	c.AwaitGate(t, within, asked.ID)
	gate := strings.Replace(asked.ID, "obj-", "task-", 1) + "-1-1:1"
	body := `{"interruptId": "` + gate + `", "holds": "object.amount < 50", "for": "8h", "most": 1}`
	res, err := http.Post(site.URL()+"/v1/standing", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var made struct{ ID, State string }
	if err := json.NewDecoder(res.Body).Decode(&made); err != nil || made.State != "active" {
		t.Fatalf("made: %d %+v, %v", res.StatusCode, made, err)
	}
	paid := c.MustSend(ctx, t, harness.Message{ID: "second", Text: "buy", Wait: true})
	if chain := decisions(t, site, paid.ID); paid.State != "COMPLETED" || len(chain) != 1 || !chain[0].Closed || chain[0].DecidedBy != "longhaul:standing" {
		t.Errorf("the second order is %s, with the chain %+v", paid.State, chain)
	}
	third := c.MustSend(ctx, t, harness.Message{ID: "third", Text: "buy"})
	c.AwaitGate(t, within, third.ID)
	list, err := http.Get(site.URL() + "/v1/standing")
	if err != nil {
		t.Fatal(err)
	}
	defer list.Body.Close()
	var shown struct{ Standing []struct{ State string } }
	if err := json.NewDecoder(list.Body).Decode(&shown); err != nil || len(shown.Standing) != 1 || shown.Standing[0].State != "used-up" {
		t.Errorf("afterwards: %+v, %v", shown, err)
	}
}
