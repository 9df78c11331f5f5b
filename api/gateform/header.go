package gateform

import "net/http"

// SetHeaders sets the headers of every response with a page: its Content-Security-Policy
// and Referrer-Policy, and those that keep it out of caches, frames and search engines.
func SetHeaders(h http.Header, policy, referrer string) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", referrer)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
