package card

import (
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"

	"longhaul/a2a"
	"longhaul/a2a/codec"
	"longhaul/api/call"
	"longhaul/opt"
)

// Info is the operator's description of the agent. The service adds the
// capabilities.
type Info struct {
	Name        string
	Description string
	Version     string // of the agent

	Interfaces       []Interface // the preferred one first
	Provider         *Provider   // nil for none
	DocumentationURL string      // "" for none
	IconURL          string      // "" for none
	Skills           []Skill     // at least one; an extended card without skills has the skills of the card
	InputModes       []string    // media types, wildcards allowed; nil for text and JSON
	OutputModes      []string    // likewise
	Schemes          map[string]SecurityScheme
	Requirements     []map[string][]string // scopes by the name of a scheme; any one of the list is enough
	Extensions       []call.Extension      // beside OPT
	OPTRequired      bool                  // refuse calls of clients that do not activate OPT
	NoStreaming      bool                  // refuse to stream
	PrivateSkills    bool                  // show the skills on the extended card alone
}

// The parts of a card.
type (
	Card           = codec.Card
	Provider       = codec.Provider
	Interface      = codec.Interface
	Capabilities   = codec.Capabilities
	Skill          = codec.Skill
	SecurityScheme = codec.SecurityScheme
	Signature      = codec.CardSignature
)

// A Signer signs a card, the JSON of A2A 1.0.
type Signer func(ctx context.Context, card []byte) ([]Signature, error)

var defaultModes = []string{"text/plain", "application/json"}

func OrDefault(modes []string) []string {
	if len(modes) == 0 {
		return defaultModes
	}
	return modes
}

// AllExtensions lists the extensions on the card, which calls can activate.
func (i Info) AllExtensions(limits opt.Limits) []call.Extension {
	limits = limits.OrDefault()
	own := []call.Extension{{
		URI:         a2a.ExtensionOPT,
		Description: "Objectives, plans and tasks",
		Required:    i.OPTRequired,
		Params: map[string]any{
			"maxPlansPerObjective": limits.Plans,
			"maxTasksPerPlan":      limits.Tasks,
			"persistenceEnabled":   true,
		},
	}, {
		URI:         a2a.ExtensionHITL,
		Description: "Answers to gates: tool_approval_response and ask_user_response, whose id is the interruptId of the gate. Requests of the extension are not sent.",
	}, {
		URI:         a2a.ExtensionBudget,
		Description: "A message limits the tokens, the cost, the time, the questions and the calls of its work; its task has the bill",
		Params:      map[string]any{"units": []string{"tokens", "cost", "time", "questions", "calls"}, "onExceeded": opt.OnExceeded},
	}, {
		URI:         a2a.ExtensionCancel,
		Description: "A cancellation has a reason, which goes to all work below the task",
		Params:      map[string]any{"maxReason": opt.MaxReason},
	}}
	if !i.NoStreaming {
		own = append(own, call.Extension{
			URI:         a2a.ExtensionStream,
			Description: "Events are numbered; a stream continues after any of them, also after a restart",
			Params:      map[string]any{"replay": true},
		})
	}
	return append(own, i.Extensions...)
}

// Cards makes the cards of the agent.
type Cards struct {
	info     Info
	extended *Info
	limits   opt.Limits
	push     bool   // the agent delivers states to URLs
	sign     Signer // nil leaves cards unsigned
	skills   atomic.Pointer[[]Skill]
}

// New returns the cards of an agent. extended is for callers who are not anonymous, nil for
// none; push is set if the agent delivers states to URLs. A nil sign leaves cards unsigned.
func New(info Info, extended *Info, limits opt.Limits, push bool, sign Signer) *Cards {
	c := &Cards{info: info, extended: extended, limits: limits, push: push, sign: sign}
	c.SetSkills(info.Skills)
	return c
}

// SetSkills changes the skills on the card. It may be called at any time.
func (s *Cards) SetSkills(skills []Skill) {
	skills = slices.Clone(skills)
	s.skills.Store(&skills)
}

// Skills returns the skills that the card for the caller has.
func (s *Cards) Skills(c *call.Call) []Skill {
	switch {
	case !c.Anonymous && s.extended != nil && len(s.extended.Skills) > 0:
		return s.extended.Skills
	case c.Anonymous && s.info.PrivateSkills:
		return nil
	}
	return *s.skills.Load()
}

// Streams reports whether the agent supports streams.
func (s *Cards) Streams() bool { return !s.info.NoStreaming }

// Signs reports whether cards are signed.
func (s *Cards) Signs() bool { return s.sign != nil }

// Card returns the public card. With an error it is not signed.
func (s *Cards) Card(ctx context.Context) (Card, error) { return s.signed(ctx, s.public()) }

// Unsigned returns the public card without signatures.
func (s *Cards) Unsigned() Card { return s.card(s.public()) }

func (s *Cards) public() Info {
	info := s.info
	info.Skills = *s.skills.Load()
	if info.PrivateSkills {
		info.Skills = []Skill{publicSkill}
	}
	return info
}

// publicSkill replaces the skills that only the extended card shows.
var publicSkill = Skill{
	ID: "objectives", Name: "Objectives", Tags: []string{"planning"},
	Description: "Plans objectives and carries them out. The extended card, for authenticated callers, lists the skills.",
}

// ExtendedCard returns the card for callers who are not anonymous.
func (s *Cards) ExtendedCard(ctx context.Context, c *call.Call, _ struct{}) (Card, error) {
	switch {
	case s.extended == nil && c.Rules.CardFault:
		return Card{}, call.ErrExtendedCard
	case s.extended == nil:
		return Card{}, call.ErrUndeclared
	case c.Anonymous:
		return Card{}, call.ErrUnauthenticated
	}
	info := *s.extended
	if len(info.Skills) == 0 {
		info.Skills = *s.skills.Load()
	}
	return s.signed(ctx, info)
}

// signed makes a card with its signatures.
func (s *Cards) signed(ctx context.Context, i Info) (Card, error) {
	c := s.card(i)
	if s.sign == nil {
		return c, nil
	}
	body, err := json.Marshal(codec.V10.PureCard(c))
	if err == nil {
		c.Signatures, err = s.sign(ctx, body)
	}
	return c, err
}

// card makes a card; only this function sets capabilities.
func (s *Cards) card(i Info) Card {
	return Card{
		Name: i.Name, Description: i.Description, Version: i.Version,
		Provider: i.Provider, DocumentationURL: i.DocumentationURL, IconURL: i.IconURL,
		Interfaces: s.info.Interfaces,
		Capabilities: Capabilities{
			Streaming: s.Streams(), Push: s.push, Extended: s.extended != nil,
			Extensions: s.info.AllExtensions(s.limits),
		},
		Schemes:      i.Schemes,
		Requirements: i.Requirements,
		InputModes:   OrDefault(s.info.InputModes),
		OutputModes:  OrDefault(i.OutputModes),
		Skills:       i.Skills,
	}
}
