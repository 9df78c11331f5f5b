package api

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"longhaul/opt"
)

const macSize = 16

// A pageOf names a list of which there are pages: what it lists, for whom and
// which of them. A token is good for the list that it was made for only.
type pageOf struct {
	kind   string
	tenant string
	filter []string
}

var errPageToken = invalid("pageToken", "is not a token of this list")

// token returns a token for the page that comes after a place in a list.
func (s *Server) token(ctx context.Context, list pageOf, after opt.Cursor) (string, error) {
	place, err := json.Marshal(after)
	if err != nil {
		return "", err
	}
	mac, err := s.mac(ctx, list, place)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(append(mac, place...)), nil
}

// cursor returns the place that a token stands for, the beginning for "". A token
// that we did not make, or made for another list, is refused: a wrong page would
// send a client round in circles.
func (s *Server) cursor(ctx context.Context, list pageOf, token string) (after opt.Cursor, err error) {
	if token == "" {
		return after, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || len(raw) <= macSize {
		return after, errPageToken
	}
	place := raw[macSize:]
	mac, err := s.mac(ctx, list, place)
	if err != nil {
		return after, err
	}
	if !hmac.Equal(mac, raw[:macSize]) || json.Unmarshal(place, &after) != nil {
		return after, errPageToken
	}
	return after, nil
}

func (s *Server) mac(ctx context.Context, list pageOf, place []byte) ([]byte, error) {
	key, err := s.tokenKey(ctx)
	if err != nil {
		return nil, err
	}
	h := hmac.New(sha256.New, key)
	for _, part := range append([]string{list.kind, list.tenant, string(place)}, list.filter...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return h.Sum(nil)[:macSize], nil
}

func (s *Server) tokenKey(ctx context.Context) ([]byte, error) {
	s.keyMu.Lock()
	defer s.keyMu.Unlock()
	if s.key != nil {
		return s.key, nil
	}
	key, err := s.cfg.Journal.Key(ctx, "page-token")
	if err != nil {
		return nil, fmt.Errorf("read the key of page tokens: %w", err)
	}
	s.key = key
	return key, nil
}
