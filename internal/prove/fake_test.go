package prove_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"longhaul/internal/freeport"
	"longhaul/internal/test"
)

// calmTasks is how many tasks the kit makes before it breaks anything.
const calmTasks = 4

// step is the time between two events of a task.
const step = 40 * time.Millisecond

// A fake is an A2A server that loses nothing, unless it has a fault. A task begins when a client
// looks at it: one that is canceled at once has not ended, however busy the machine is. From then on
// its events depend on the time alone, so they continue while the server is down.
type fake struct {
	addr     string
	version  string
	sickness string

	mu        sync.Mutex
	server    *http.Server
	starts    int
	made      int // tasks
	tasks     []*fakeTask
	byMessage map[string]*fakeTask
}

type fakeTask struct {
	id, message string
	asks        bool
	streamed    bool
	made, begun time.Time
	answered    time.Time
	canceled    time.Time
	frozen      int // events; 0 for a task that continues
	mark        string
}

func newFake(t *testing.T, version, sickness string) *fake {
	t.Helper()
	addr, err := freeport.Addr() // which nothing takes while the server is down
	test.OK(t, err)
	f := &fake{addr: addr.String(), version: version, sickness: sickness, byMessage: map[string]*fakeTask{}}
	t.Cleanup(func() { _ = f.Kill(context.Background()) })
	return f
}

func (f *fake) url() string { return "http://" + f.addr }

// Start implements [prove.Server].
func (f *fake) Start(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	l, err := net.Listen("tcp", f.addr)
	if err != nil {
		return err
	}
	if f.starts++; f.starts > 1 {
		f.fallIll()
	}
	f.server = &http.Server{Handler: f}
	go func(s *http.Server) { _ = s.Serve(l) }(f.server)
	return nil
}

// fallIll applies the fault to tasks at a restart.
func (f *fake) fallIll() {
	if f.sickness == "forgets" {
		f.tasks, f.byMessage = nil, map[string]*fakeTask{}
	}
	for _, t := range f.tasks {
		events := t.events(time.Now())
		ended := strings.Contains(events[len(events)-1], `"TASK_STATE_C`)
		switch {
		case f.sickness == "changes" && ended && !t.streamed: // a stream may have broken before the end
			t.mark = "other "
		case f.sickness == "revives":
			t.canceled = time.Time{}
		}
	}
}

// Kill implements [prove.Server].
func (f *fake) Kill(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.server == nil {
		return nil
	}
	return f.server.Close()
}

// Stop implements [prove.Server].
func (f *fake) Stop(ctx context.Context) error { return f.Kill(ctx) }

// events are the events of t until now, as A2A 1.0 has them.
func (t *fakeTask) events(now time.Time) (events []string) {
	at := t.made
	status := func(state string) {
		events = append(events, fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"status":{"state":"TASK_STATE_%s","timestamp":%q}}}`, t.id, state, at.UTC().Format("2006-01-02T15:04:05.000Z")))
		at = at.Add(step)
	}
	chunk := func(i int) {
		events = append(events, fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"artifact":{"artifactId":"a","parts":[{"text":%q}]},"append":%t}}`, t.id, t.mark+strconv.Itoa(i)+" ", i > 0))
		at = at.Add(step)
	}
	submitted := func() {
		status("SUBMITTED")
		if at = t.begun.Add(step); t.begun.IsZero() {
			at = now.Add(time.Hour)
		}
	}
	plan := []func(){submitted, func() { status("WORKING") }, func() { chunk(0) }, func() { chunk(1) }, func() { chunk(2) }, func() { status("COMPLETED") }}
	if t.asks {
		plan = slices.Insert(plan, 2, func() { status("INPUT_REQUIRED") }, func() {
			if at = t.answered; at.IsZero() {
				at = now.Add(time.Hour)
				return
			}
			status("WORKING")
		})
	}
	for _, next := range plan {
		stuck := t.frozen > 0 && len(events) == t.frozen
		if !t.canceled.IsZero() && (stuck || at.After(t.canceled)) {
			at = t.canceled
			status("CANCELED")
			break
		}
		if stuck || at.After(now) {
			break
		}
		next()
	}
	return events
}

// snapshot is the task after its events until now.
func (t *fakeTask) snapshot(now time.Time) map[string]any {
	var status, artifact any
	text := ""
	for _, raw := range t.events(now) {
		var e struct {
			StatusUpdate   struct{ Status any }
			ArtifactUpdate struct {
				Artifact struct{ Parts []struct{ Text string } }
			}
		}
		_ = json.Unmarshal([]byte(raw), &e)
		if e.StatusUpdate.Status != nil {
			status = e.StatusUpdate.Status
		}
		for _, p := range e.ArtifactUpdate.Artifact.Parts {
			text += p.Text
			artifact = []any{map[string]any{"artifactId": "a", "parts": []any{map[string]any{"text": text}}}}
		}
	}
	task := map[string]any{"id": t.id, "status": status, "history": []any{map[string]any{"messageId": t.message, "parts": []any{map[string]any{"text": "x"}}}}}
	if artifact != nil {
		task["artifacts"] = artifact
	}
	return task
}

