package serve

import (
	"context"
	"io/fs"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/internal/process"
	"longhaul/opt/access"
	"longhaul/worker"
)

// The memory for workflows by default: a share of what the process may use, and no more than helps
// work in progress. A worker gives it back when it has no work.
const (
	workflowShare    = 4
	mostForWorkflows = 192 << 20
)

// A process gives memory back when it is at rest: Go collects when something is allocated, so the garbage of a
// busy hour would stay until the next one.
const (
	restEvery = 10 * time.Second
	restBelow = 8 << 20  // bytes that a process at rest allocates in this time
	restAfter = 16 << 20 // bytes that it has to allocate before it collects again
)

// giveBack gives memory that is not used, and that of caches, back to the system while the process is at rest,
// until ctx ends.
func giveBack(ctx context.Context, h *host) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	every := time.NewTicker(restEvery)
	defer every.Stop()
	var r rest
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			metrics.Read(sample)
			calm, garbage := r.look(sample[0].Value.Uint64())
			if calm {
				emptyCaches(ctx, h) // they are not in Go's memory, and may be full with nothing allocated
			}
			if garbage {
				debug.FreeOSMemory()
			}
		}
	}
}

func emptyCaches(ctx context.Context, h *host) {
	for _, empty := range h.caches {
		if err := empty(ctx); err != nil {
			h.log.Info("A cache keeps its memory", zap.Error(err))
		}
	}
}

// A rest is what a process has allocated, in all its time: at the last look, and when it last collected.
type rest struct{ seen, collected uint64 }

// look reports whether a process that has now allocated so much is at rest, and whether it has garbage to collect then.
func (r *rest) look(allocated uint64) (calm, garbage bool) {
	calm = allocated-r.seen < restBelow
	r.seen = allocated
	if garbage = calm && allocated-r.collected >= restAfter; garbage {
		r.collected = allocated
	}
	return calm, garbage
}

// workflowMemory returns the memory for workflows, in bytes. limit is what the process may use.
func (s workerSettings) workflowMemory(limit int64) (int64, error) {
	if s.WorkflowMemory == "" {
		return defaultWorkflowMemory(limit), nil
	}
	n, ok := access.ParseAmount(s.WorkflowMemory, true)
	if !ok || n < worker.LeastMemory {
		return 0, process.Usagef("--workflow-memory %q is not a number of bytes, such as 64MiB, of %dMiB or more", s.WorkflowMemory, worker.LeastMemory>>20)
	}
	return n, nil
}

func defaultWorkflowMemory(limit int64) int64 { return min(limit/workflowShare, mostForWorkflows) }

// ownMemory returns how much memory this process may use, in bytes.
func ownMemory() int64 { return memoryLimit(os.DirFS("/"), debug.SetMemoryLimit(-1)) }

// memoryLimit returns how much memory this process may use, in bytes: the least of the limit of
// Go's runtime, those of its control groups, and the memory of the machine, as far as the files
// below root say so.
func memoryLimit(root fs.FS, runtime int64) int64 {
	limit := runtime
	lower := func(n int64) {
		if n > 0 {
			limit = min(limit, n)
		}
	}
	for _, line := range linesOf(root, "proc/meminfo") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "MemTotal:" {
			lower(number(f[1]) << 10)
		}
	}
	for _, line := range linesOf(root, "proc/self/cgroup") {
		group, file := limitFile(line)
		for file != "" {
			for _, text := range linesOf(root, path.Join(group, file)) {
				lower(number(text))
			}
			if group == "sys/fs/cgroup" || group == "." {
				break
			}
			group = path.Dir(group)
		}
	}
	return limit
}

// limitFile returns the directory of the control group in a line of /proc/self/cgroup, and the
// name of the file there that has its limit of memory: "" for a group of another kind.
func limitFile(line string) (group, file string) {
	f := strings.SplitN(line, ":", 3)
	switch {
	case len(f) < 3:
		return "", ""
	case f[1] == "": // version 2
		return path.Join("sys/fs/cgroup", f[2]), "memory.max"
	case slices.Contains(strings.Split(f[1], ","), "memory"):
		return path.Join("sys/fs/cgroup/memory", f[2]), "memory.limit_in_bytes"
	}
	return "", ""
}

// linesOf returns the lines of a file, none if it cannot be read.
func linesOf(root fs.FS, name string) []string {
	content, _ := fs.ReadFile(root, name)
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// number returns the number in a text, 0 if there is none, as in "max".
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
