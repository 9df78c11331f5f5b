//go:build unix

package shell

// Guarded returns how many groups of programs the guard knows.
func Guarded() int {
	programs.mu.Lock()
	defer programs.mu.Unlock()
	return len(programs.groups)
}
