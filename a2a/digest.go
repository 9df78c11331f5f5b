package a2a

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

func digestOf(m Message) string {
	var content any
	d := json.NewDecoder(bytes.NewReader(mustJSON(m)))
	d.UseNumber()
	if err := d.Decode(&content); err != nil {
		panic("a2a: message without a JSON form: " + err.Error())
	}
	sum := sha256.Sum256(mustJSON(content))
	return hex.EncodeToString(sum[:16])
}
