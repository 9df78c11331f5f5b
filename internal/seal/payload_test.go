package seal_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"longhaul/internal/seal"
	"longhaul/internal/test"
)

func TestBox_Decrypt(t *testing.T) {
	before, after := box(t, key(1)), box(t, key(2), key(1))
	id, text := before.Encrypt([]byte("s3cret"))
	later, laterText := after.Encrypt([]byte("s3cret"))
	changed := bytes.Clone(text)
	changed[len(changed)-1] ^= 1
	for _, tc := range []struct {
		name string
		box  *seal.Box
		id   string
		text []byte
		want string
		err  error
	}{
		{"same key", before, id, text, "s3cret", nil},
		{"later box with the key", after, id, text, "s3cret", nil},
		{"encrypted by the first key", after, later, laterText, "s3cret", nil},
		{"key is gone", box(t, key(2)), id, text, "", seal.ErrKey},
		{"encrypted by a later key", before, later, laterText, "", seal.ErrKey},
		{"id of another key", after, later, text, "", seal.ErrBroken},
		{"no id", before, "", text, "", seal.ErrKey},
		{"not an id", before, "key 1", text, "", seal.ErrKey},
		{"changed", before, id, changed, "", seal.ErrBroken},
		{"cut", before, id, text[:11], "", seal.ErrBroken},
		{"nothing", before, id, nil, "", seal.ErrBroken},
	} {
		got, err := tc.box.Decrypt(tc.id, tc.text)
		if string(got) != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("%s: %q, %v, want %q, %v", tc.name, got, err, tc.want, tc.err)
		}
	}
}

// Programs in other languages read and write this form; see docs/executors.md.
func TestBox_Encrypt_form(t *testing.T) {
	id, text := box(t, key(1)).Encrypt([]byte("s3cret"))
	sum := sha256.Sum256(append([]byte("longhaul key id "), key(1)...))
	test.Is(t, "key id", hex.EncodeToString(sum[:])[:16], id)
	block := test.Value(aes.NewCipher(key(1)))(t)
	aead := test.Value(cipher.NewGCM(block))(t)
	plain, err := aead.Open(nil, text[:12], text[12:], nil)
	if err != nil || string(plain) != "s3cret" {
		t.Errorf("opened %q, %v", plain, err)
	}
}
