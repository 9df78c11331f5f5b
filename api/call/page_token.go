package call

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync"

	"longhaul/opt/shown"
)

const macSize = 16

// A PageOf identifies a list with pages: what it lists, for whom and with which
// filter. A token is valid only for its list.
type PageOf struct {
	Kind   string
	Tenant string
	Filter []string
}

// Keys returns 32 random bytes, the same ones for a name at every call.
type Keys interface {
	Key(ctx context.Context, name string) ([]byte, error)
}

// Pages makes and reads page tokens.
type Pages struct {
	Keys Keys

	mu  sync.Mutex
	key []byte // once it was read
}

var ErrPageToken = InvalidField("pageToken", "is not a token of this list")

// Token returns a token for the page after a position in a list.
func (p *Pages) Token(ctx context.Context, list PageOf, after shown.Cursor) (string, error) {
	place, err := json.Marshal(after)
	if err != nil {
		return "", err
	}
	mac, err := p.mac(ctx, list, place)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(mac, place...)), nil
}

// Cursor returns the position of a token, the beginning for "". A foreign token,
// or one of another list, is refused: with a wrong page a client might never
// reach the end of a list.
func (p *Pages) Cursor(ctx context.Context, list PageOf, token string) (after shown.Cursor, err error) {
	if token == "" {
		return after, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) <= macSize {
		return after, ErrPageToken
	}
	place := raw[macSize:]
	mac, err := p.mac(ctx, list, place)
	if err != nil {
		return after, err
	}
	if !hmac.Equal(mac, raw[:macSize]) || json.Unmarshal(place, &after) != nil {
		return after, ErrPageToken
	}
	return after, nil
}

func (p *Pages) mac(ctx context.Context, list PageOf, place []byte) ([]byte, error) {
	key, err := p.readKey(ctx)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	for _, part := range append([]string{list.Kind, list.Tenant, string(place)}, list.Filter...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return h.Sum(nil)[:macSize], nil
}

func (p *Pages) readKey(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.key != nil {
		return p.key, nil
	}
	key, err := p.Keys.Key(ctx, "page-token")
	if err != nil {
		return nil, fmt.Errorf("read the key of page tokens: %w", err)
	}
	p.key = key
	return key, nil
}
