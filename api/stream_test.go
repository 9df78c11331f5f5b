package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Every subscriber gets every change once and in order: earlier ones in the
// snapshot, the others after it.
func TestStream_noGapNoRepeat(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	id, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	const pieces, readersAtOnce = 320, 8
	opened := make(chan struct{}, readersAtOnce)
	go func() {
		for i := range pieces {
			if i > 0 && i <= 30*readersAtOnce && i%30 == 0 {
				<-opened // the task does not outrun the readers that open meanwhile
			}
			s.world.Stream(task, opt.Chunk{Append: i > 0, Artifact: a2a.Artifact{ArtifactID: "log", Parts: []a2a.Part{{Data: json.RawMessage(strconv.Itoa(i))}}}})
		}
		s.world.Complete(task)
	}()
	var readers []*reader
	for range readersAtOnce {
		readers = append(readers, open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`))
		opened <- struct{}{}
	}
	for i, r := range readers {
		if err := r.consecutive(pieces); err != nil {
			t.Errorf("reader %d: %v", i, err)
		}
	}
}

// consecutive reads a stream of pieces numbered from 0 and checks that each came
// once, in the snapshot or after it.
func (r *reader) consecutive(n int) error {
	next, last := 0, 0
	for e, ok := r.next(); ok; e, ok = r.next() {
		if seq, err := strconv.Atoi(e.id); err != nil || seq <= last {
			return fmt.Errorf("event id %q follows on %d", e.id, last)
		}
		last, _ = strconv.Atoi(e.id)
		var parts []any
		if task := e.data.at("result", "task"); task.v != nil {
			parts, _ = task.at("artifacts", "0", "parts").v.([]any)
		} else {
			parts, _ = e.data.at("result", "artifactUpdate", "artifact", "parts").v.([]any)
		}
		for _, p := range parts {
			if got := (node{p}).at("data").String(); got != strconv.Itoa(next) {
				return fmt.Errorf("piece %s came, want %d", got, next)
			}
			next++
		}
	}
	if next != n {
		return fmt.Errorf("%d pieces came, want %d", next, n)
	}
	return nil
}

// A broken stream can be resumed, also on another server.
func TestStream_resumes(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Hour })
	url := s.listen(t)
	s.send(t, "m", "slow")
	id := "obj-" + u("m")
	first := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`)
	seen := first.event()
	first.close()
	s.finish("task-" + u("m") + "-1-0")
	for _, tc := range [][]string{
		{`{"id":"` + id + `"}`, "Last-Event-ID", seen.id},
		{`{"id":"` + id + `","metadata":{"longhaul/v1/after":` + seen.id + `}}`},
	} {
		got := open(t, url, "1.0", "SubscribeToTask", tc[0], tc[1:]...).states()
		test.Equal(t, "events", []string{"1-0-post", "1-0-post", "completed"}, got)
	}
	wantCode(t, s.call(t, "SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID", "99999"), "-32004")
	wantCode(t, s.call(t, "SubscribeToTask", `{"id":"`+id+`"}`, "Last-Event-ID", "none"), "-32004")
}

// When a stream ends depends on the method, the version and the state.
func TestStream_ends(t *testing.T) {
	id, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	send10 := `{"message":` + messageJSON("m", "slow", "") + `}`
	send03 := `{"message":{"messageId":"m","role":"user","parts":[{"text":"slow"}]}}`
	whole := []string{"working", "auth_required", "working", "input_required", "working", "completed"}
	for name, tc := range map[string]struct {
		version, method, params string
		want                    []string
	}{
		"send 1.0":      {"1.0", "SendStreamingMessage", send10, whole[:4]},
		"subscribe 1.0": {"1.0", "SubscribeToTask", `{"id":"` + id + `"}`, whole},
		"send 0.3":      {"0.3", "message/stream", send03, whole[:4]},
		"subscribe 0.3": {"0.3", "tasks/resubscribe", `{"id":"` + id + `"}`, whole[:4]},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			url := s.listen(t)
			if strings.HasPrefix(name, "subscribe") {
				s.send(t, "m", "slow")
			}
			r := open(t, url, tc.version, tc.method, tc.params)
			got := []string{brief(r.event().data)}
			s.world.Gate(task, *gateFor("auth"))
			for _, status := range []string{"working", "input-required", "working", "completed"} {
				s.update(t, task, status)
			}
			for _, state := range r.states() {
				got = append(got, strings.ReplaceAll(state, "-", "_"))
			}
			test.Equal(t, "events", tc.want, got)
		})
	}
}

