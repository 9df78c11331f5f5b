package activities_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/egress"
	"longhaul/internal/test"
	"longhaul/opt/outbox"
)

// channels gives each attempt the same result, and keeps the last one.
type channels struct {
	result activities.Tried
	got    string
}

func (c *channels) Notify(_ context.Context, n activities.NoticeAttempt) activities.Tried {
	c.got = fmt.Sprint(n.Kind, " ", n.Tenant, " ", n.Channel, " ", n.ID, " ", n.N)
	return c.result
}

func (*channels) Host(channel string) string { return channel + ".example.com" }

// noticeDue returns a journal with a notice that is due for the channel mail.
func noticeDue() *pushJournal {
	j := waiting()
	j.due[0].ConfigID, j.due[0].Notice = "notice:mail", outbox.Opened
	return j
}

// A notice is delivered by the rules of deliveries, except that a receiver cannot
// remove a channel.
func TestActivities_Deliver_notices(t *testing.T) {
	for name, tt := range map[string]struct {
		tried  activities.Tried
		hours  int64 // since the first attempt
		status outbox.DeliveryStatus
		noted  string
	}{
		"sent":                {status: outbox.DeliveryDone, noted: "7:3 0  delivered"},
		"received":            {tried: activities.Tried{Status: 204}, status: outbox.DeliveryDone, noted: "7:3 204  delivered"},
		"for the moment":      {tried: activities.Tried{Class: "smtp 451"}, status: outbox.DeliveryDue, noted: "7:3 0 smtp 451 due"},
		"refused":             {tried: activities.Tried{Class: "smtp 550", Final: true}, status: outbox.DeliveryDead, noted: "7:3 0 smtp 550 dead"},
		"gone":                {tried: activities.Tried{Status: 410}, status: outbox.DeliveryDead, noted: "7:3 410  dead"},
		"no such channel":     {tried: activities.Tried{Class: activities.NoChannel}, status: outbox.DeliveryDue, noted: "7:3 0 channel not configured due"},
		"no such channel now": {tried: activities.Tried{Class: activities.NoChannel}, hours: 24, status: outbox.DeliveryDead, noted: "7:3 0 channel not configured dead"},
		"an address in vain":  {tried: activities.Tried{Class: egress.ClassDenied}, status: outbox.DeliveryDue, noted: "7:3 0 address denied due"},
	} {
		t.Run(name, func(t *testing.T) {
			j, to := noticeDue(), &channels{result: tt.tried}
			a := activities.New(activities.Config{Push: &activities.Push{Journal: j, To: to, Notice: notice}})
			out, err := a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "task", ConfigID: "notice:mail", N: 7, Failures: 1, Elapsed: tt.hours * 3600})
			if err != nil || out.Status != tt.status || out.Notice != outbox.Opened || (out.Wait > 0) != (tt.status == outbox.DeliveryDue) {
				t.Errorf("%+v, %v", out, err)
			}
			test.Equal(t, "noted", []string{tt.noted}, j.noted)
			test.Is(t, "sent", "opened mail mail task/notice:mail/7 3", to.got)
		})
	}
}

// A worker without channels leaves a notice to another worker.
func TestActivities_Deliver_withoutChannels(t *testing.T) {
	j := noticeDue()
	a := activities.New(activities.Config{Push: &activities.Push{Journal: j, Notice: notice}})
	out := test.Value(a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "task", ConfigID: "notice:mail"}))(t)
	test.Is(t, "the result", outbox.DeliveryDue, out.Status)
	test.Is(t, "the result", activities.NoChannel, out.Outcome)
}

