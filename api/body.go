package api

import (
	"context"
	"io"
	"net/http"
	"time"

	"longhaul/api/call"
)

// What the bodies that are arriving hold together: those of one tenant no more than half of it. More
// if MaxBody needs it.
const (
	smallBody   = 64 << 10 // bytes that need no share
	bytesAtOnce = 64 << 20

	// Some doors read a body to find out who sends it, and no more than that. One address has a
	// quarter of what all of these hold.
	unsignedBody   = 4 << 20
	unsignedAtOnce = 64 << 20
)

// bodies divide memory among the bodies of requests that are arriving.
type bodies struct {
	known, unsigned *call.Shares // by tenant, and by address
	most            int64        // bytes of one
	within          time.Duration
}

func newBodies(cfg Config) bodies {
	all := max(bytesAtOnce, 4*int(cfg.MaxBody))
	return bodies{call.NewShares(all/2, all), call.NewShares(unsignedAtOnce/4, unsignedAtOnce), cfg.MaxBody, cfg.ReadTimeout / 3}
}

// An arriving body is the body of a request, which waits for a share before it reads more than a little.
type arriving struct {
	io.ReadCloser
	of      bodies
	call    *call.Call
	request *http.Request
	read    int64
	release func() // nil: it has no share
}

// of returns the body of a request of c.
func (b bodies) of(c *call.Call, r *http.Request) *arriving {
	return &arriving{ReadCloser: r.Body, of: b, call: c, request: r}
}

// Read implements [io.Reader].
func (b *arriving) Read(p []byte) (n int, err error) {
	if b.release == nil && (b.request.ContentLength < 0 || b.request.ContentLength > smallBody) {
		if left := smallBody - b.read; left > 0 {
			p = p[:min(int64(len(p)), left)]
		} else if err = b.takeShare(); err != nil {
			return 0, err
		}
	}
	n, err = b.ReadCloser.Read(p)
	if b.read += int64(n); err != nil {
		b.drop()
	}
	return n, err
}

// takeShare waits for the share of a body of the size that its sender has announced.
func (b *arriving) takeShare() (err error) {
	ctx, cancel := context.WithTimeout(b.request.Context(), b.of.within)
	defer cancel()
	size := b.of.most
	if n := b.request.ContentLength; n >= 0 {
		size = min(size, n)
	}
	if b.call.Tenant != "" {
		b.release, err = b.of.known.Await(ctx, b.call.Tenant, int(size))
	} else {
		b.release, err = b.of.unsigned.Await(ctx, call.Network(b.request.RemoteAddr), int(min(size, unsignedBody)))
	}
	if ctx.Err() != nil && b.release == nil {
		err = call.TooMany(time.Second)
	}
	return err
}

// drop gives the share back.
func (b *arriving) drop() {
	if b.release != nil {
		b.release()
		b.release = func() {} // the rest has come, or never comes
	}
}