// A 0.3 client that subscribes to a waiting task sees the changes after it.
func TestStream_opensOnAWaitingTask(t *testing.T) {
	for _, tc := range [][]string{{"0.3", "tasks/resubscribe"}, {"1.0", "SubscribeToTask"}} {
		s := newService(t)
		url := s.listen(t)
		s.send(t, "m", "approve")
		r := open(t, url, tc[0], tc[1], `{"id":"obj-`+u("m")+`"}`)
		if got := brief(r.event().data); !strings.HasPrefix(got, "input") {
			t.Errorf("the snapshot is %s", got)
		}
		s.say(t, "obj-"+u("m"), "r", `{"data":{"action":"accept"}}`, "")
		got := strings.Join(r.states(), " ")
		if !strings.Contains(got, "working") || !strings.HasSuffix(got, "completed"+map[string]string{"0.3": "", "1.0": ""}[tc[0]]) {
			t.Errorf("%s: events are %s", tc[1], got)
		}
	}
}

// The stream of a reply shows the changes after the reply.
func TestStream_ofAReply(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "approve")
	params := `{"message":{"messageId":"r","taskId":"obj-` + u("m") + `","role":"ROLE_USER","parts":[{"text":"accept"}]}}`
	if got := open(t, url, "1.0", "SendStreamingMessage", params).states(); got[len(got)-1] != "completed" {
		t.Errorf("events are %v", got)
	}
	s.send(t, "m2", "approve")
	s.world.Sleep()
	params = strings.ReplaceAll(params, u("m"), u("m2"))
	r := open(t, url, "1.0", "SendStreamingMessage", params)
	if e := r.event(); e.data.at("result", "task", "metadata", "longhaul/v1/replyPending").String() != "true" {
		t.Errorf("the first event is %v", e.data)
	}
	s.world.Wake()
	if got := r.states(); got[len(got)-1] != "completed" {
		t.Errorf("then come %v", got)
	}
}

func TestStream_heartbeat(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Millisecond })
	url := s.listen(t)
	s.send(t, "m", "slow")
	r := open(t, url, "1.0", "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`)
	r.event()
	for range 3 {
		if e, _ := r.next(); e.comment != ": keep-alive" {
			t.Errorf("event is %+v", e)
		}
	}
}

// A heartbeat also looks for events that no watch has announced.
func TestStream_deafWatch(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Heartbeat = time.Millisecond
		c.Watch = func(string) call.Watch { return never{} }
	})
	url := s.listen(t)
	s.send(t, "m", "slow")
	r := open(t, url, "1.0", "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`)
	r.event()
	s.world.Complete("task-" + u("m") + "-1-0")
	test.Is(t, "event", "completed", brief(r.event().data))
}

type never struct{}

func (never) C() <-chan struct{}     { return nil }
func (never) Rests() <-chan struct{} { return nil }
func (never) Close()                 {}

