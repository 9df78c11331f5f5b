package freeport

import (
	"runtime"
	"testing"

	"longhaul/internal/test"
)

// A port that a process has got is not given to another one, also while nothing listens there.
func TestAddr_held(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("only Linux keeps ports from other processes")
		return
	}
	addr := test.Value(Addr())(t)
	_, err := hold(int(addr.Port()))
	test.Fails(t, "another process that wants the port", "address already in use", err)
}
