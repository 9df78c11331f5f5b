package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// A codec is for a Longhaul with --payload-keys; see docs/executors.md.
type codec struct {
	first string // the id of the key that encrypts
	keys  map[string]cipher.AEAD
}

// newCodec returns the codec for keys in the form of LONGHAUL_PAYLOAD_KEYS.
func newCodec(setting string) (*codec, error) {
	c := &codec{keys: map[string]cipher.AEAD{}}
	for i, text := range strings.Split(setting, ",") {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("LONGHAUL_PAYLOAD_KEYS: key %d is not 32 bytes in base64", i+1)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block) // 12 bytes, before the ciphertext
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("longhaul key id "), key...))
		id := hex.EncodeToString(sum[:8])
		if c.keys[id] = aead; i == 0 {
			c.first = id
		}
	}
	return c, nil
}

// Encode encrypts whole payloads.
func (c *codec) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		plain, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{
			Metadata: map[string][]byte{converter.MetadataEncoding: []byte("binary/encrypted"), "encryption-key-id": []byte(c.first)},
			Data:     c.keys[c.first].Seal(nil, nil, plain, nil),
		}
	}
	return out, nil
}

// Decode decrypts payloads that are encrypted.
func (c *codec) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		if out[i] = p; string(p.GetMetadata()[converter.MetadataEncoding]) != "binary/encrypted" {
			continue
		}
		id := string(p.GetMetadata()["encryption-key-id"])
		key := c.keys[id]
		if key == nil {
			return nil, fmt.Errorf("LONGHAUL_PAYLOAD_KEYS has no key %s", id)
		}
		plain, err := key.Open(nil, nil, p.GetData(), nil)
		if err != nil {
			return nil, err
		}
		out[i] = &commonpb.Payload{}
		if err := out[i].Unmarshal(plain); err != nil {
			return nil, err
		}
	}
	return out, nil
}
