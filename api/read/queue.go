package read

import (
	"longhaul/a2a"
	"longhaul/opt"
)

// Keys in the metadata of a root task that waits for its turn in its context.
const (
	keyQueuedAt = "longhaul/v1/queuedAt"
)

// withQueuePosition adds its position in the queue to the metadata of a root task.
func withQueuePosition(m a2a.Metadata, v opt.TaskView) a2a.Metadata {
	if v.QueuedAt.IsZero() {
		return m
	}
	return m.With(keyQueuedAt, v.QueuedAt).With(opt.KeyQueuePosition, v.Position)
}
