package seal_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"longhaul/internal/seal"
	"longhaul/internal/test"
)

func key(b byte) []byte { return bytes.Repeat([]byte{b}, 32) }

func box(t *testing.T, keys ...[]byte) *seal.Box {
	t.Helper()
	b := test.Value(seal.New(keys...))(t)
	return b
}

func sealed(t *testing.T, b *seal.Box, plain, context string) []byte {
	t.Helper()
	text := test.Value(b.Seal([]byte(plain), context))(t)
	return text
}

func TestBox_Open(t *testing.T) {
	before, after := box(t, key(1)), box(t, key(2), key(1))
	text := sealed(t, before, "s3cret", "task 1")
	changed := bytes.Clone(text)
	changed[len(changed)-1] ^= 1
	for _, tc := range []struct {
		name    string
		box     *seal.Box
		text    []byte
		context string
		want    string
		err     error
	}{
		{"same key", before, text, "task 1", "s3cret", nil},
		{"later box with the key", after, text, "task 1", "s3cret", nil},
		{"sealed by the first key", after, sealed(t, after, "s3cret", "task 1"), "task 1", "s3cret", nil},
		{"empty text", before, sealed(t, before, "", "x"), "x", "", nil},
		{"other context", before, text, "task 2", "", seal.ErrBroken},
		{"changed", before, changed, "task 1", "", seal.ErrBroken},
		{"cut", before, text[:12], "task 1", "", seal.ErrBroken},
		{"nothing", before, nil, "task 1", "", seal.ErrBroken},
		{"key is gone", box(t, key(2)), text, "task 1", "", seal.ErrKey},
		{"sealed by a later key", before, sealed(t, after, "s3cret", "task 1"), "task 1", "", seal.ErrKey},
	} {
		got, err := tc.box.Open(tc.text, tc.context)
		if string(got) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v, want %q, %v", tc.name, got, err, tc.want, tc.err)
		}
	}
}

func TestBox_Seal_hides(t *testing.T) {
	b := box(t, key(1))
	one, two := sealed(t, b, "s3cret", "x"), sealed(t, b, "s3cret", "x")
	if bytes.Contains(one, []byte("s3cret")) {
		t.Error("the text can be read")
	}
	if bytes.Equal(one, two) {
		t.Error("equal texts look equal")
	}
}

func TestNew_refuses(t *testing.T) {
	test.Fails(t, "no key: want an error", "", test.Err(seal.New()))
	test.Fails(t, "a short key: want an error", "", test.Err(seal.New(key(1), []byte("short"))))
}

func TestParse(t *testing.T) {
	one, two := base64.StdEncoding.EncodeToString(key(1)), base64.StdEncoding.EncodeToString(key(2))
	got := test.Value(seal.Parse(one + ", " + two))(t)
	test.Equal(t, "keys", [][]byte{key(1), key(2)}, got)
	for _, text := range []string{"", one + ",", "c2hvcnQ=", "not base64"} {
		if keys, err := seal.Parse(text); err == nil {
			t.Errorf("%q: %d keys, want an error", text, len(keys))
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret.key")
	var wg sync.WaitGroup
	made := make([][][]byte, 8)
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = seal.File(path); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, keys := range made {
		test.Equal(t, "two processes have made two keys", made[0], keys)
	}
	info := test.Value(os.Stat(path))(t)
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %o, want 600", got)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("the directory has %v (%v), want the key alone", left, err)
	}
	test.OK(t, os.WriteFile(path, []byte("nonsense\n"), 0o600))
	test.Fails(t, "a damaged file: want an error", "", test.Err(seal.File(path)))
}
