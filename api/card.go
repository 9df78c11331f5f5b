package api

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/wire"
	"longhaul/opt"
)

// CardInfo is what an operator says of the agent. What the agent can do, and
// where, the server adds itself.
type CardInfo struct {
	Name        string
	Description string
	Version     string // of the agent
	BaseURL     string // where clients reach the server

	Provider         *Provider // nil for none
	DocumentationURL string    // "" for none
	IconURL          string    // "" for none
	Skills           []Skill   // at least one, or clients do not know what to ask for; an extended card without any has those of the card
	InputModes       []string  // media types, wildcards allowed; nil for text and JSON
	OutputModes      []string  // likewise
	Schemes          map[string]SecurityScheme
	Requirements     []map[string][]string // scopes by the name of a scheme; any one of the list will do
	Extensions       []Extension           // beside OPT
	OPTRequired      bool                  // refuse core calls of clients that do not know OPT
	NoStreaming      bool                  // refuse to stream
	GRPC             string                // HOST:PORT where gRPC is served; "" for nowhere
}

// The parts of a CardInfo.
type (
	Provider       = wire.Provider
	Skill          = wire.Skill
	SecurityScheme = wire.SecurityScheme
	Extension      = wire.Extension
)

var defaultModes = []string{"text/plain", "application/json"}

func (i CardInfo) inputModes() []string {
	if len(i.InputModes) == 0 {
		return defaultModes
	}
	return i.InputModes
}

// extensions lists what the card declares and calls can activate.
func (i CardInfo) extensions() []wire.Extension {
	return append([]wire.Extension{{
		URI:         a2a.ExtensionOPT,
		Description: "Objectives, plans and tasks",
		Required:    i.OPTRequired,
		Params: map[string]any{
			"maxPlansPerObjective": opt.MaxPlans,
			"maxTasksPerPlan":      opt.MaxTasks,
			"persistenceEnabled":   true,
		},
	}}, i.Extensions...)
}

// card is the one place that says what this server is and can do.
func (s *Server) card(i CardInfo) wire.Card {
	output := i.OutputModes
	if len(output) == 0 {
		output = defaultModes
	}
	return wire.Card{
		Name: i.Name, Description: i.Description, Version: i.Version,
		Provider: i.Provider, DocumentationURL: i.DocumentationURL, IconURL: i.IconURL,
		Interfaces: s.interfaces(),
		Capabilities: wire.Capabilities{
			Streaming: !s.cfg.Card.NoStreaming, Push: false, Extended: s.cfg.Extended != nil,
			Extensions: s.cfg.Card.extensions(),
		},
		Schemes:      i.Schemes,
		Requirements: i.Requirements,
		InputModes:   s.cfg.Card.inputModes(),
		OutputModes:  output,
		Skills:       i.Skills,
	}
}

// interfaces lists where the server is to be spoken to, the preferred one first.
func (s *Server) interfaces() []wire.Interface {
	base := strings.TrimSuffix(s.cfg.Card.BaseURL, "/")
	list := []wire.Interface{{URL: base + "/a2a", Binding: "JSONRPC", Version: wire.V10}}
	if !s.cfg.NoREST {
		list = append(list, wire.Interface{URL: base + restPath, Binding: "HTTP+JSON", Version: wire.V10})
	}
	if s.cfg.Card.GRPC != "" {
		list = append(list, wire.Interface{URL: s.cfg.Card.GRPC, Binding: "GRPC", Version: wire.V10})
	}
	return append(list, wire.Interface{URL: base + "/a2a", Binding: "JSONRPC", Version: wire.V03})
}

// A document is a card as it is served.
type document struct {
	body []byte
	etag string
}

// cards are what the card is now.
type cards struct {
	skills    []Skill
	since     time.Time
	documents map[wire.Version]document
}

// SetSkills changes what the card says that the agent can be asked for. Clients
// that have the card from before see by its tag and its time that it is another.
// It may be called at any time.
func (s *Server) SetSkills(skills []Skill) {
	info := s.cfg.Card
	info.Skills = skills
	now := &cards{skills: skills, since: s.cfg.Now(), documents: map[wire.Version]document{}}
	for _, v := range []wire.Version{wire.V03, wire.V10} {
		body, err := wire.Marshal(v.Card(s.card(info)))
		if err != nil {
			s.log.Error("The agent card has no JSON form", zap.Error(err))
			continue
		}
		sum := sha256.Sum256(body)
		now.documents[v] = document{body, `"` + hex.EncodeToString(sum[:12]) + `"`}
	}
	if before := s.cards.Load(); before != nil && before.same(now) {
		return
	}
	s.cards.Store(now)
}

// same reports whether clients would see no difference.
func (c *cards) same(o *cards) bool {
	return maps.EqualFunc(c.documents, o.documents, func(a, b document) bool { return a.etag == b.etag })
}

// serveCard serves the card in the shape for the version that a request names,
// the union of both if it names none.
func (s *Server) serveCard(e echo.Context) error {
	v, _, fault := wire.Negotiate(e.Request().Header.Values(headerVersion), e.Request().URL.Query())
	if fault != nil {
		h := e.Response().Header()
		h.Set("Vary", headerVersion)
		h.Set("Access-Control-Allow-Origin", "*")
		return e.JSON(http.StatusBadRequest, wire.Status(fault, http.StatusBadRequest))
	}
	return s.sendCard(e, v)
}

// servePureCard serves the card of 1.0 whatever a request names, for clients that
// accept nothing else and do not say so.
func (s *Server) servePureCard(e echo.Context) error { return s.sendCard(e, wire.V10) }

func (s *Server) sendCard(e echo.Context, v wire.Version) error {
	cards := s.cards.Load()
	card := cards.documents[v]
	h := e.Response().Header()
	h.Set("Vary", headerVersion)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", card.etag)
	h.Set("Last-Modified", cards.since.UTC().Format(http.TimeFormat))
	h.Set("Access-Control-Allow-Origin", "*")
	if unchanged(e.Request().Header, card.etag, cards.since) {
		return e.NoContent(http.StatusNotModified)
	}
	return e.Blob(http.StatusOK, "application/json", card.body)
}

// unchanged reports whether the client has what is about to be sent. A tag says so
// better than a time.
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
