package crash_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
	"go.temporal.io/sdk/client"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/topology"
	"longhaul/internal/child"
	"longhaul/internal/test"
	"longhaul/internal/witness"
)

var (
	chaosFor        = flag.Duration("chaos", 40*time.Second, "how long processes are killed")
	chaosObjectives = flag.Int("objectives", 0, "objectives that begin meanwhile; 0 for one a second")
)

// Two API, three workers, Temporal and PostgreSQL are processes of their own. Every
// few seconds one of them is killed and started again, while objectives of every kind
// run through random API. All must end as they should, nothing acknowledged is lost or
// done twice, every reader sees one sequence, and the receiver of deliveries gets the
// states in order.
func TestChaos(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), *chaosFor+10*time.Minute)
	defer cancel()
	w, top := newTopology(ctx, t)
	w.push = newDesk(t)
	var group sync.WaitGroup
	group.Go(func() { chaos(ctx, t, w, top) })
	kinds := test.Value(chosen(""))(t)
	w.play(ctx, &group, kinds, cmp.Or(*chaosObjectives, int(chaosFor.Seconds())), *chaosFor)
	group.Wait()
	steady(ctx, t, w.c)
	test.Error(t, "the call", nil, w.ticks(ctx))
	all := w.settle()
	t.Logf("%d objectives, %d streams, opened again %d times", len(w.tasks), len(w.followers), w.resumes())
	w.checkJournal(all, readJournal(t, openDatabase(t, journalURL(top))))
}

// proxyForgets is longer than a health check of the proxy takes and counts. One that began
// while a process was down may end much later, and leaves the proxy without that process.
const proxyForgets = 6 * time.Second

// steady waits until the proxy at the URL of c has answered all calls for so long. Reads after that
// must succeed at the first try.
func steady(ctx context.Context, t *testing.T, c *harness.Client) {
	t.Helper()
	proxy := *c
	proxy.Others = nil
	var since time.Time
	harness.Eventually(t, within, "the proxy knows the processes", func() error {
		if err := proxy.Call(ctx, "objectives/list", map[string]any{"pageSize": 1}, nil); err != nil {
			since = time.Time{}
			return err
		}
		if since.IsZero() {
			since = time.Now()
		}
		if d := time.Since(since); d < proxyForgets {
			return fmt.Errorf("it has answered for %v", d)
		}
		return nil
	})
}

// newTopology starts docker-compose.yml with three workers, and returns a world whose
// calls go to any API, or to the proxy.
func newTopology(ctx context.Context, t *testing.T) (*world, *topology.Topology) {
	t.Helper()
	tally := filepath.Join(t.TempDir(), "tally")
	top := topology.Run(ctx, t, topology.Options{
		Scale: map[string]int{"worker": 3}, Env: map[string][]string{topology.Longhaul: append(common(t), "CRASHABLE_TALLY="+tally)},
		Packages: map[string]string{"longhaul": harness.Crashable},
	})
	c := harness.NewClient("http://" + top.Addr("proxy", 7420))
	c.Others = []string{"http://" + top.Addr("api-a", 7420), "http://" + top.Addr("api-b", 7420)}
	w := emptyWorld(t, c)
	w.tally = tally
	w.temporal = func(t testing.TB) client.Client {
		c := test.Value(client.Dial(client.Options{HostPort: top.Addr("temporal", 7233), Namespace: "longhaul"}))(t)
		return c
	}
	w.hire(func(name string) string {
		cmd := exec.CommandContext(ctx, harness.Build(t, harness.Crashable), "keys", "create", name, "--scopes", "all", "--journal", journalURL(top))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("make a key: %v", err)
		}
		return strings.TrimSpace(string(out))
	})
	return w, top
}

// chaos kills and starts the processes in random orders, one after another, until the time is over. In the
// short form each is killed at least once.
func chaos(ctx context.Context, t *testing.T, w *world, top *topology.Topology) {
	processes := []string{"api-a-1", "api-b-1", "worker-1", "worker-2", "worker-3", "temporal-1", "postgres-1"}
	killed := map[string]int{}
	var left []string
	for end := time.Now().Add(*chaosFor); (time.Now().Before(end) || len(killed) < len(processes)) && ctx.Err() == nil; {
		select {
		case <-time.After(time.Duration(1000+rand.IntN(3000)) * time.Millisecond):
		case <-ctx.Done():
		}
		if len(left) == 0 {
			left = slices.Clone(processes)
			rand.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] })
		}
		name := left[0]
		left = left[1:]
		p := top.Process(name)
		p.Kill()
		if err := p.Start(ctx); err != nil {
			t.Errorf("start %s again: %v", name, err)
			break
		}
		killed[name]++
		w.nextRound(false)
	}
	w.nextRound(true)
	t.Logf("killed %v", killed)
}

// journalURL returns the URL of the journal.
func journalURL(top *topology.Topology) string {
	url := *top.Project().Services["migrate"].Environment["LONGHAUL_JOURNAL"]
	return strings.Replace(url, "postgres:5432", top.Addr("postgres", 5432), 1)
}

