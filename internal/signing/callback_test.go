package signing_test

import (
	"bytes"
	"testing"

	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/internal/test"
	"longhaul/opt"
)

// Only the key that made a token reads it, and no changed one.
func TestCallbacks(t *testing.T) {
	box := test.Value(seal.New(bytes.Repeat([]byte{1}, 32)))(t)
	other := test.Value(seal.New(bytes.Repeat([]byte{2}, 32)))(t)
	want := opt.CallbackRef{Tenant: "t", TaskID: "task-a-1-0", Round: 3, Wake: true}
	token := signing.Callbacks{Box: box}.Token(want)
	test.Is(t, "the result", want, test.Value((signing.Callbacks{Box: box}).Verify(token))(t))
	test.Error(t, "another key", signing.ErrCallback, test.Err((signing.Callbacks{Box: other}).Verify(token)))
	secret := test.Value(box.Seal([]byte(`{"t":"task-a-1-0"}`), "another context"))(t)
	changed := []byte(token)
	if changed[20]++; changed[20] > 'z' {
		changed[20] = 'a'
	}
	for _, wrong := range []string{"", "?", token[:len(token)-2], string(changed), string(secret)} {
		test.Error(t, wrong, signing.ErrCallback, test.Err((signing.Callbacks{Box: box}).Verify(wrong)))
	}
}
