package load_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"golang.org/x/sync/errgroup"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
	"longhaul/opt"
)

var gates = flag.Int("gates", 200, "how many gates TestGates keeps open at a time")

// atOnce is how many requests TestGates makes at a time.
const atOnce = 40

// TestGates keeps many gates open. It stops the workers, answers all gates, and
// starts one worker, which has to finish all work. While workers are away, no gate
// may hold a goroutine or a connection in the API. With -v it prints the cost of a
// gate; -gates opens more of them.
func TestGates(t *testing.T) {
	within := 5*time.Minute + time.Duration(*gates)*150*time.Millisecond
	s := newGateSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	empty := s.restart(harness.API, harness.Worker)
	began, used := time.Now(), s.cpu()
	s.open(ctx, *gates)
	s.await(ctx, within, "all gates are open", func(n int) bool { return n == *gates })
	t.Logf("%d gates are open after %v; %s", *gates, time.Since(began), s.since(used))
	parked := s.restart(harness.API, harness.Worker)
	for _, command := range []string{harness.API, harness.Worker} {
		before, after, fresh := empty[command], parked[command], memory(t, s.processes[command])
		t.Logf("%s: resident memory %d KiB without gates, %d KiB with them (%.2f KiB for each), %d KiB after a restart; goroutines %d and %d; files and connections %d and %d",
			command, before.memory, after.memory, float64(after.memory-before.memory)/float64(*gates), fresh, before.goroutines, after.goroutines, before.files, after.files)
	}
	most := 2*atOnce + *gates/10 // connections of the test may be open
	if before, after := empty[harness.API], parked[harness.API]; after.goroutines-before.goroutines > most || after.files-before.files > most {
		t.Error("the gates hold goroutines or connections in the API")
	}
	s.sizes(t)

	s.processes[harness.Worker].Stop()
	delete(s.processes, harness.Worker)
	s.answer(ctx, *gates)
	began, used = time.Now(), s.cpu()
	s.processes[harness.Worker] = s.Start(harness.Worker)
	s.until(ctx, within, "the first gate is closed", *gates-1)
	t.Logf("the first gate was seen closed %v after the start of a worker", time.Since(began))
	s.until(ctx, within, "all gates are closed", 0)
	t.Logf("all gates were seen closed %v after the start of a worker", time.Since(began))
	harness.Eventually(t, within, "all objectives are completed", func() error {
		done, err := s.client.List(ctx, map[string]any{"status": "TASK_STATE_COMPLETED", "pageSize": 1})
		if err == nil && done.TotalSize < *gates {
			err = fmt.Errorf("%d of %d", done.TotalSize, *gates)
		}
		return err
	})
	t.Logf("all work was finished %v after the start of a worker; %s", time.Since(began), s.since(used))
	s.count(ctx)
}

// A gateSite is a site of separate processes, whose objectives wait at a gate.
type gateSite struct {
	*harness.Site
	t         *testing.T
	client    *harness.Client // one for all requests, so that these share connections
	processes map[string]*harness.Process
}

func newGateSite(t *testing.T) *gateSite {
	t.Helper()
	book := filepath.Join(t.TempDir(), "book.yaml")
	const text = `name: gate
default: true
skills: [{id: gate, name: Gate, description: Waits for a person, tags: [test]}]
plans:
- name: Plan
  tasks:
  - {name: Ask, human: {approve: 'Go on?'}}
`
	test.OK(t, os.WriteFile(book, []byte(text), 0o600))
	site := harness.NewSite(t, harness.Dev)
	s := &gateSite{site, t, site.Client(), map[string]*harness.Process{}}
	s.Env = append(s.Env, "LONGHAUL_PLAYBOOKS="+book, "LONGHAUL_REPLY_WAIT=20ms", "LONGHAUL_CALL_TIMEOUT=60s")
	for _, command := range []string{harness.Temporal, harness.API, harness.Worker} {
		s.processes[command] = s.Start(command)
	}
	return s
}

// A cost is the memory, goroutines and files of a process.
type cost struct{ memory, goroutines, files int }

// restart stops processes and starts them again, one after another. It returns what the
// former ones held at their end, after their work.
func (s *gateSite) restart(commands ...string) map[string]cost {
	s.t.Helper()
	out := map[string]cost{}
	for _, command := range commands {
		p := s.processes[command]
		c := cost{memory: memory(s.t, p), files: files(s.t, p)}
		if err := syscall.Kill(p.PID(), syscall.SIGQUIT); err != nil { // writes all goroutines to its log
			s.t.Fatal(err)
		}
		<-p.Ended()
		log := harness.ReadFile(s.t, p.LogPath)
		c.goroutines = bytes.Count(log, []byte("\ngoroutine "))
		out[command] = c
		s.processes[command] = s.Start(command)
	}
	return out
}

var resident = regexp.MustCompile(`VmRSS:\s+(\d+) kB`)

// memory returns the resident memory of a process, in KiB.
func memory(t *testing.T, p *harness.Process) (n int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	found := resident.FindSubmatch(status)
	if err != nil || found == nil {
		t.Fatalf("read the memory of process %d: %v", p.PID(), err)
	}
	_, err = fmt.Sscan(string(found[1]), &n)
	test.OK(t, err)
	return n
}

