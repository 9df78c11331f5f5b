package db

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"longhaul/opt"
)

// A Content is a text that clients, executors or models have written, or a document with
// such texts. It is a type of its own so that no statement forgets to seal it, and no row
// is read without opening it: parameters and destinations of this type pass [contents].
type Content string

// The beginning of a content in the database says how it is stored. A content without one of
// these marks is stored as it is, and without encryption all are.
const (
	MarkStart  = "\x01"                         // no document begins with it
	sealedMark = MarkStart + "longhaul sealed " // the rest is sealed; in base64 if it is a text
	plainMark  = MarkStart + "longhaul plain "  // the rest is as it is, and begins with a mark
)

// hasMark reports whether a text begins like one that is not stored as it is.
func hasMark(text string) bool {
	return strings.HasPrefix(text, sealedMark) || strings.HasPrefix(text, plainMark)
}

// contentsContext binds sealed contents to their use.
const contentsContext = "longhaul journal content"

// A Sealer keeps secrets from those who can read the database of a journal. What Seal
// returns can be opened only with the same context.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(sealed []byte, context string) ([]byte, error)
}

// contents seals the contents of a journal on their way into the database, and opens them
// on their way out.
type contents struct {
	Box  Sealer // nil opens nothing
	seal bool   // new contents; stored ones are opened in any case
}

var (
	errContentKey = fmt.Errorf("%w: content of the journal was sealed with a key that is not here: start with the keys that it was written with, "+
		"as --secret-keys (LONGHAUL_SECRET_KEYS) or as secret.key in the data directory", opt.ErrUnavailable)
	// ErrNoSealer is the error of those who keep secrets in a journal without a key for them.
	ErrNoSealer     = errors.New("the journal has no key for secrets")
	errNoContentKey = errors.New("the journal has no key to seal its contents with: give it --secret-keys")
)

// connect makes a connection whose contents are sealed and opened.
func (s contents) connect(ctx context.Context, db database, r role) (*Conn, error) {
	c, err := connect(ctx, db, r)
	if err == nil {
		c.Contents = s
	}
	return c, err
}

// ToStored returns the stored form of a text.
func (s contents) ToStored(text string) (string, error) {
	switch {
	case text == "": // conditions of statements and indexes look for it
		return "", nil
	case s.seal:
		sealed, err := s.sealed([]byte(text))
		return sealedMark + base64.RawStdEncoding.EncodeToString(sealed), err
	case hasMark(text):
		return plainMark + text, nil
	}
	return text, nil
}

// ToStoredBytes is ToStored for data of any kind. The result is not made a text.
func (s contents) ToStoredBytes(data []byte) ([]byte, error) {
	switch {
	case s.seal:
		sealed, err := s.sealed(data)
		return append([]byte(sealedMark), sealed...), err
	case hasMark(string(data[:min(len(data), len(sealedMark))])):
		return append([]byte(plainMark), data...), nil
	}
	return data, nil
}

func (s contents) sealed(data []byte) ([]byte, error) {
	if s.Box == nil {
		return nil, errNoContentKey
	}
	return s.Box.Seal(data, contentsContext)
}

// fromStored returns the text of a stored form.
func (s contents) fromStored(stored string) (string, error) {
	if rest, ok := strings.CutPrefix(stored, plainMark); ok {
		return rest, nil
	}
	rest, ok := strings.CutPrefix(stored, sealedMark)
	if !ok {
		return stored, nil
	}
	sealed, err := base64.RawStdEncoding.DecodeString(rest)
	if err != nil {
		return "", fmt.Errorf("open content of the journal: %w", err)
	}
	plain, err := s.opened(sealed)
	return string(plain), err
}

// FromStoredBytes is fromStored for data of any kind.
func (s contents) FromStoredBytes(stored []byte) ([]byte, error) {
	if rest, ok := bytes.CutPrefix(stored, []byte(plainMark)); ok {
		return rest, nil
	}
	rest, ok := bytes.CutPrefix(stored, []byte(sealedMark))
	if !ok {
		return stored, nil
	}
	return s.opened(rest)
}

func (s contents) opened(sealed []byte) ([]byte, error) {
	if s.Box == nil {
		return nil, errContentKey
	}
	plain, err := s.Box.Open(sealed, contentsContext)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errContentKey, err)
	}
	return plain, nil
}

// openAll opens the destinations of a row that are contents.
func (s contents) openAll(dest []any) error {
	for _, d := range dest {
		if text, ok := d.(*Content); ok {
			plain, err := s.fromStored(string(*text))
			if err != nil {
				return err
			}
			*text = Content(plain)
		}
	}
	return nil
}

// An opener is a row whose contents are opened.
type opener struct {
	Scanner
	contents
}

// Scan implements [scanner].
func (r opener) Scan(dest ...any) error {
	if err := r.Scanner.Scan(dest...); err != nil {
		return err
	}
	return r.openAll(dest)
}

// SealJSON seals a value as JSON.
func SealJSON(box Sealer, v any, context string) ([]byte, error) {
	if box == nil {
		return nil, ErrNoSealer
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return box.Seal(plain, context)
}

// OpenJSON reads what SealJSON has sealed with the same context.
func OpenJSON(box Sealer, sealed []byte, context string, v any) error {
	if box == nil {
		return ErrNoSealer
	}
	plain, err := box.Open(sealed, context)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, v)
}

// Encode returns v as JSON, without escaping HTML.
func Encode(v any) (Content, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return Content(strings.TrimSuffix(b.String(), "\n")), nil
}

// Decode reads what Encode wrote; "" leaves v alone.
func Decode(doc Content, v any) error {
	if len(doc) == 0 {
		return nil
	}
	return json.Unmarshal([]byte(doc), v)
}

// Flag returns b as both databases store it.
func Flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Unknown returns the error for a thing that does not exist or belongs to another tenant.
func Unknown(what, id string) error { return fmt.Errorf("%s %s: %w", what, id, opt.ErrUnknown) }