// The log has the beginning and the end of an outage of a channel, for all tasks the
// notices are about, and a delivery that is dead with what would allow its address.
func TestActivities_Deliver_outage(t *testing.T) {
	down, up := activities.Tried{Class: egress.ClassRefused}, activities.Tried{Status: 200}
	denied := activities.Tried{Class: egress.ClassDenied, Final: true, Rule: `scheme: scheme "http"`, Private: true}
	core, logs := observer.New(zapcore.InfoLevel)
	j, to := &pushJournal{}, &channels{}
	a := activities.New(activities.Config{Log: zap.New(core), Push: &activities.Push{Journal: j, To: to, Notice: notice}})
	for i, result := range []activities.Tried{up, down, down, up, up, down, denied, down, up} {
		to.result, j.due = result, noticeDue().due
		j.due[0].TaskID = fmt.Sprint("task-", i)
		test.Value(a.Deliver(t.Context(), activities.DeliverRequest{ConfigID: "notice:mail"}))(t)
	}
	var got []string
	for _, e := range logs.All() {
		f := e.ContextMap()
		got = append(got, fmt.Sprint(e.Level, ": ", e.Message, ": ", f["taskId"], " ", f["configId"], " ", f["host"], " ", f["outcome"], " ", f["rule"], " ", f["allowedBy"]))
	}
	want := []string{
		"warn: Deliveries fail, and are attempted again: task-1 notice:mail mail.example.com refused <nil> <nil>",
		"info: Deliveries work again: task-3 notice:mail mail.example.com 200 <nil> <nil>",
		"warn: Deliveries fail, and are attempted again: task-5 notice:mail mail.example.com refused <nil> <nil>",
		`warn: A delivery is dead: task-6 notice:mail mail.example.com address denied scheme: scheme "http" --egress-allow HOST or, for development, --allow-private-egress`,
		"info: Deliveries work again: task-8 notice:mail mail.example.com 200 <nil> <nil>",
	}
	test.Equal(t, "log", want, got)
}

// A notice above the quota of its tenant waits, without an attempt, until there may be room. One
// that has waited for a day is dead. The log says so once in an hour, for all.
func TestActivities_Deliver_quota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, logs := observer.New(zapcore.InfoLevel)
		j, to, seen := noticeDue(), &channels{}, &watcher{}
		a := activities.New(activities.Config{
			Log: zap.New(core), Observer: seen, Quotas: quotas(t, "mail:notices-per-hour=3"), Push: &activities.Push{Journal: j, To: to, Places: j, Notice: notice},
		})
		deliver := func() activities.Delivered {
			t.Helper()
			out := test.Value(a.Deliver(t.Context(), activities.DeliverRequest{TaskID: "task", ConfigID: "notice:mail"}))(t)
			return out
		}
		j.due[0].Since = a2a.At(time.Now())
		for full, least := range map[time.Duration]time.Duration{time.Second: 5 * time.Minute, 40 * time.Minute: 40*time.Minute - time.Millisecond} {
			j.full = full
			out := deliver()
			if wait := time.Duration(out.Wait) * time.Millisecond; !out.Busy || out.Status != outbox.DeliveryDue || to.got != "" || wait < least || wait > least+time.Minute {
				t.Errorf("with room in %v: %+v, sent %q", full, out, to.got)
			}
		}
		if len(logs.All()) != 1 || logs.All()[0].ContextMap()["tenant"] != "mail" {
			t.Errorf("logged %v", logs.All())
		}
		j.full = 0
		if out := deliver(); out.Status != outbox.DeliveryDone || to.got == "" {
			t.Errorf("with room: %+v, sent %q", out, to.got)
		}
		j.due, to.got, j.full = noticeDue().due, "", time.Minute
		j.due[0].Since = a2a.At(time.Now().Add(-25 * time.Hour))
		if out := deliver(); out.Status != outbox.DeliveryDead || to.got != "" {
			t.Errorf("after a day: %+v, sent %q", out, to.got)
		}
		const place = "task/notice:mail/7 of mail, one of 3"
		want := []string{place, place, place, "7:3 0  delivered", place, "7:3 0 quota dead"}
		test.Equal(t, "noted", want, j.noted)
		test.Equal(t, "exceeded", []string{"notices-per-hour", "notices-per-hour", "notices-per-hour"}, seen.quotas)
	})
}
