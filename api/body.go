package api

import (
	"context"
	"io"
	"math"
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

// An arrival is the body of a request. It waits for a share before it reads more than a little. If its size is
// not known, the share grows with it.
type arrival struct {
	io.ReadCloser
	of      bodies
	call    *call.Call
	request *http.Request
	read    int
	share   *call.Share // nil: it has none
	err     error       // why no more of it comes
}

// of returns the body of a request of c.
func (b bodies) of(c *call.Call, r *http.Request) *arrival {
	return &arrival{ReadCloser: r.Body, of: b, call: c, request: r}
}

// Read implements [io.Reader].
func (b *arrival) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.read >= smallBody && b.share == nil {
		b.share = b.newShare()
	}
	may := smallBody
	if b.share != nil {
		may = max(may, b.share.Held())
	}
	switch size := b.request.ContentLength; {
	case size >= 0 && size <= smallBody, b.share != nil && b.share.Full():
	case b.read < may:
		p = p[:min(len(p), may-b.read)]
	default:
		b.err = b.grow(2 * may)
		return b.Read(p)
	}
	n, b.err = b.ReadCloser.Read(p)
	if b.read += n; b.err != nil {
		b.drop()
	}
	return n, b.err
}

// newShare returns an empty share for a body of a tenant, or of an address.
func (b *arrival) newShare() *call.Share {
	size := int(b.of.most)
	if n := b.request.ContentLength; n >= 0 {
		size = int(min(b.of.most, n))
	}
	if b.call.Tenant != "" {
		return b.of.known.Of(b.call.Tenant, size)
	}
	return b.of.unsigned.Of(b.call.From.String(), min(size, unsignedBody))
}

// grow waits until the share has a size, or the most that it may have: that at once for a body of the size that its
// sender has announced.
func (b *arrival) grow(size int) error {
	ctx, cancel := context.WithTimeout(b.request.Context(), b.of.within)
	defer cancel()
	if b.request.ContentLength >= 0 {
		size = math.MaxInt
	}
	err := b.share.Await(ctx, size)
	if err != nil && ctx.Err() != nil {
		return call.TooMany(time.Second)
	}
	return err
}

// drop gives the share back.
func (b *arrival) drop() {
	if b.share != nil {
		b.share.Release()
	}
}