// cpu returns the processor time that each process has used.
func (s *gateSite) cpu() map[string]time.Duration {
	s.t.Helper()
	out := map[string]time.Duration{}
	for command, p := range s.processes {
		stat := test.Value(os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID())))(s.t)
		var user, system int64 // in hundredths of a second; after the name of the program and 11 other fields
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
		test.OK(s.t, test.Err(fmt.Sscan(fields[11]+" "+fields[12], &user, &system)))
		out[command] = time.Duration(user+system) * 10 * time.Millisecond
	}
	return out
}

// since says how much processor time each process has used since then, for each gate.
func (s *gateSite) since(then map[string]time.Duration) string {
	out := "processor time for each gate:"
	for command, now := range s.cpu() {
		out += fmt.Sprintf(" %s %v", command, (now-then[command])/time.Duration(*gates))
	}
	return out
}

// count prints how many workflow tasks and activities some objectives and their plans took.
func (s *gateSite) count(ctx context.Context) {
	s.t.Helper()
	page, err := s.client.List(ctx, map[string]any{"pageSize": 100})
	test.OK(s.t, err)
	temporal := s.Temporal(s.t)
	defer temporal.Close()
	found := map[enumspb.EventType]int{}
	objectives := 0
	for _, task := range page.Tasks {
		if ref, ok := opt.ParseID(task.ID); !ok || ref.PlanID != "" {
			continue // of a plan
		}
		objectives++
		for _, id := range []string{task.ID, opt.PlanID(task.ID, 1)} {
			history := temporal.GetWorkflowHistory(ctx, id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
			for history.HasNext() {
				e := test.Value(history.Next())(s.t)
				if e.GetWorkflowTaskTimedOutEventAttributes().GetTimeoutType() != enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START { // else for a worker that was stopped
					found[e.GetEventType()]++
				}
			}
		}
	}
	each := func(kind enumspb.EventType) float64 { return float64(found[kind]) / float64(objectives) }
	s.t.Logf("for each gate: %.2f workflow tasks and %.2f that timed out, %.2f activities and %.2f that timed out, %.2f signals",
		each(enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED), each(enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT),
		each(enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED), each(enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT), each(enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED))
}

// files returns how many files and connections a process has open.
func files(t *testing.T, p *harness.Process) int {
	t.Helper()
	list := test.Value(os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.PID())))(t)
	return len(list)
}

// sizes prints the size of the journal.
func (s *gateSite) sizes(t *testing.T) {
	t.Helper()
	info := test.Value(os.Stat(filepath.Join(s.Dir, "journal.db")))(t)
	t.Logf("the journal has %.1f KiB for each gate", float64(info.Size())/1024/float64(*gates))
}

// open sends n requests that wait at a gate.
func (s *gateSite) open(ctx context.Context, n int) {
	s.t.Helper()
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error {
			_, err := s.client.SendUntil(ctx, harness.Message{ID: fmt.Sprintf("gate-%05d", i), Text: "x"})
			return err
		})
	}
	test.OK(s.t, group.Wait())
}

// An inbox is a page of open gates.
type inbox struct {
	Interrupts []struct {
		ID string `json:"interruptId"`
	} `json:"interrupts"`
	Next  string `json:"nextPageToken"`
	Total int    `json:"totalSize"`
}

// inbox returns a page of the open gates.
func (s *gateSite) inbox(ctx context.Context, token string) (page inbox, err error) {
	return page, s.client.ReadPage(ctx, http.MethodGet, "/v1/interrupts?pageSize=100&pageToken="+url.QueryEscape(token), "", &page)
}

// until waits until at most n gates are open.
func (s *gateSite) until(ctx context.Context, within time.Duration, what string, n int) {
	s.t.Helper()
	s.await(ctx, within, what, func(open int) bool { return open <= n })
}

func (s *gateSite) await(ctx context.Context, within time.Duration, what string, is func(open int) bool) {
	s.t.Helper()
	harness.Eventually(s.t, within, what, func() error {
		page, err := s.inbox(ctx, "")
		if err == nil && !is(page.Total) {
			err = fmt.Errorf("%d gates are open", page.Total)
		}
		return err
	})
}

// answer accepts at all gates.
func (s *gateSite) answer(ctx context.Context, n int) {
	s.t.Helper()
	var ids []string
	for token := ""; ; {
		page := test.Value(s.inbox(ctx, token))(s.t)
		for _, i := range page.Interrupts {
			ids = append(ids, i.ID)
		}
		if token = page.Next; token == "" {
			break
		}
	}
	if len(ids) != n {
		s.t.Fatalf("the inbox has %d gates, want %d", len(ids), n)
	}
	c := s.client.With("Content-Type", "application/json")
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, id := range ids {
		group.Go(func() error {
			return c.ReadPage(ctx, http.MethodPost, "/v1/interrupts/"+url.PathEscape(id)+"/answer", `{"action":"accept"}`, &struct{}{})
		})
	}
	test.OK(s.t, group.Wait())
}