func TestStream_closes(t *testing.T) {
	s := newService(t, func(c *config) { c.Heartbeat = time.Hour })
	url := s.listen(t)
	s.send(t, "m", "slow")
	r := open(t, url, "1.0", "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`)
	r.event()
	s.service.Close()
	rest, err := io.ReadAll(r.body)
	if want := ": this process stops; resume the stream with Last-Event-ID\nretry: 1000\n\n"; err != nil || string(rest) != want {
		t.Errorf("after Close came %q, %v; want %q", rest, err, want)
	}
}

// A client that disconnects frees its stream and does not affect the work.
func TestStream_clientGoes(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "slow")
	r := open(t, url, "1.0", "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`)
	r.event()
	r.close()
	s.until(t, func() bool { return s.journal.watches.Load() == 0 })
	test.Is(t, "the engine was called", 1, len(s.world.Calls()))
}

// A client that stops reading is dropped, while others get everything.
func TestStream_slowReader(t *testing.T) {
	s := newService(t, func(c *config) { c.WriteTimeout = 2 * time.Second })
	h := s.HTTP()
	h.ConnContext = func(ctx context.Context, c net.Conn) context.Context { // little fits into the kernel's buffers
		test.Error(t, "the call", nil, c.(*net.TCPConn).SetWriteBuffer(4096))
		return ctx
	}
	url := listen(t, h)
	s.send(t, "m", "slow")
	id, task := "obj-"+u("m"), "task-"+u("m")+"-1-0"
	conn := test.Value(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	defer conn.Close()
	test.OK(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	body := `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"` + id + `"}}`
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nA2A-Version: 1.0\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	s.until(t, func() bool { return s.journal.watches.Load() == 1 })
	good := open(t, url, "1.0", "SubscribeToTask", `{"id":"`+id+`"}`)
	good.event()

	text := strings.Repeat("x", 64<<10)
	for range 8 { // more than the kernel buffers for a connection
		s.world.Stream(task, opt.Chunk{Append: true, Artifact: a2a.Artifact{ArtifactID: "big", Parts: []a2a.Part{a2a.TextPart(text)}}})
		good.event()
	}
	s.until(t, func() bool { return s.journal.watches.Load() == 1 })
	s.world.Complete(task)
	if got := good.states(); got[len(got)-1] != "completed" {
		t.Errorf("the good reader got %d more events", len(got))
	}
}

// Neither the time for reading a request nor the time for writing an answer
// bounds a stream or a wait.
func TestStream_outlivesTimeouts(t *testing.T) {
	s := newService(t, func(c *config) {
		c.ReadTimeout, c.WriteTimeout, c.BlockingWait = 50*time.Millisecond, 50*time.Millisecond, 150*time.Millisecond
	})
	url := s.listen(t)
	s.send(t, "m", "slow")
	streams := map[string]*reader{
		"JSON-RPC":     open(t, url, "1.0", "SubscribeToTask", `{"id":"obj-`+u("m")+`"}`),
		"GET":          follow(t, "GET", url+"/tasks/obj-"+u("m")+":subscribe", "", "A2A-Version", "1.0"),
		"a bare POST":  follow(t, "POST", url+"/tasks/obj-"+u("m")+":subscribe", "", "A2A-Version", "1.0"),
		"a whole POST": follow(t, "POST", url+"/tasks/obj-"+u("m")+":subscribe", "{}", "A2A-Version", "1.0"),
	}
	for _, r := range streams {
		r.event()
	}
	w, err := http.Post(url, "application/json", strings.NewReader( // takes as long as BlockingWait
		`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"messageId":"m2","role":"user","parts":[{"text":"quiet"}]}}}`))
	test.OK(t, err)
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	if err != nil || parse(t, answer).at("result", "status", "state").String() != "submitted" {
		t.Errorf("the wait brought %s, %v", answer, err)
	}
	s.world.Complete("task-" + u("m") + "-1-0")
	for name, r := range streams {
		if got := r.states(); fmt.Sprint(got) != "[completed]" {
			t.Errorf("%s: then came %v", name, got)
		}
	}
}

// A request whose body does not arrive is refused.
func TestSlowRequest(t *testing.T) {
	s := newService(t, func(c *config) { c.ReadTimeout = 20 * time.Millisecond })
	conn := test.Value(net.Dial("tcp", strings.TrimPrefix(s.listen(t), "http://")))(t)
	defer conn.Close()
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	answer, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(answer), "HTTP/1.1 400") || !strings.Contains(string(answer), "-32600") {
		t.Errorf("answer is %q", answer)
	}
}

// A later error is the last event.
func TestStream_failsLate(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	s.journal.events = errors.New("no such table: secret")
	for version, method := range map[string]string{"1.0": "SubscribeToTask", "0.3": "tasks/resubscribe"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(
			fmt.Sprintf(`{"jsonrpc":"2.0","id":"s","method":%q,"params":{"id":"obj-%s"}}`, method, u("m"))))
		r.Header.Set("A2A-Version", version)
		s.ServeHTTP(w, r)
		rd := &reader{t: t, body: bufio.NewReader(w.Body)}
		rd.event()
		if e := rd.event(); e.data.at("error", "code").String() != "-32603" || e.data.at("id").String() != "s" || strings.Contains(e.data.String(), "secret") {
			t.Errorf("the last event is %v", e.data)
		}
		if _, ok := rd.next(); ok {
			t.Error("the stream continues")
		}
	}
}

// The stream of a reply does not end at the answered gate, even if the task still
// shows it for a while.
func TestStream_pastItsOwnGate(t *testing.T) {
	s := newService(t, func(c *config) { c.ReplyWait = time.Millisecond })
	s.send(t, "m", "approve")
	id := "obj-" + u("m")
	s.world.SleepOn(id) // the plan takes the reply, and the objective does not get the report
	r := open(t, s.listen(t), "1.0", "SendStreamingMessage", `{"message":{"messageId":"r","taskId":"`+id+`","role":"ROLE_USER","parts":[{"text":"accept"}]}}`)
	test.Is(t, "the snapshot", "input_required", brief(r.event().data))
	s.world.Wake()
	if got := r.states(); got[len(got)-1] != "completed" {
		t.Errorf("then come %v", got)
	}
}

// A stream shows the whole gate with each exchange, although the journal has the exchange
// alone; so does one that is resumed between two exchanges.
func TestStream_exchanges(t *testing.T) {
	s := newService(t)
	url := s.listen(t)
	s.send(t, "m", "outline")
	root, task := "obj-"+u("m"), "task-"+u("m")+"-1-1"
	subscribe := func(headers ...string) *reader {
		return open(t, url, "1.0", "SubscribeToTask", `{"id":"`+task+`"}`, headers...)
	}
	live := subscribe()
	live.event()
	var want []node
	seen := ""
	for i := range 3 {
		s.say(t, root, fmt.Sprint("r", i), `{"text":"I wonder"}`, "")
		want = append(want, s.must(t, "GetTask", `{"id":"`+task+`"}`))
		e := live.event()
		if i == 1 {
			seen = e.id
		}
		wantGate(t, "live", want[i], e)
	}
	wantGate(t, "resumed", want[2], subscribe("Last-Event-ID", seen).event())
}

func wantGate(t *testing.T, which string, task node, e sse) {
	t.Helper()
	u := e.data.at("result", "statusUpdate")
	test.Equal(t, which+": the message", task.at("status", "message").String(), u.at("status", "message").String())
	test.Equal(t, which+": the gate", task.at("metadata", "openwop", "interrupt").String(), u.at("metadata", "openwop", "interrupt").String())
}
