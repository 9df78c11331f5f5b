package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/api/card"
	"longhaul/api/service"
	"longhaul/api/wire"
)

// An Address has the addresses of an agent.
type Address struct {
	BaseURL string // of HTTP
	GRPC    string // HOST:PORT where gRPC is served; "" for nowhere
}

// Interfaces lists the interfaces for the card, the preferred one first.
func (a Address) Interfaces() []card.Interface {
	base := strings.TrimSuffix(a.BaseURL, "/")
	list := []card.Interface{
		{URL: base + wire.RPCPath, Binding: "JSONRPC", Version: string(wire.V10)},
		{URL: base + restPath, Binding: "HTTP+JSON", Version: string(wire.V10)},
	}
	if a.GRPC != "" {
		list = append(list, card.Interface{URL: a.GRPC, Binding: "GRPC", Version: string(wire.V10)})
	}
	return append(list, card.Interface{URL: base + wire.RPCPath, Binding: "JSONRPC", Version: string(wire.V03)})
}

// A document is a card as it is served.
type document struct {
	body []byte
	etag string
}

// Forms of a card beside the forms of versions.
const (
	discovery   = wire.Version("discovery")   // for /.well-known/openwop
	description = wire.Version("description") // the OpenAPI description
)

// documents are the forms of a card. Each is made when it is first needed.
type documents struct {
	since time.Time
	until time.Time // when the card is signed again, with the key of that time; zero for never
	by    map[wire.Version]func() document
}

// cards are the part of a Server that serves the card.
type cards struct {
	service   *service.Service
	log       *zap.Logger
	now       func() time.Time
	maxBody   int64
	describer describer
	current   atomic.Pointer[documents]
	updating  sync.Mutex
}

// SetSkills changes the skills on the card. The new card has another tag and
// time, so that clients with the old card notice. It may be called at any time.
func (c *cards) SetSkills(skills []card.Skill) {
	c.service.Cards.SetSkills(skills)
	c.update()
}

// How long a card is served before it is signed again, as clients may keep it; how long after it
// could not be signed; and how long that may take.
const (
	signedFor   = 5 * time.Minute
	unsignedFor = 10 * time.Second
	signWithin  = 3 * time.Second
)

func (c *cards) update() {
	c.updating.Lock()
	defer c.updating.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), signWithin)
	defer cancel()
	card, err := c.service.Cards.Card(ctx)
	before := c.current.Load()
	now := &documents{since: c.now(), by: map[wire.Version]func() document{}}
	if c.service.Cards.Signs() {
		now.until = now.since.Add(signedFor)
	}
	if err != nil {
		c.log.Error("Cannot sign the agent card", zap.Error(err))
		now.until = now.since.Add(unsignedFor)
	}
	for v, form := range map[wire.Version]func() any{
		wire.V03: func() any { return wire.V03.Card(card) }, wire.V10: func() any { return wire.V10.Card(card) },
		discovery: func() any { return wire.Discovery(card, c.maxBody) }, description: func() any { return c.describer.describe(card) },
	} {
		now.by[v] = sync.OnceValue(func() document { return c.document(form()) })
	}
	switch {
	case before == nil:
	case before.equal(now):
		now.since = before.since
	case err != nil && before.by[wire.V03]().etag == now.by[wire.V03]().etag: // they differ in signatures alone
		now.since, now.by = before.since, before.by
	}
	c.current.Store(now)
}

func (c *cards) document(form any) document {
	body, err := wire.Marshal(form)
	if err != nil {
		c.log.Error("The agent card has no JSON form", zap.Error(err))
		return document{}
	}
	sum := sha256.Sum256(body)
	return document{body, `"` + hex.EncodeToString(sum[:12]) + `"`}
}

// equal reports whether d and o are the same for clients.
func (d *documents) equal(o *documents) bool {
	return maps.EqualFunc(d.by, o.by, func(a, b func() document) bool { return a().etag == b().etag })
}

// serve serves the card in the shape for the version that a request names,
// the union of both if it names none.
func (c *cards) serve(e echo.Context) error {
	v, _, fault := wire.Negotiate(e.Request().Header.Values(wire.HeaderVersion), e.Request().URL.Query())
	if fault != nil {
		h := e.Response().Header()
		h.Set("Vary", wire.HeaderVersion)
		return e.JSON(http.StatusBadRequest, wire.Plain(fault, http.StatusBadRequest))
	}
	return c.send(e, v)
}

// serveV10 serves the card of 1.0 for requests of any version, for
// clients that accept no other card.
func (c *cards) serveV10(e echo.Context) error { return c.send(e, wire.V10) }

// serveDiscovery serves the features of the host. They are the same for all versions.
func (c *cards) serveDiscovery(e echo.Context) error { return c.send(e, discovery) }

// serveDescription describes the API for tools.
func (c *cards) serveDescription(e echo.Context) error { return c.send(e, description) }

func (c *cards) send(e echo.Context, v wire.Version) error {
	now := c.current.Load()
	if !now.until.IsZero() && !c.now().Before(now.until) {
		c.update()
		now = c.current.Load()
	}
	card := now.by[v]()
	h := e.Response().Header()
	if v == wire.V03 || v == wire.V10 {
		h.Set("Vary", wire.HeaderVersion)
	}
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", card.etag)
	h.Set("Last-Modified", now.since.UTC().Format(http.TimeFormat))
	if unchanged(e.Request().Header, card.etag, now.since) {
		return e.NoContent(http.StatusNotModified)
	}
	return e.Blob(http.StatusOK, "application/json", card.body)
}

// unchanged reports whether the client has this version of the card already. A
// tag takes precedence over a time.
func unchanged(h http.Header, etag string, since time.Time) bool {
	if tags := h.Values("If-None-Match"); len(tags) > 0 {
		return matches(tags, etag)
	}
	seen, err := http.ParseTime(h.Get("If-Modified-Since"))
	return err == nil && !since.Truncate(time.Second).After(seen)
}

func matches(ifNoneMatch []string, etag string) bool {
	tags := strings.Split(strings.Join(ifNoneMatch, ","), ",")
	return slices.ContainsFunc(tags, func(tag string) bool {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		return tag == etag || tag == "*"
	})
}
