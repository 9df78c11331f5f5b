// Package test has what tests of all packages say most often.
package test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// OK ends a test with an error.
func OK(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Equal fails a test if two values differ, and shows how. what says what they are.
func Equal(t testing.TB, what string, want, got any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Is fails a test if a value is not the wanted one. what says what it is.
func Is[T comparable](t testing.TB, what string, want, got T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %#v, want %#v", what, got, want)
	}
}

// Contains fails a test if a text lacks a part. what says what it is.
func Contains(t testing.TB, what, part, text string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s: got\n%s\nwant in it\n%s", what, text, part)
	}
}

// Fails fails a test without an error whose text has a part. what says what returns it.
func Fails(t testing.TB, what, part string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("%s: got the error %v, want %q in it", what, err, part)
	}
}

// Error fails a test if an error is not the wanted one. what says what returns it.
func Error(t testing.TB, what string, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got the error %v, want %v", what, err, want)
	}
}

// File writes a file that lasts as long as a test, and returns its path.
func File(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// Value returns a function that returns v, or ends a test with an error.
func Value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Err returns the error of a call whose value a test does not need.
func Err[T any](_ T, err error) error { return err }
