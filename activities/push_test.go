package activities_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/egress"
	"longhaul/internal/test"
	"longhaul/opt/outbox"
)

// A pushJournal has one config and the deliveries to it.
type pushJournal struct {
	config  outbox.PushConfig
	due     []outbox.Delivery
	noted   []string              // of each attempt: number, HTTP status, class, status after it
	changed outbox.DeliveryStatus // of a delivery after an attempt during which its config was changed; "" for none
	full    time.Duration         // until a tenant may send another notice; 0 for now
}

func (j *pushJournal) TakeNotice(_ context.Context, tenant, delivery string, limit int64) (a2a.Time, bool, error) {
	j.noted = append(j.noted, fmt.Sprintf("%s of %s, one of %d", delivery, tenant, limit))
	return a2a.At(time.Now().Add(j.full)), j.full == 0, nil
}

func (j *pushJournal) NextDelivery(context.Context, string, string) (c outbox.PushConfig, d outbox.Delivery, ok bool, err error) {
	if len(j.due) == 0 {
		return c, d, false, nil
	}
	return j.config, j.due[0], true, nil
}

func (j *pushJournal) NoteDelivery(_ context.Context, _ outbox.PushConfig, d outbox.Delivery, a outbox.DeliveryAttempt, s outbox.DeliveryStatus) (outbox.DeliveryStatus, error) {
	j.noted = append(j.noted, fmt.Sprintf("%d:%d %d %s %s", d.N, a.N, a.Status, a.Error, s))
	if j.changed != "" {
		s = j.changed
	}
	if s == outbox.DeliveryDue {
		j.due[0].Tries++
	} else {
		j.due = j.due[1:]
	}
	return s, nil
}

func (j *pushJournal) NextNotice(_ context.Context, _, channel string) (n outbox.Notice, d outbox.Delivery, ok bool, err error) {
	if len(j.due) == 0 {
		return n, d, false, nil
	}
	return outbox.Notice{Kind: j.due[0].Notice, Tenant: channel}, j.due[0], true, nil
}

// A receiver answers each request in the same way, and keeps the last one.
type receiver struct {
	status  int
	headers http.Header
	err     error
	got     string
	wait    func()
}

func (r *receiver) Do(_ context.Context, req *http.Request) (*http.Response, error) {
	var b strings.Builder
	_ = req.Write(&b)
	r.got = strings.ReplaceAll(b.String(), "\r\n", "\n")
	if r.wait != nil {
		r.wait()
	}
	return &http.Response{StatusCode: r.status, Header: r.headers, Body: io.NopCloser(strings.NewReader("ok"))}, r.err
}

func notice(version string, u a2a.StatusUpdate) (string, []byte, error) {
	return "text/plain", fmt.Appendf(nil, "%s %s %s %s %s %s", version, u.TaskID, u.ContextID, u.Status.State, u.Status.At, u.Metadata), nil
}

func waiting() *pushJournal {
	at := a2a.At(time.Date(2026, 3, 1, 9, 30, 4, 0, time.UTC))
	return &pushJournal{
		config: outbox.PushConfig{
			Tenant: "acme", TaskID: "task", ID: "my config", Version: "1.0", URL: "https://example.com/hook?a=b", Token: "t0ken", Scheme: "Bearer", Credentials: "cr3d",
		},
		due: []outbox.Delivery{{ObjectiveID: "obj", TaskID: "task", ContextID: "ctx", ConfigID: "my config", N: 7, State: a2a.InputRequired, At: at, GateKind: "approval", GateID: "gate:1", Tries: 2}},
	}
}

func deliver(t *testing.T, j *pushJournal, r activities.Sender, in activities.DeliverRequest) activities.Delivered {
	t.Helper()
	out := test.Value(activities.New(activities.Config{Push: &activities.Push{Journal: j, Sender: r, Notice: notice}}).Deliver(t.Context(), in))(t)
	return out
}

