package activities

import (
	"context"

	"go.uber.org/zap"

	"longhaul/internal/tracing"
)

// logKey is the key in a context for the fields of the logs of an attempt.
type logKey struct{}

// withLog returns a context from which [Log] knows which work it is.
func withLog(ctx context.Context, w Work) context.Context {
	fields := []zap.Field{zap.String("tenant", w.Tenant), zap.String("objectiveId", w.ObjectiveID), zap.String("taskId", w.TaskID)}
	if id := tracing.ID(ctx); id != "" {
		fields = append(fields, zap.String("traceId", id))
	}
	return context.WithValue(ctx, logKey{}, fields)
}

// Log returns log with the ids of the work for which an executor was called with ctx: its
// tenant, objective, task and trace. A nil log stays nil.
func Log(ctx context.Context, log *zap.Logger) *zap.Logger {
	fields, _ := ctx.Value(logKey{}).([]zap.Field)
	if log == nil || len(fields) == 0 {
		return log
	}
	return log.With(fields...)
}
