package quota_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"longhaul/api/call"
	"longhaul/api/quota"
	"longhaul/internal/test"
)

var (
	ann   = call.Caller{Tenant: "acme", Principal: "ann"}
	other = call.Caller{Tenant: "other", Principal: "ann"}
)

// wantWait checks how long a caller has to wait; 0 is for a call that was admitted.
func wantWait(t *testing.T, what string, err error, want time.Duration) {
	t.Helper()
	var fault *call.Fault
	switch {
	case want == 0 && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != 0 && (!errors.As(err, &fault) || fault.Kind != call.RateLimited || fault.Retry != want):
		t.Errorf("%s: %+v, want to wait %s", what, fault, want)
	}
}

func TestQuota_rate(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	q := quota.New(quota.Config{Rate: 2, Burst: 3, Now: func() time.Time { return now }})
	call := func(c call.Caller) error {
		leave, err := q.Call(c)
		if err == nil {
			leave()
		}
		return err
	}
	for n := range 3 {
		wantWait(t, "call "+strconv.Itoa(n), call(ann), 0)
	}
	for range 2 { // a refused call uses up nothing
		wantWait(t, "one more", call(ann), 500*time.Millisecond)
	}
	wantWait(t, "of another tenant", call(other), 0)
	now = now.Add(500 * time.Millisecond)
	wantWait(t, "later", call(ann), 0)
	wantWait(t, "and again", call(ann), 500*time.Millisecond)
}

func TestQuota_atATime(t *testing.T) {
	q := quota.New(quota.Config{Calls: 2, Streams: 1})
	for name, enter := range map[string]func(call.Caller) (func(), error){"call": q.Call, "stream": q.Stream} {
		var leave func()
		for range map[string]int{"call": 2, "stream": 1}[name] {
			var err error
			leave, err = enter(ann)
			wantWait(t, name, err, 0)
		}
		_, err := enter(ann)
		wantWait(t, "one "+name+" more", err, time.Second)
		_, err = enter(other)
		wantWait(t, name+" of another tenant", err, 0)
		leave()
		_, err = enter(ann)
		wantWait(t, name+" after another has ended", err, 0)
	}
}

// Without limits, nothing is refused.
func TestQuota_none(t *testing.T) {
	q := quota.New(quota.Config{})
	for range 1000 {
		test.OK(t, test.Err(q.Call(ann)))
		test.OK(t, test.Err(q.Stream(ann)))
	}
}
