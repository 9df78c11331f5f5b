package temporald

import (
	"fmt"
	"slices"
	"strings"

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

// departures are texts in errors that only say that a worker or the server stops.
// Several layers log each of them.
var departures = []string{"context canceled", "shard closed"}

// serverLogger passes the server's warnings and errors on to log, until quiet
// raises the level. Its Fatal does not end the process but panics with a
// fatalError, so that a start can fail.
func serverLogger(log *zap.Logger) (logger tlog.Logger, quiet func(zapcore.Level)) {
	level := zap.NewAtomicLevelAt(zap.WarnLevel)
	return tlog.NewZapLogger(log.WithOptions(
		zap.WrapCore(func(c zapcore.Core) zapcore.Core { return quietCore{c, level} }),
		zap.WithFatalHook(fatalHook{}),
	)), level.SetLevel
}

// quietCore drops expected messages.
type quietCore struct {
	zapcore.Core
	level zap.AtomicLevel
}

func (c quietCore) Enabled(l zapcore.Level) bool {
	return c.level.Enabled(l) && c.Core.Enabled(l)
}

func (c quietCore) With(fields []zapcore.Field) zapcore.Core {
	return quietCore{c.Core.With(fields), c.level}
}

func (c quietCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if !c.Enabled(e.Level) || expected[e.Message] {
		return ce
	}
	return ce.AddCore(e, c)
}

// Write, unlike Check, sees the fields, so it drops departures.
func (c quietCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	if err := errorOf(fields); err != nil {
		isIn := func(text string) bool { return strings.Contains(err.Error(), text) }
		if slices.ContainsFunc(departures, isIn) {
			return nil
		}
	}
	if ce := c.Core.Check(e, nil); ce != nil {
		ce.Write(fields...)
	}
	return nil
}

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
