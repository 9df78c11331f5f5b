package console_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"longhaul/a2a"
	"longhaul/dev/e2e/harness"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// How much the journal has when the pages are measured.
var (
	crowd = flag.Int("objectives", 2000, "how many objectives the journal has when the pages are measured")
	queue = flag.Int("gates", 100, "how many gates are open then")
)

const (
	largest = 300 << 10 // bytes of a page
	rounds  = 9         // how often each page is read
)

// Pages of a tenant with many objectives and open gates are small, and their times are in
// the log.
func testLoad(t *testing.T, o *office) {
	c := o.as("clerk")
	done, err := c.Send(t.Context(), harness.Message{ID: "crowd-done", Text: "done", Plan: harness.NewPlan("Work", "say one", "say two"), Wait: true})
	if err != nil || done.State != "COMPLETED" {
		t.Fatalf("the objective to copy: %+v, %v", done, err)
	}
	waiting, err := c.Send(t.Context(), harness.Message{ID: "crowd-gate", Text: "waits", Plan: harness.NewPlan("Work", "say one", "approve Go on?"), Wait: true})
	if err != nil || waiting.Gate == nil {
		t.Fatalf("the objective with a gate to copy: %+v, %v", waiting, err)
	}
	o.copies(t, done.ID, *crowd-*queue-1)
	o.copies(t, waiting.ID, *queue-1)

	b := o.enter(t, "clerk")
	b.allow("status of 404 (Not Found) " + o.site.URL() + "/console/events/") // of copies, which are in the journal alone
	for _, path := range []string{
		"/console/", "/console/new", "/console/objectives", "/console/objectives?status=completed", "/console/objectives?text=done", "/console/objectives?text=nothing",
		"/console/inbox", "/console/inbox?show=all&text=waits", "/console/inbox/" + waiting.Gate.ID, "/console/objectives/" + waiting.ID,
		"/console/objectives/" + waiting.ID + "/timeline",
	} {
		b.open(path)
		b.measure(path)
	}
}

// measure reads the page that the tab shows several times and logs how long the server
// took.
func (b *tab) measure(name string) {
	b.t.Helper()
	type reading struct {
		Status, Size int
		Took         float64 // ms until the first byte
	}
	all, err := eval[[]reading](b, fmt.Sprintf(`(async () => {
		const all = [];
		for (let i = 0; i < %d; i++) {
			performance.clearResourceTimings();
			const r = await fetch(location.href, {cache: "no-store"});
			const size = new TextEncoder().encode(await r.text()).length;
			let times;
			while (!times) { // they are noted after the contents
				await new Promise((done) => setTimeout(done));
				[times] = performance.getEntriesByName(location.href, "resource");
			}
			all.push({Status: r.status, Size: size, Took: times.responseStart - times.requestStart});
		}
		return all;
	})()`, rounds))
	if err != nil || len(all) != rounds {
		b.t.Errorf("%s was not read: %v", name, err)
		return
	}
	slices.SortFunc(all, func(a, b reading) int { return int(1000 * (a.Took - b.Took)) })
	last := all[rounds-1]
	b.t.Logf("%-40s median %3.0f ms, worst %3.0f ms, %3d KiB", name, all[rounds/2].Took, last.Took, last.Size>>10)
	if last.Status != 200 || last.Size > largest || last.Size < 500 {
		b.t.Errorf("%s: status %d, %d bytes", name, last.Status, last.Size)
	}
}

// copies records an objective again under other ids, as if there had been n more, one
// each minute.
func (o *office) copies(t *testing.T, id string, n int) {
	t.Helper()
	began := time.Now()
	unique := strings.TrimPrefix(id, "obj-")
	var group errgroup.Group
	group.SetLimit(64)
	j, text := o.recorded(t, id)
	defer j.Close()
	for i := range n {
		other := fmt.Sprintf("%s%06x", unique[:len(unique)-6], i)
		group.Go(func() error {
			return recordAs(t.Context(), j, "obj-"+other, time.Duration(i)*time.Minute, strings.ReplaceAll(text, unique, other))
		})
	}
	test.OK(t, group.Wait())
	t.Logf("%d copies of %s took %v", n, id, time.Since(began).Round(time.Millisecond))
}

// record records the events of an objective again for another one, as change returns them.
func (o *office) record(t *testing.T, id, other string, ago time.Duration, change func(events string) string) {
	t.Helper()
	j, text := o.recorded(t, id)
	defer j.Close()
	test.OK(t, recordAs(t.Context(), j, other, ago, change(text)))
}

// recorded opens the journal of the site, and returns the events of an objective in it as
// JSON.
func (o *office) recorded(t *testing.T, id string) (*journal.Journal, string) {
	t.Helper()
	j := test.Value(journal.Open(t.Context(), journal.Config{Path: filepath.Join(o.site.Dir, "journal.db")}))(t)
	events := test.Value(j.Events(t.Context(), id, 0, 0))(t)
	text := test.Value(json.Marshal(events))(t)
	return j, string(text)
}

// recordAs records events for an objective, as if they had happened some time before.
func recordAs(ctx context.Context, j *journal.Journal, id string, ago time.Duration, events string) error {
	batch := opt.Batch{ObjectiveID: id, Source: "copy"}
	var list []shown.Recorded
	if err := json.Unmarshal([]byte(events), &list); err != nil {
		return err
	}
	for at, r := range list {
		r.Event.N, r.Event.At = int64(at+1), a2a.At(r.Event.At.Time().Add(-ago))
		batch.Events = append(batch.Events, r.Event)
	}
	return j.Record(ctx, batch)
}
