package child

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// attributes run a process as a user, and end it with this one.
func attributes(o Options) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: o.As, Setpgid: true, Pdeathsig: cmp.Or(o.Last, syscall.SIGKILL)}
}

// descendants returns the ids of the children of a process, and of theirs.
func descendants(pid int) (all []int) {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// The name, in parentheses, may have spaces.
		text := string(data)
		id, idErr := strconv.Atoi(text[:max(0, strings.IndexByte(text, ' '))])
		var state string
		var parent int
		_, scanErr := fmt.Sscan(text[strings.LastIndexByte(text, ')')+1:], &state, &parent)
		if idErr == nil && scanErr == nil {
			children[parent] = append(children[parent], id)
		}
	}
	for next := children[pid]; len(next) > 0; next = next[1:] {
		all = append(all, next[0])
		next = append(next, children[next[0]]...)
	}
	return all
}
