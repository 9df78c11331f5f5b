package a2a

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"

	"github.com/gowebpki/jcs"
)

// Digest returns a short fingerprint of everything in m. Two messages have the
// same one if they say the same: white space, the order of keys and the way that
// characters are escaped do not count, while numbers count as they are written.
// Compute it from the message as the client sent it, before anything is filled
// in. It panics if m holds raw JSON that is not valid.
func (m Message) Digest() string { return digestOf(m) }

// ContentDigest is Digest without the message id: for repeats that another key
// identifies, and that may have an id each.
func (m Message) ContentDigest() string {
	m.MessageID = ""
	return digestOf(m)
}

// Digest returns the SHA-256 of the content of p in hexadecimal: of the bytes of a
// text in UTF-8, of a file, or of a URL; of JSON in the canonical form of RFC 8785, so
// that white space, the order of keys and the way that numbers and characters are
// written do not count. It is the same when the content is kept as a blob.
func (p Part) Digest() string {
	var content []byte
	switch {
	case p.Ref != nil:
		return cmp.Or(p.Ref.Digest, p.Ref.ID)
	case p.Text != nil:
		content = []byte(*p.Text)
	case p.Raw != nil:
		content = p.Raw
	case p.URL != nil:
		content = []byte(*p.URL)
	default:
		content = Canonical(p.Data)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Canonical returns JSON in the canonical form of RFC 8785, or unchanged if it has
// none, such as a number that no double holds.
func Canonical(data []byte) []byte {
	if out, err := jcs.Transform(data); err == nil {
		return out
	}
	return data
}

func digestOf(m Message) string {
	var content any
	if err := Decode(mustJSON(m), &content); err != nil {
		panic("a2a: message without a JSON form: " + err.Error())
	}
	sum := sha256.Sum256(mustJSON(content))
	return hex.EncodeToString(sum[:16])
}
