package chat

import (
	"context"
	"errors"
	"io"
	"net/http"

	"longhaul/api/call"
	"longhaul/internal/chatapp"
)

const maxBody = 1 << 20 // bytes of a request

// Serve serves a POST request of a platform.
func (p *Page) Serve(c *call.Call, w http.ResponseWriter, r *http.Request, platform string) {
	w.Header().Set("Cache-Control", "no-store")
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, busy := errors.AsType[*call.Fault](err); busy {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerFor)
	defer cancel()
	switch chatapp.Kind(platform) {
	case chatapp.Slack:
		slack{p}.serve(ctx, c, w, r, body)
	case chatapp.Mattermost:
		mattermost{p}.serve(ctx, c, w, r, body)
	case chatapp.Teams:
		teams{p}.serve(ctx, c, w, r, body)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}
