package main

import (
	"bufio"
	"errors"
	"os"
	"testing"
)

// A line that is too long to be drawn ends the recording with an error.
func TestSession_longLine(t *testing.T) {
	s := &session{ctx: t.Context(), dir: t.TempDir(), env: os.Environ(), ids: map[string]string{}}
	if err := s.command(0, `head -c 1000000 /dev/zero | tr '\0' x; echo`); !errors.Is(err, bufio.ErrTooLong) {
		t.Errorf("error %v", err)
	}
	if err := s.command(3, `echo GATE; exit 3`); err != nil || len(s.lines) == 0 {
		t.Errorf("the next command: %v, lines %v", err, s.lines)
	}
}
