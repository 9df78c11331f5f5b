package serve

import (
	"cmp"
	"longhaul/a2a"
	"longhaul/api"
	"longhaul/api/call"
	"longhaul/api/card"
	"longhaul/internal/process"
)

// inputModes are the media types on the agent card. Parts of any other are accepted, too, for the
// executors know what they can read; but clients look for the types that they have.
var inputModes = []string{"text/plain", "text/markdown", "application/json", "application/pdf", "application/octet-stream", "image/png", "image/jpeg", "*/*"}

// card returns the content of the agent card.
func (b Build) card(cfg apiSettings, at api.Address, agent Agent) card.Info {
	info := card.Info{
		Name:        cfg.AgentName,
		Description: cmp.Or(b.Description, "Plans objectives, carries them out and asks people for decisions. The work survives crashes, deploys and disconnects."),
		Version:     cmp.Or(b.Version, process.Version),
		Interfaces:  at.Interfaces(),
		InputModes:  inputModes,
		OutputModes: []string{"text/plain", "application/json"},
		Skills:      agent.Skills(),
		NoStreaming: cfg.NoStreaming, PrivateSkills: cfg.PrivateSkills, DocumentationURL: cfg.Documentation,
	}
	if cfg.Provider != "" {
		info.Provider = &card.Provider{Organization: cfg.Provider, URL: cfg.ProviderURL}
	}
	for _, uri := range cfg.Required {
		if uri == a2a.ExtensionOPT {
			info.OPTRequired = true
			continue
		}
		info.Extensions = append(info.Extensions, call.Extension{URI: uri, Required: true})
	}
	return info
}
