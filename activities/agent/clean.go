package agent

import (
	"regexp"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// Lengths of texts of an agent that clients see outside of artifacts, in bytes.
const (
	maxLine   = 300
	maxPrompt = 4 << 10
)

// cleanLine returns a text of an agent as one line of visible characters.
func cleanLine(s string, most int) string {
	return truncate(a2a.VisibleLine(s), most)
}

// cleanLines is cleanLine with the line breaks of the text.
func cleanLines(s string, most int) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = cleanLine(l, most)
	}
	return truncate(strings.TrimSpace(strings.Join(lines, "\n")), most)
}

func truncate(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// artifact returns an artifact of a as one of a task.
func (a *Agent) artifact(in a2a.Artifact) a2a.Artifact {
	out := a2a.Artifact{ArtifactID: in.ArtifactID, Name: cleanLine(in.Name, maxLine), Description: cleanLine(in.Description, maxLine), Parts: in.Parts, Metadata: in.Metadata, Extensions: in.Extensions}
	if !idForm.MatchString(in.ArtifactID) {
		out.ArtifactID = "artifact-" + digest(in.ArtifactID)
	}
	for key, value := range a.originMetadata() {
		out.Metadata = out.Metadata.With(key, value)
	}
	return out
}

// originMetadata returns the metadata of an artifact, which names a as its maker.
func (a *Agent) originMetadata() a2a.Metadata {
	return a2a.Metadata{}.With("longhaul/v1/agent", a.name).With("longhaul/v1/contentTrust", opt.Untrusted)
}
