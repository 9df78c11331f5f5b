package signing_test

import (
	"bytes"
	"errors"
	"testing"

	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Only the key that made a token reads it, and no changed one.
func TestCallbacks(t *testing.T) {
	box, err := seal.New(bytes.Repeat([]byte{1}, 32))
	test.OK(t, err)
	other, err := seal.New(bytes.Repeat([]byte{2}, 32))
	test.OK(t, err)
	want := opt.CallbackRef{Tenant: "t", TaskID: "task-a-1-0", Round: 3, Wake: true}
	token := signing.Callbacks{Box: box}.Token(want)
	if got, err := (signing.Callbacks{Box: box}).Verify(token); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := (signing.Callbacks{Box: other}).Verify(token); !errors.Is(err, signing.ErrCallback) {
		t.Errorf("another key: %v", err)
	}
	secret, err := box.Seal([]byte(`{"t":"task-a-1-0"}`), "another context")
	test.OK(t, err)
	changed := []byte(token)
	if changed[20]++; changed[20] > 'z' {
		changed[20] = 'a'
	}
	for _, wrong := range []string{"", "?", token[:len(token)-2], string(changed), string(secret)} {
		if _, err := (signing.Callbacks{Box: box}).Verify(wrong); !errors.Is(err, signing.ErrCallback) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
