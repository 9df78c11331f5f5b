package namespace

import (
	"fmt"

	"longhaul/internal/process"
	"longhaul/internal/seal"
	"longhaul/workflows"
)

// Payloads configure the encryption of data in Temporal.
type Payloads struct {
	PayloadKeys     process.Secret `help:"Keys that encrypt everything that is stored in Temporal: 32 bytes in base64 each, separated by commas. The first encrypts, all decrypt. The API and the workers need the same. Without any, nothing is encrypted. See docs/security.md." env:"LONGHAUL_PAYLOAD_KEYS" placeholder:"KEYS"`
	PayloadKeysFile string         `help:"File with the keys of --payload-keys, on one line each." env:"LONGHAUL_PAYLOAD_KEYS_FILE" placeholder:"FILE"`
}

// Cipher returns what encrypts payloads, nil for nothing.
func (s Payloads) Cipher() (workflows.Cipher, error) {
	var keys [][]byte
	var err error
	switch {
	case s.PayloadKeys != "" && s.PayloadKeysFile != "":
		err = process.Usagef("there are keys in the file of --payload-keys-file, too: use one of the two settings")
	case s.PayloadKeys != "":
		keys, err = seal.Parse(string(s.PayloadKeys))
	case s.PayloadKeysFile != "":
		keys, err = seal.Read(s.PayloadKeysFile)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("keys for payloads (--payload-keys): %w", err)
	}
	return seal.New(keys...)
}
