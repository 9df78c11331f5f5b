// Package seal encrypts the secrets that are stored. A [Box] has several keys: the
// first one seals, and each opens the secrets that it sealed, so keys can be
// replaced without a gap.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	keySize = 32 // bytes
	idSize  = 8  // bytes of a digest of the key, by which a sealed text names it
	format  = 1  // the first byte of a sealed text
)

// Errors of Open.
var (
	ErrKey    = errors.New("it was sealed with a key that is not here")
	ErrBroken = errors.New("it was changed, or belongs somewhere else")
)

// A Box seals and opens with AES-256-GCM. It is safe for concurrent use.
type Box struct {
	first []byte // the head of what the box seals: the format and the id of the key
	keys  map[string]cipher.AEAD
}

// New returns a box with keys of 32 bytes, at least one. The first seals.
func New(keys ...[]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("no key")
	}
	b := &Box{keys: map[string]cipher.AEAD{}}
	for i, key := range keys {
		if len(key) != keySize {
			return nil, fmt.Errorf("key %d has %d bytes, want %d", i+1, len(key), keySize)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("longhaul key id "), key...))
		head := append([]byte{format}, sum[:idSize]...)
		if i == 0 {
			b.first = head
		}
		b.keys[string(head)] = aead
	}
	return b, nil
}

// Seal encrypts plain. Only [Box.Open] with the same context opens it.
func (b *Box) Seal(plain []byte, context string) ([]byte, error) {
	head := bytes.Clone(b.first)
	return b.keys[string(head)].Seal(head, nil, plain, boundData(head, context)), nil
}

// Open returns the secret that was sealed with the same context. The error is [ErrKey] or
// [ErrBroken].
func (b *Box) Open(sealed []byte, context string) ([]byte, error) {
	if len(sealed) < 1+idSize {
		return nil, ErrBroken
	}
	head, text := sealed[:1+idSize], sealed[1+idSize:]
	aead := b.keys[string(head)]
	if aead == nil {
		return nil, ErrKey
	}
	plain, err := aead.Open(nil, nil, text, boundData(head, context))
	if err != nil {
		return nil, ErrBroken
	}
	return plain, nil
}

// boundData returns the data that a sealed text is bound to.
func boundData(head []byte, context string) []byte { return append(bytes.Clone(head), context...) }

// Parse reads keys from text: base64, separated by commas.
func Parse(text string) (keys [][]byte, err error) {
	for i, part := range strings.Split(text, ",") {
		key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(part))
		if err != nil || len(key) != keySize {
			return nil, fmt.Errorf("key %d is not %d bytes in base64; make one with: openssl rand -base64 %d", i+1, keySize, keySize)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// File reads keys from a file in the form of [Parse], one after another on lines.
// It makes the file, with one new key, if there is none; several processes may do
// so at a time. The file is private to its user.
func File(path string) ([][]byte, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
	}
	return Read(path)
}

// Read reads keys from a file in the form of [File].
func Read(path string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	keys, err := Parse(strings.Join(strings.Fields(string(text)), ","))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// create makes a file with a new key, unless another process has made it. The file
// is complete from the moment at which it has its name, and keeps it in a power cut.
func create(path string) error {
	key := make([]byte, keySize)
	rand.Read(key)                                           // never fails
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // of mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }()
	_, err = f.WriteString(base64.StdEncoding.EncodeToString(key) + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path)) // also of the other process, whose key is used at once
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
