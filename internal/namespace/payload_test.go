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
	old, err := Payloads{PayloadKeys: firstKey}.Cipher()
	test.OK(t, err)
	id, text := old.Encrypt([]byte("x"))
	for _, s := range []Payloads{
		{PayloadKeys: secondKey + "," + firstKey},
		{PayloadKeysFile: test.File(t, "keys", secondKey+"\n"+firstKey+"\n")},
	} {
		now, err := s.Cipher()
		test.OK(t, err)
		if got, err := now.Decrypt(id, text); string(got) != "x" || err != nil {
			t.Errorf("decrypted %q, %v", got, err)
		}
		if next, _ := now.Encrypt(nil); next == id {
			t.Error("the second key encrypts")
		}
	}
	if c, err := (Payloads{}).Cipher(); c != nil || err != nil {
		t.Errorf("without keys: %v, %v", c, err)
	}
}
