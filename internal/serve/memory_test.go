package serve

import (
	"math"
	"testing"
	"testing/fstest"

	"longhaul/internal/test"
)

func TestMemoryLimit(t *testing.T) {
	const mib = 1 << 20
	machine := "MemTotal:       16384000 kB\nMemFree:         1000 kB\n"
	for name, tt := range map[string]struct {
		files   map[string]string
		runtime int64
		want    int64
	}{
		"nothing is known":          {nil, math.MaxInt64, math.MaxInt64},
		"GOMEMLIMIT":                {map[string]string{"proc/meminfo": machine}, 300 * mib, 300 * mib},
		"a machine":                 {map[string]string{"proc/meminfo": machine}, math.MaxInt64, 16000 * mib},
		"a container":               {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, math.MaxInt64, 512 * mib},
		"GOMEMLIMIT in a container": {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "536870912\n"}, 300 * mib, 300 * mib},
		"a container without limit": {map[string]string{"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, math.MaxInt64, 16000 * mib},
		"a group above": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/longhaul.service\n", "sys/fs/cgroup/system.slice/longhaul.service/memory.max": "max\n",
			"sys/fs/cgroup/system.slice/memory.max": "268435456\n",
		}, math.MaxInt64, 256 * mib},
		"version 1": {map[string]string{
			"proc/self/cgroup": "12:cpu,cpuacct:/docker/1\n4:memory:/docker/1\n1:name=systemd:/docker/1\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "134217728\n",
		}, math.MaxInt64, 128 * mib},
	} {
		root := fstest.MapFS{}
		for path, content := range tt.files {
			root[path] = &fstest.MapFile{Data: []byte(content)}
		}
		test.Is(t, name, tt.want, memoryLimit(root, tt.runtime))
	}
}

func TestWorkerSettings_workflowMemory(t *testing.T) {
	for _, tt := range []struct {
		flag  string
		limit int64
		want  int64 // 0 for an error
	}{
		{"", 128 << 20, 32 << 20},
		{"", math.MaxInt64, mostForWorkflows},
		{"1GiB", 128 << 20, 1 << 30},
		{"2097152", 128 << 20, 2 << 20},
		{"1MiB", 128 << 20, 0},
		{"many", 128 << 20, 0},
		{"-1", 128 << 20, 0},
	} {
		got, err := workerSettings{WorkflowMemory: tt.flag}.workflowMemory(tt.limit)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%q of %d: %d, %v, want %d", tt.flag, tt.limit, got, err, tt.want)
		}
	}
}

// A process collects once after each busy time, and now and then while it allocates a little.
func TestRest(t *testing.T) {
	const mib = 1 << 20
	var r rest
	var at, busy []int
	for i, allocated := range []uint64{60, 64, 64, 65, 90, 95, 96, 103, 110, 117, 124, 131, 200, 300, 301} {
		calm, garbage := r.look(allocated * mib)
		if garbage {
			at = append(at, i)
		}
		if !calm {
			busy = append(busy, i)
		}
	}
	test.Equal(t, "collects", []int{1, 5, 9, 14}, at)
	test.Equal(t, "is at work", []int{0, 4, 12, 13}, busy)
}
