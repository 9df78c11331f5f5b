package namespace

import (
	"testing"

	"longhaul/internal/test"
)

const (
	firstKey  = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="
	secondKey = "AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI="
)

// Keys in a file and keys in the setting are the same: the first encrypts, all decrypt.
func TestPayloadSettings(t *testing.T) {
	old := test.Value(Payloads{PayloadKeys: firstKey}.Cipher())(t)
	id, text := old.Encrypt([]byte("x"))
	for _, s := range []Payloads{
		{PayloadKeys: secondKey + "," + firstKey},
		{PayloadKeysFile: test.File(t, "keys", secondKey+"\n"+firstKey+"\n")},
	} {
		now := test.Value(s.Cipher())(t)
		test.Is(t, "decrypted", "x", string(test.Value(now.Decrypt(id, text))(t)))
		if next, _ := now.Encrypt(nil); next == id {
			t.Error("the second key encrypts")
		}
	}
	if c, err := (Payloads{}).Cipher(); c != nil || err != nil {
		t.Errorf("without keys: %v, %v", c, err)
	}
}
