package temporald

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	tlog "go.temporal.io/server/common/log"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// expected are messages the server logs as warnings or errors although they are
// part of every healthy start and stop of this set-up.
var expected = map[string]bool{
	"HTTP API port has not been set. Nexus HTTP endpoints will not be available. " +
		"To enable Nexus, follow these instructions: https://github.com/temporalio/temporal/blob/main/docs/architecture/nexus.md#enabling-nexus.": true,
}

// expectedBegin are the first words of such messages that have more words.
var expectedBegin = []string{
	"TrailerToContextMetadataInterceptor", // about metadata between the services, which nothing here reads
	"GetHistory page size is larger than threshold",
}

// fullTexts are texts in errors of SQLite and the system when a file cannot grow.
var fullTexts = []string{"database or disk is full", "no space left on device", "disk quota exceeded"}

// diskFullText is logged in place of errors with one of fullTexts. The server logs a hundred of
// them in a moment; the log has the number that was dropped.
const diskFullText = "The disk is full: Temporal cannot store the work. Free some space: the work waits, and continues by itself"

const (
	refused    = "connection refused" // of services that begin one after the other
	refusedFor = 5 * time.Second      // after the start of the first
	repeatsFor = 10 * time.Second     // the same message is logged once within this time
	fullFor    = time.Minute          // the disk is reported as full once within this time
)

// stopTexts are texts in errors that only say that a worker or the server stops.
// Several layers log each of them.
var stopTexts = []string{"context canceled", "shard closed"}

// serverLogger passes the server's warnings and errors on to log, until quiet
// raises the level. Its Fatal does not end the process but panics with a
// fatalError, so that a start can fail.
func serverLogger(log *zap.Logger) (logger tlog.Logger, quiet func(zapcore.Level)) {
	level := zap.NewAtomicLevelAt(zap.WarnLevel)
	state := &quietState{since: time.Now(), last: map[string]time.Time{}}
	return tlog.NewZapLogger(log.WithOptions(
		zap.WrapCore(func(c zapcore.Core) zapcore.Core { return quietCore{c, level, state} }),
		zap.WithFatalHook(fatalHook{}),
	)), level.SetLevel
}

// quietCore drops expected messages, the many messages about a full disk, and repeats.
type quietCore struct {
	zapcore.Core
	level zap.AtomicLevel
	state *quietState
}

func (c quietCore) Enabled(l zapcore.Level) bool {
	return c.level.Enabled(l) && c.Core.Enabled(l)
}

// With implements [zapcore.Core]. The server makes loggers with fields for each request, and
// hardly logs anything: the fields are encoded when it does.
func (c quietCore) With(fields []zapcore.Field) zapcore.Core {
	return quietCore{zapcore.NewLazyWith(c.Core, fields), c.level, c.state}
}

func (c quietCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	begins := func(words string) bool { return strings.HasPrefix(e.Message, words) }
	if !c.Enabled(e.Level) || expected[e.Message] || slices.ContainsFunc(expectedBegin, begins) {
		return ce
	}
	return ce.AddCore(e, c)
}

// Write, unlike Check, sees the fields, so it drops messages by their error.
func (c quietCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	what, n := c.state.classify(e, errorOf(fields))
	var left []zapcore.Field
	if n > 0 {
		left = []zapcore.Field{zap.Int("dropped", n)}
	}
	switch {
	case what == dropped:
		return nil
	case what == full:
		e.Level, e.Message, e.Stack, fields = zap.ErrorLevel, diskFullText, "", left
	case n > 0:
		c.pass(zapcore.Entry{Level: e.Level, Time: e.Time, LoggerName: e.LoggerName, Message: "Dropped messages about a full disk"}, left)
	}
	c.pass(e, slices.DeleteFunc(slices.Clone(fields), func(f zapcore.Field) bool { return f.Key == "logging-call-at" }))
	return nil
}

// pass logs a message.
func (c quietCore) pass(e zapcore.Entry, fields []zapcore.Field) {
	if ce := c.Core.Check(e, nil); ce != nil {
		ce.Write(fields...)
	}
}

// A disposition says whether and how a message is logged.
type disposition int

const (
	logged  disposition = iota
	dropped             // not logged
	full                // logged as diskFullText
)

// A quietState remembers the logged messages. It is safe for concurrent use.
type quietState struct {
	since time.Time // when the server began to start

	mu         sync.Mutex
	last       map[string]time.Time // when a message was logged, by its text and its error
	full       time.Time            // when a message said last that the disk is full
	fullLogged time.Time            // when that was logged last
	uncounted  int                  // messages about the full disk that were dropped since, and not counted in the log
}

// classify returns what becomes of the message e with an error, which may be nil, and how
// many dropped messages about a full disk are to be logged with it.
func (s *quietState) classify(e zapcore.Entry, err error) (what disposition, left int) {
	if e.Level > zap.ErrorLevel {
		return logged, 0
	}
	text := fmt.Sprint(err)
	has := func(part string) bool { return strings.Contains(text, part) }
	if slices.ContainsFunc(stopTexts, has) || has(refused) && e.Time.Sub(s.since) < refusedFor {
		return dropped, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(fullTexts, has) {
		s.full = e.Time
		if e.Time.Sub(s.fullLogged) < fullFor {
			s.uncounted++
			return dropped, 0
		}
		s.fullLogged = e.Time
		return full, s.takeUncounted()
	}
	key := e.Message + "\x00" + text
	if e.Time.Sub(s.last[key]) < repeatsFor {
		return dropped, 0
	}
	if len(s.last) >= maxRemembered {
		clear(s.last)
	}
	s.last[key] = e.Time
	if e.Time.Sub(s.full) < repeatsFor { // there may be more
		return logged, 0
	}
	return logged, s.takeUncounted()
}

// takeUncounted returns uncounted and resets it.
func (s *quietState) takeUncounted() int {
	n := s.uncounted
	s.uncounted = 0
	return n
}

// maxRemembered is how many messages a quietState remembers.
const maxRemembered = 1000

// errorOf returns the error among the fields, or nil.
func errorOf(fields []zapcore.Field) error {
	for _, f := range fields {
		if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
			return err
		}
	}
	return nil
}

// A fatalError is the reason why the server ended.
type fatalError struct {
	msg   string
	cause error // may be nil
}

func (e fatalError) Error() string {
	if e.cause == nil {
		return e.msg
	}
	return fmt.Sprintf("%s: %v", e.msg, e.cause)
}

func (e fatalError) Unwrap() error { return e.cause }

type fatalHook struct{}

func (fatalHook) OnWrite(ce *zapcore.CheckedEntry, fields []zapcore.Field) {
	panic(fatalError{ce.Message, errorOf(fields)})
}
