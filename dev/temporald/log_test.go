package temporald_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"

	tlog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/dev/temporald"
	"longhaul/internal/test"
)

// The server's log gets each important message once: no expected messages, no repeats,
// and one line about a full disk in place of a hundred.
func TestServerLogger(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	now := &clock{Time: time.Now()}
	log, _ := temporald.ServerLogger(zap.New(core, zap.WithClock(now)))
	for range 3 {
		log.Warn("TrailerToContextMetadataInterceptor: Trailer had metadata but context not wrapped")
		log.Warn("GetHistory page size is larger than threshold")
		log.Error("error", tag.Error(errors.New("dial tcp 127.0.0.1:1: connect: connection refused")))
		log.Error("error", tag.Error(errors.New("context canceled")))
		log.Warn("Something new", tag.Error(errors.New("this")))
	}
	log.Warn("Something new", tag.Error(errors.New("that")))
	for range 3 {
		log.Error("Operation failed", tag.Error(errors.New("Failed to commit: database or disk is full (13)")))
		log.Error("Operation failed", tag.Error(errors.New("write: no space left on device")))
		log.Error("Queue reader unable to retrieve tasks", tag.Error(errors.New("shard status unknown"))) // may have another cause
	}
	for range 2 {
		now.Time = now.Add(time.Minute)
		log.Error("Operation failed", tag.Error(errors.New("write: no space left on device")))
		log.Error("Operation failed", tag.Error(errors.New("write: no space left on device")))
	}
	now.Time = now.Add(time.Minute)
	log.Warn("Something new", tag.Error(errors.New("this")))
	var got []string
	for _, e := range logs.All() {
		got = append(got, fmt.Sprint(e.Level, " ", e.Message, " ", e.ContextMap()))
	}
	want := []string{
		"warn Something new map[error:this]",
		"warn Something new map[error:that]",
		"error The disk is full: Temporal cannot store the work. Free some space: the work waits, and continues by itself map[]",
		"error Queue reader unable to retrieve tasks map[error:shard status unknown]",
		"error The disk is full: Temporal cannot store the work. Free some space: the work waits, and continues by itself map[dropped:5]",
		"error The disk is full: Temporal cannot store the work. Free some space: the work waits, and continues by itself map[dropped:1]",
		"warn Dropped messages about a full disk map[dropped:1]",
		"warn Something new map[error:this]",
	}
	test.Equal(t, "log", want, got)
}

// clock is the time of a log.
type clock struct{ time.Time }

func (c *clock) Now() time.Time                         { return c.Time }
func (c *clock) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// An encoded counts how often it is encoded for a log.
type encoded int

// MarshalLogObject implements [zapcore.ObjectMarshaler].
func (n *encoded) MarshalLogObject(to zapcore.ObjectEncoder) error {
	*n++
	to.AddString("is", "encoded")
	return nil
}

// The server makes a logger for each request. Its fields cost nothing until it logs.
func TestServerLogger_fields(t *testing.T) {
	var out bytes.Buffer
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{MessageKey: "message"}), zapcore.AddSync(&out), zap.DebugLevel)
	log, _ := temporald.ServerLogger(zap.New(core))
	var n encoded
	log = tlog.With(log, tag.Any("request", &n))
	log.Debug("It came")
	test.Is(t, "the field was encoded times for nothing", 0, n)
	log.Warn("It is large")
	if want := `{"message":"It is large","request":{"is":"encoded"}}` + "\n"; n != 1 || out.String() != want {
		t.Errorf("encoded %d times: %s, want %s", n, &out, want)
	}
}
