package metrics_test

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"longhaul/internal/metrics"
	"longhaul/internal/test"
)

// An expression is one of PromQL in a file of deploy.
type expression struct{ where, text string }

// Metrics that Prometheus adds.
var added = []string{"up"}

// words are the words of PromQL in our expressions that are no metrics.
var words = []string{"sum", "min", "max", "count", "by", "le", "rate", "histogram_quantile"}

var (
	braces    = regexp.MustCompile(`\{[^}]*\}`)
	ranges    = regexp.MustCompile(`\[[^\]]*\]`)
	groupings = regexp.MustCompile(`\bby \([^)]*\)`)
	names     = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*`)
)

// names returns the names of metrics in an expression.
func (e expression) names() (out []string) {
	text := groupings.ReplaceAllString(ranges.ReplaceAllString(braces.ReplaceAllString(e.text, ""), ""), "by")
	for _, name := range names.FindAllString(text, -1) {
		if !slices.Contains(words, name) {
			out = append(out, name)
		}
	}
	return out
}

// rules returns the alerts of deploy/prometheus.
func rules(t *testing.T) (alerts []string, all []expression) {
	t.Helper()
	var file struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				For         string
				Labels      map[string]string
				Annotations map[string]string
			}
		}
	}
	data, err := os.ReadFile("../../deploy/prometheus/alerts.yml")
	if err == nil {
		err = yaml.Unmarshal(data, &file)
	}
	test.OK(t, err)
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations["summary"] == "" || r.Labels["severity"] == "" {
				t.Errorf("alert %q has no name, summary or severity", r.Alert)
			}
			alerts = append(alerts, r.Alert)
			all = append(all, expression{r.Alert, r.Expr})
		}
	}
	return alerts, all
}

// panels returns the expressions of the dashboard.
func panels(t *testing.T) (all []expression) {
	t.Helper()
	var file struct {
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	data, err := os.ReadFile("../../deploy/grafana/longhaul.json")
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	test.OK(t, err)
	ids := map[int]bool{}
	for _, p := range file.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q has the id of another one", p.Title)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			all = append(all, expression{p.Title, target.Expr})
		}
	}
	return all
}

// served returns the metrics of a process that has done everything once, except the metrics of
// Temporal's SDK.
func served(t *testing.T) []string {
	t.Helper()
	m := metrics.New("v1")
	m.Called("GetTask", "rest", "ok", time.Second)
	m.Answered("approval", time.Second)
	m.Exceeded("open-gates")
	m.Ran("echo", "completed", time.Second)
	m.Running("echo", 1)
	m.Waiting("echo", 1)
	m.Moved("working")
	m.Used("main", 10, 5, 1)
	m.Recorded(time.Second, nil)
	m.Committed(1, time.Second, nil)
	m.Notified()
	m.Looked(false)
	m.Pushed("200", time.Second)
	for _, name := range []string{"ready", "open_work", "journal_activity"} { // as internal/cli adds them
		m.Add(metrics.Reading{Name: name, Help: "h", Label: "of", Read: func(context.Context) (map[string]float64, error) {
			return map[string]float64{"one": 1}, nil
		}})
	}
	var all []string
	for _, line := range scrape(t, m, "") {
		if !strings.HasPrefix(line, "#") {
			all = append(all, names.FindString(line))
		}
	}
	return all
}

// family returns the name of the metric to which a name in a scrape belongs.
func family(name string) string {
	for _, end := range []string{"_bucket", "_count", "_sum"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

// The dashboard and the alerts name only metrics that the program has, and the manual
// has all of ours and an advice for each alert. The names of Temporal's SDK are those in
// the manual, which dev/e2e/observe compares with a process.
func TestDeploy(t *testing.T) {
	manual := test.Value(os.ReadFile("../../docs/operations.md"))(t)
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("`((?:longhaul|temporal)_[a-z_]+)`").FindAllStringSubmatch(string(manual), -1) {
		documented[row[1]] = true
	}
	known := map[string]bool{}
	for _, name := range slices.Concat(served(t), added) {
		known[name] = true
		if strings.HasPrefix(name, "longhaul_") && !documented[family(name)] {
			t.Errorf("docs/operations.md does not have the metric %s", family(name))
		}
	}
	alerts, all := rules(t)
	for _, alert := range alerts {
		test.Contains(t, "docs/operations.md does not say what to do about the alert", "`"+alert+"`", string(manual))
	}
	all = append(all, panels(t)...)
	if len(all) < 25 {
		t.Fatalf("there are %d expressions", len(all))
	}
	for _, e := range all {
		found := e.names()
		if len(found) == 0 {
			t.Errorf("%s: no metric in %s", e.where, e.text)
		}
		for _, name := range found {
			if !known[name] && !(strings.HasPrefix(name, "temporal_") && documented[family(name)]) {
				t.Errorf("%s: the program has no metric %s", e.where, name)
			}
		}
	}
}
