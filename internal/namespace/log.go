package namespace

import (
	"context"
	"errors"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.uber.org/zap"

	"longhaul/activities"
)

// SDKLog gives Temporal's SDK our log, one level lower: its info messages are
// details for us.
func SDKLog(to *zap.Logger) log.Logger { return sdkLogger{to.Named("temporal").Sugar()} }

type sdkLogger struct{ to *zap.SugaredLogger }

func (l sdkLogger) Debug(string, ...any)            {}
func (l sdkLogger) Info(msg string, fields ...any)  { l.to.Debugw(msg, fields...) }
func (l sdkLogger) Warn(msg string, fields ...any)  { l.level(fields, l.to.Warnw)(msg, fields...) }
func (l sdkLogger) Error(msg string, fields ...any) { l.level(fields, l.to.Errorw)(msg, fields...) }
func (l sdkLogger) With(fields ...any) log.Logger   { return sdkLogger{l.to.With(fields...)} }

// level returns what logs a message, usually log. Neither a canceled attempt nor one that
// its stopping worker hands back is an error.
func (l sdkLogger) level(fields []any, log func(string, ...any)) func(string, ...any) {
	for _, f := range fields {
		err, _ := f.(error)
		if app, ok := errors.AsType[*temporal.ApplicationError](err); ok && app.Type() == activities.WorkerStoppedError {
			return l.to.Debugw
		}
		if errors.Is(err, context.Canceled) || temporal.IsCanceledError(err) {
			return l.to.Debugw
		}
	}
	return log
}