// ServeHTTP implements [http.Handler].
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		card := fmt.Sprintf(`{"name":"fake","version":"1","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"http://elsewhere.example.com/rpc","protocolBinding":"JSONRPC","protocolVersion":%q}]}`, f.version)
		_, _ = w.Write([]byte(card))
		return
	}
	var q struct {
		Method string
		Params struct {
			ID      string
			Page    string `json:"pageToken"`
			Message struct {
				ID     string `json:"messageId"`
				TaskID string
				Parts  []struct{ Text string }
			}
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&q)
	var result any
	f.mu.Lock()
	t := f.task(q.Params.ID)
	if t != nil && !strings.Contains(strings.ToLower(q.Method), "cancel") {
		t.begin()
	}
	switch q.Method {
	case "SendMessage", "SendStreamingMessage", "message/send", "message/stream":
		m := q.Params.Message
		if t = f.task(m.TaskID); t != nil {
			f.answer(t)
		} else {
			t = f.accept(m.ID, strings.HasPrefix(m.Parts[0].Text, "ask"))
			if strings.Contains(strings.ToLower(q.Method), "stream") {
				t.streamed = true
				t.begin()
			}
		}
		result = f.shape(t, time.Now())
	case "CancelTask", "tasks/cancel":
		if t.canceled.IsZero() {
			t.canceled = time.Now()
			if f.sickness == "loses answers" && f.made > calmTasks {
				f.mu.Unlock()
				panic(http.ErrAbortHandler)
			}
		}
		result = t.snapshot(time.Now())
	case "ListTasks", "tasks/list":
		result = f.list(q.Params.Page, time.Now())
	default:
		if t != nil {
			result = t.snapshot(time.Now())
		}
	}
	f.mu.Unlock()
	switch {
	case t == nil && result == nil:
		_, _ = w.Write([]byte(`{"error":{"code":-32001,"message":"no such task"}}`))
	case strings.Contains(strings.ToLower(q.Method), "stream") || strings.Contains(strings.ToLower(q.Method), "subscribe"):
		f.stream(w, r, t)
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"result": result})
	}
}

func (f *fake) task(id string) *fakeTask {
	for _, t := range f.tasks {
		if t.id == id {
			return t
		}
	}
	return nil
}

func (f *fake) accept(message string, asks bool) *fakeTask {
	if t := f.byMessage[message]; t != nil && f.sickness != "doubles" {
		return t
	}
	f.made++
	t := &fakeTask{id: "task-" + strconv.Itoa(f.made), message: message, asks: asks, made: time.Now()}
	if f.sickness == "stops" && f.made > calmTasks && !asks {
		t.frozen = 2
	}
	f.tasks = append(f.tasks, t)
	f.byMessage[message] = t
	return t
}

func (t *fakeTask) begin() {
	if t.begun.IsZero() {
		t.begun = time.Now()
	}
}

func (f *fake) answer(t *fakeTask) {
	if t.answered.IsZero() && (f.sickness != "deaf" || f.starts == 1) {
		t.answered = time.Now()
	}
}

// shape is the result of a send in each version.
func (f *fake) shape(t *fakeTask, now time.Time) any {
	if f.version == "1.0" {
		return map[string]any{"task": t.snapshot(now)}
	}
	task := t.snapshot(now)
	task["kind"] = "task"
	return task
}

// list has three tasks on a page.
func (f *fake) list(token string, now time.Time) any {
	from, _ := strconv.Atoi(token)
	sorted, at := slices.Clone(f.tasks), map[*fakeTask]string{}
	for _, t := range sorted {
		s, _ := t.snapshot(now)["status"].(map[string]any)
		at[t] = s["timestamp"].(string)
	}
	slices.SortStableFunc(sorted, func(a, b *fakeTask) int { return strings.Compare(at[b], at[a]) })
	switch f.sickness {
	case "lists backwards":
		slices.Reverse(sorted)
	case "lists twice":
		sorted = append(sorted, sorted...)
	case "lists too few":
		sorted = sorted[:len(sorted)-1]
	}
	tasks := []any{}
	for _, t := range sorted[from:min(from+3, len(sorted))] {
		tasks = append(tasks, t.snapshot(now))
	}
	next := ""
	if from+3 < len(sorted) {
		next = strconv.Itoa(from + 3)
	}
	return map[string]any{"tasks": tasks, "nextPageToken": next}
}

// stream sends a snapshot and then each new event.
func (f *fake) stream(w http.ResponseWriter, r *http.Request, t *fakeTask) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(data any) {
		raw, _ := json.Marshal(map[string]any{"result": data})
		fmt.Fprintf(w, "data: %s\n\n", raw)
		w.(http.Flusher).Flush()
	}
	f.mu.Lock()
	now := time.Now() // the same for both: what the snapshot has is not sent again
	sent, first := len(t.events(now)), f.shape(t, now)
	f.mu.Unlock()
	send(first)
	tick := time.NewTicker(step / 2)
	defer tick.Stop()
	for {
		f.mu.Lock()
		events := t.events(time.Now())
		f.mu.Unlock()
		for ; sent < len(events); sent++ {
			piece := strings.Contains(events[sent], "artifactUpdate") && sent == 4
			if piece && f.sickness == "streams too little" {
				continue
			}
			send(json.RawMessage(events[sent]))
			if piece && f.sickness == "streams twice" {
				send(json.RawMessage(events[sent]))
			}
		}
		if last := events[len(events)-1]; strings.Contains(last, `"TASK_STATE_C`) {
			if f.sickness == "streams on" {
				send(json.RawMessage(events[1]))
			}
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
	}
}
