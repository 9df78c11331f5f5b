package signing

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"longhaul/opt"
)

// A Sealer encrypts and authenticates. The context must be the same for both.
type Sealer interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(sealed []byte, context string) ([]byte, error)
}

// ErrCallback is the error of Verify.
var ErrCallback = errors.New("the callback URL is not one of this server, or its key is gone")

// Callbacks makes the tokens of callback URLs and reads them. Only the key of Box makes
// a valid one.
type Callbacks struct{ Box Sealer }

// forCallbacks is the context of tokens, so that no other sealed text is one.
const forCallbacks = "callback"

// Token returns the token of ref. It panics if the box cannot seal, which does not
// happen to one of package seal.
func (c Callbacks) Token(ref opt.CallbackRef) string {
	plain, err := json.Marshal(ref)
	if err != nil {
		panic(err)
	}
	sealed, err := c.Box.Seal(plain, forCallbacks)
	if err != nil {
		panic(err)
	}
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Verify returns the ref of a token. The error is [ErrCallback].
func (c Callbacks) Verify(token string) (ref opt.CallbackRef, err error) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil {
		return ref, ErrCallback
	}
	plain, err := c.Box.Open(sealed, forCallbacks)
	if err != nil {
		return ref, ErrCallback
	}
	return ref, json.Unmarshal(plain, &ref)
}
