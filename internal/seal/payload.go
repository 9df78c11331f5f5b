package seal

import (
	"encoding/hex"
)

// Encrypt encrypts plain with the first key, for programs in other languages too: the
// text is a nonce of 12 bytes, the ciphertext and its tag of 16 bytes. Unlike a text of
// [Box.Seal] it is not bound to a context, and does not name its key.
func (b *Box) Encrypt(plain []byte) (keyID string, text []byte) {
	return keyIDOf(b.first), b.keys[string(b.first)].Seal(nil, nil, plain, nil)
}

// Decrypt returns what [Box.Encrypt] encrypted with the key of an id. The error is
// [ErrKey] or [ErrBroken].
func (b *Box) Decrypt(keyID string, text []byte) ([]byte, error) {
	id, err := hex.DecodeString(keyID)
	if err != nil {
		return nil, ErrKey
	}
	aead := b.keys[string(append([]byte{format}, id...))]
	if aead == nil {
		return nil, ErrKey
	}
	plain, err := aead.Open(nil, nil, text, nil)
	if err != nil {
		return nil, ErrBroken
	}
	return plain, nil
}

// keyIDOf returns the id in the head of a sealed text.
func keyIDOf(head []byte) string { return hex.EncodeToString(head[1:]) }