func TestActivities_Deliver_request(t *testing.T) {
	r := &receiver{status: 200}
	deliver(t, waiting(), r, activities.DeliverRequest{})
	want := `POST /hook?a=b HTTP/1.1
Host: example.com
User-Agent: Longhaul
Content-Length: 128
A2a-Notification-Token: t0ken
A2a-Version: 1.0
Authorization: Bearer cr3d
Content-Type: text/plain
X-A2a-Notification-Token: t0ken
X-Longhaul-Attempt: 3
X-Longhaul-Delivery: task/my%20config/7

1.0 task ctx input-required 2026-03-01T09:30:04.000Z map[openwop:{"interrupt":{"interruptId":"gate:1","kind":"approval"}} opt/v1/objectiveId:"obj"]`
	test.Equal(t, "request", strings.Split(want, "\n"), strings.Split(strings.Replace(r.got, "Content-Length: "+length(r.got), "Content-Length: 128", 1), "\n"))
}

func length(request string) string {
	_, body, _ := strings.Cut(request, "\n\n")
	return fmt.Sprint(len(body))
}

// A config of 0.3 without secrets has none of their headers.
func TestActivities_Deliver_plainRequest(t *testing.T) {
	r, j := &receiver{status: 200}, waiting()
	j.config.Version, j.config.Token, j.config.Scheme = "0.3", "", ""
	deliver(t, j, r, activities.DeliverRequest{})
	for _, name := range []string{"Authorization", "Notification-Token", "A2a-Version", "Signature"} {
		if strings.Contains(r.got, name) {
			t.Errorf("the request has a header %s:\n%s", name, r.got)
		}
	}
}