// openDatabase opens a database of PostgreSQL.
func openDatabase(t *testing.T, url string) *sql.DB {
	t.Helper()
	db := test.Value(sql.Open("pgx", url))(t)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// pushed asks once, and has its states delivered.
func (w *world) pushed(ctx context.Context, n int) error {
	params := map[string]any{
		"message": map[string]any{
			"messageId": id(n), "role": "ROLE_USER", "parts": []any{map[string]any{"text": "pushed"}},
			"metadata": map[string]any{"opt/v1/plan": harness.NewPlan("pushed", "work 50ms", "approve Go on?; "+say(n))},
		},
		"configuration": map[string]any{"returnImmediately": true, "taskPushNotificationConfig": map[string]any{"id": "desk", "url": w.push.URL + "/" + id(n)}},
	}
	var out struct{ Task *harness.Task }
	err := w.recorded(ctx, "client", witness.Make{Key: id(n)}, func(ctx context.Context) (any, error) {
		if err := w.c.Call(ctx, "SendMessage", params, &out); err != nil {
			return nil, err
		}
		return witness.Made{ID: out.Task.ID}, nil
	})
	if err != nil {
		return fmt.Errorf("send %s: %w", id(n), err)
	}
	w.ack(out.Task.ID, completes(n))
	w.push.expect("/"+id(n), out.Task.ID)
	f := w.follow(out.Task.ID, 0)
	return w.answer(ctx, f, planTask(out.Task.ID, 1, 1), 1, decide("accept"))
}

// edited gets another plan while it waits for a person.
func (w *world) edited(ctx context.Context, n int) error {
	f, err := w.begin(ctx, harness.Message{ID: id(n), Text: "edited", Plan: harness.NewPlan("first", "approve Go on?; "+say(n))}, completes(n))
	if err != nil {
		return err
	}
	_, err = f.Until(ctx, func(e harness.Event) bool {
		t := e.Task()
		return e.Gate() != nil || t != nil && t.Gate != nil
	})
	if err != nil {
		return err
	}
	err = harness.Repeat(ctx, func(ctx context.Context) error {
		if o, err := w.c.Objective(ctx, f.TaskID); err != nil || len(o.Plans) > 1 {
			return err // an earlier call succeeded
		}
		_, err := w.c.CreatePlan(ctx, f.TaskID, harness.NewPlan("second", "stream 4 50ms"))
		return err
	})
	if err != nil {
		return fmt.Errorf("add a plan to %s: %w", f.TaskID, err)
	}
	return w.answer(ctx, f, planTask(f.TaskID, 1, 0), 1, decide("accept"))
}

// A desk receives deliveries. It refuses every fifth request once.
type desk struct {
	*httptest.Server
	mu    sync.Mutex
	n     int
	tasks map[string]string          // by path
	seen  map[string][]witness.Event // states that it has accepted, by path
}

func newDesk(t *testing.T) *desk {
	d := &desk{tasks: map[string]string{}, seen: map[string][]witness.Event{}}
	d.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.n++; d.n%5 == 0 {
			http.Error(rw, "busy", http.StatusServiceUnavailable)
			return
		}
		var event struct {
			Task         struct{ Status struct{ State string } }
			StatusUpdate struct{ Status struct{ State string } }
		}
		delivery := r.Header.Get("X-Longhaul-Delivery")
		number, err := strconv.ParseInt(path.Base(delivery), 10, 64)
		if err := errors.Join(err, json.NewDecoder(r.Body).Decode(&event)); err != nil {
			t.Errorf("delivery %q: %v", delivery, err)
		}
		state := strings.TrimPrefix(event.Task.Status.State+event.StatusUpdate.Status.State, "TASK_STATE_")
		d.seen[r.URL.Path] = append(d.seen[r.URL.Path], witness.Event{Number: number, Content: state})
	}))
	t.Cleanup(d.Close)
	return d
}

// expect notes which task's states come to a path.
func (d *desk) expect(path, taskID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tasks[path] = taskID
}

// settle waits until the ends of all tasks have come, and records the states that
// came. The streams show the same ones, in their order; a delivery may come again.
func (d *desk) settle(w *world, all streams) {
	ctx, cancel := context.WithTimeout(w.t.Context(), within)
	defer cancel()
	_ = child.Until(ctx, 100*time.Millisecond, func() error { // a missing one is judged
		d.mu.Lock()
		defer d.mu.Unlock()
		for path, taskID := range d.tasks {
			events := all[taskID]
			if n := len(events); n > 0 && !slices.ContainsFunc(d.seen[path], func(e witness.Event) bool { return e.Number >= events[n-1].ID }) {
				return errors.New("the end has not come")
			}
		}
		return nil
	})
	d.mu.Lock()
	defer d.mu.Unlock()
	for path, taskID := range d.tasks {
		var states []witness.Event
		before := "SUBMITTED" // a stream begins after it
		for _, e := range all[taskID] {
			if s := e.State(); s != "" && s != before {
				states, before = append(states, witness.Event{Number: e.ID, Content: s}), s
			}
		}
		if len(states) > 0 && len(d.seen[path]) > 0 && d.seen[path][0].Number < states[0].Number {
			states = slices.Insert(states, 0, witness.Event{Number: d.seen[path][0].Number, Content: "SUBMITTED"})
		}
		w.saw.Has("webhook of "+taskID, states)
		w.saw.Saw(witness.Stream{Subscriber: "webhook", Subject: "webhook of " + taskID, Repeats: true, Ended: true, Events: d.seen[path]})
	}
}