func TestActivities_Deliver_outcomes(t *testing.T) {
	timeout := fmt.Errorf("dial: %w", context.DeadlineExceeded)
	for _, tt := range []struct {
		name    string
		r       receiver
		status  outbox.DeliveryStatus
		outcome string
	}{
		{"200", receiver{status: 200}, outbox.DeliveryDone, "200"},
		{"204", receiver{status: 204}, outbox.DeliveryDone, "204"},
		{"302", receiver{status: 302}, outbox.DeliveryDue, "302"},
		{"400", receiver{status: 400}, outbox.DeliveryDead, "400"},
		{"401", receiver{status: 401}, outbox.DeliveryDead, "401"},
		{"404", receiver{status: 404}, outbox.DeliveryDead, "404"},
		{"408", receiver{status: 408}, outbox.DeliveryDue, "408"},
		{"410", receiver{status: 410}, outbox.DeliveryAbandoned, "410"},
		{"425", receiver{status: 425}, outbox.DeliveryDue, "425"},
		{"429", receiver{status: 429}, outbox.DeliveryDue, "429"},
		{"500", receiver{status: 500}, outbox.DeliveryDue, "500"},
		{"503", receiver{status: 503}, outbox.DeliveryDue, "503"},
		{"timeout", receiver{err: timeout}, outbox.DeliveryDue, egress.ClassTimeout},
		{"refused", receiver{err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, outbox.DeliveryDue, egress.ClassRefused},
		{"unknown name", receiver{err: &net.DNSError{IsNotFound: true}}, outbox.DeliveryDue, egress.ClassName},
		{"name denied now", receiver{err: &egress.Denied{Rule: egress.RuleAddress, Now: true}}, outbox.DeliveryDue, egress.ClassDenied},
		{"URL denied", receiver{err: &egress.Denied{Rule: egress.RuleScheme}}, outbox.DeliveryDead, egress.ClassDenied},
		{"other", receiver{err: errors.New("secret")}, outbox.DeliveryDue, egress.ClassNetwork},
	} {
		j := waiting()
		out := deliver(t, j, &tt.r, activities.DeliverRequest{})
		want := activities.Delivered{N: 7, State: a2a.InputRequired, Status: tt.status, Outcome: tt.outcome, Wait: out.Wait}
		if diff := cmp.Diff(want, out); diff != "" || (out.Wait > 0) != (tt.status == outbox.DeliveryDue) {
			t.Errorf("%s: wait %d, result (-want +got):\n%s", tt.name, out.Wait, diff)
		}
		class := tt.outcome
		if tt.r.err == nil {
			class = ""
		}
		test.Equal(t, tt.name+": noted", []string{fmt.Sprintf("7:3 %d %s %s", tt.r.status, class, tt.status)}, j.noted)
	}
}

// The journal knows whether a config was changed during the attempt: if it was
// replaced, the new one is tried at once; if it was removed, nothing waits for it.
func TestActivities_Deliver_configChanged(t *testing.T) {
	for _, tt := range []struct {
		answer int
		status outbox.DeliveryStatus
	}{{410, outbox.DeliveryDue}, {200, outbox.DeliveryDue}, {500, outbox.DeliveryAbandoned}} {
		j := waiting()
		j.changed = tt.status
		out := deliver(t, j, &receiver{status: tt.answer}, activities.DeliverRequest{})
		if out.Status != tt.status || out.Wait != 0 {
			t.Errorf("%d: %+v, want %s, without a wait", tt.answer, out, tt.status)
		}
	}
}

func TestActivities_Deliver_waits(t *testing.T) {
	header := func(value string) http.Header { return http.Header{"Retry-After": {value}} }
	for _, tt := range []struct {
		name        string
		r           receiver
		in          activities.DeliverRequest
		least, most time.Duration // 0 for a delivery that is not tried any more
	}{
		{"first", receiver{status: 500}, activities.DeliverRequest{}, time.Second, 1200 * time.Millisecond},
		{"fourth", receiver{status: 500}, activities.DeliverRequest{N: 7, Failures: 3, Elapsed: 7}, 8 * time.Second, 9600 * time.Millisecond},
		{"many", receiver{status: 500}, activities.DeliverRequest{N: 7, Failures: 200, Elapsed: 50_000}, 5 * time.Minute, 6 * time.Minute},
		{"of another delivery", receiver{status: 500}, activities.DeliverRequest{N: 6, Failures: 200, Elapsed: 90_000}, time.Second, 1200 * time.Millisecond},
		{"after a day", receiver{status: 500}, activities.DeliverRequest{N: 7, Failures: 200, Elapsed: 86_400}, 0, 0},
		{"seconds", receiver{status: 429, headers: header("90")}, activities.DeliverRequest{}, 90 * time.Second, 90 * time.Second},
		{"date", receiver{status: 503, headers: header(time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat))}, activities.DeliverRequest{}, time.Minute, 2 * time.Minute},
		{"far date", receiver{status: 503, headers: header("Fri, 01 Jan 2100 00:00:00 GMT")}, activities.DeliverRequest{}, time.Hour, time.Hour},
		{"past date", receiver{status: 503, headers: header("Fri, 01 Jan 1999 00:00:00 GMT")}, activities.DeliverRequest{}, time.Second, 1200 * time.Millisecond},
		{"too long", receiver{status: 429, headers: header("999999999")}, activities.DeliverRequest{}, time.Hour, time.Hour},
		{"nonsense", receiver{status: 429, headers: header("-5")}, activities.DeliverRequest{}, time.Second, 1200 * time.Millisecond},
	} {
		j := waiting()
		out := deliver(t, j, &tt.r, tt.in)
		if got := time.Duration(out.Wait) * time.Millisecond; got < tt.least || got > tt.most {
			t.Errorf("%s: waits %v, want %v to %v", tt.name, got, tt.least, tt.most)
		}
		if dead := out.Status == outbox.DeliveryDead; dead != (tt.most == 0) {
			t.Errorf("%s: status %q", tt.name, out.Status)
		}
	}
}

// The log has what a receiver misses from now on, without the URL and secrets.
func TestActivities_Deliver_logs(t *testing.T) {
	var got []string
	for _, status := range []int{200, 500, 404, 410} {
		core, logs := observer.New(zapcore.InfoLevel)
		config := activities.Config{Log: zap.New(core), Push: &activities.Push{Journal: waiting(), Sender: &receiver{status: status}, Notice: notice}}
		test.Value(activities.New(config).Deliver(t.Context(), activities.DeliverRequest{}))(t)
		for _, e := range logs.All() {
			f := e.ContextMap()
			got = append(got, fmt.Sprintf("%s: %s: %v %v %v %v %v, %d fields", e.Level, e.Message, f["taskId"], f["configId"], f["event"], f["outcome"], f["host"], len(f)))
		}
	}
	want := []string{
		"warn: Deliveries fail, and are attempted again: task my config 7 500 example.com, 5 fields",
		"warn: A delivery is dead: task my config 7 404 example.com, 5 fields",
		"info: A receiver has removed its push config: task my config 7 410 example.com, 5 fields",
	}
	test.Equal(t, "log", want, got)
}

func TestActivities_Deliver_idle(t *testing.T) {
	r := &receiver{}
	if diff := cmp.Diff(activities.Delivered{Idle: true}, deliver(t, &pushJournal{}, r, activities.DeliverRequest{})); diff != "" || r.got != "" {
		t.Errorf("sent %q, result (-want +got):\n%s", r.got, diff)
	}
}

// One slow host does not take all permits: more attempts at it wait, longer each
// time; attempts at other hosts are not delayed.
func TestActivities_Deliver_limitsHosts(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	slow := &receiver{status: 200, wait: func() { entered <- struct{}{}; <-release }}
	fast := waiting()
	fast.config.URL = "https://other.example.com/"
	first, second := waiting(), waiting()
	hook := func(r *http.Request) activities.Sender {
		if r.URL.Host == "example.com" {
			return slow
		}
		return &receiver{status: 200}
	}
	journals := map[string]*pushJournal{"first": first, "second": second, "fast": fast}
	a := activities.New(activities.Config{Push: &activities.Push{Journal: many(journals), Sender: route(hook), Notice: notice, PerHost: 1}})
	var wg sync.WaitGroup
	wg.Go(func() {
		if out, err := a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "first"}); err != nil || out.Status != outbox.DeliveryDone {
			t.Errorf("first: %+v, %v", out, err)
		}
	})
	<-entered
	for busy, least := range map[int]time.Duration{0: 2 * time.Second, 1: 4 * time.Second, 4: 32 * time.Second, 1000: 32 * time.Second} {
		out, err := a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "second", Busy: busy})
		wait := time.Duration(out.Wait) * time.Millisecond
		if err != nil || !out.Busy || wait < least || wait > least+least/5 || len(second.noted) > 0 {
			t.Errorf("second, after %d times: %+v, %v", busy, out, err)
		}
	}
	test.Is(t, "fast", outbox.DeliveryDone, test.Value(a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "fast"}))(t).Status)
	close(release)
	wg.Wait()
	slow.wait = nil
	test.Is(t, "second, afterwards", outbox.DeliveryDone, test.Value(a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "second"}))(t).Status)
}

// many is a journal with a config for each task.
type many map[string]*pushJournal

func (m many) NextDelivery(ctx context.Context, taskID, configID string) (outbox.PushConfig, outbox.Delivery, bool, error) {
	c, d, ok, err := m[taskID].NextDelivery(ctx, taskID, configID)
	d.TaskID = taskID
	return c, d, ok, err
}

func (m many) NextNotice(ctx context.Context, taskID, channel string) (outbox.Notice, outbox.Delivery, bool, error) {
	return m[taskID].NextNotice(ctx, taskID, channel)
}

func (m many) NoteDelivery(ctx context.Context, c outbox.PushConfig, d outbox.Delivery, a outbox.DeliveryAttempt, s outbox.DeliveryStatus) (outbox.DeliveryStatus, error) {
	return m[d.TaskID].NoteDelivery(ctx, c, d, a, s)
}

// route chooses who gets a request.
type route func(*http.Request) activities.Sender

func (f route) Do(ctx context.Context, r *http.Request) (*http.Response, error) {
	return f(r).Do(ctx, r)
}
