package a2a

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// A Ref in a part replaces content that is stored as a blob, so that histories do
// not hold large contents.
type Ref struct {
	ID     string `json:"id"`     // of the blob: the digest of the content
	Member string `json:"member"` // text, raw or data
	Size   int    `json:"size"`   // of the content, in bytes

	Digest string `json:"digest,omitempty"` // of the part that had the content, as Part.Digest returns it; "" for ID
}

// Large is the size from which the content of a part is kept as a blob.
const Large = 32 << 10

// Blobs are contents by their ids.
type Blobs map[string][]byte

// Detach returns parts with references in the place of large contents, and those
// contents. The same parts get the same references.
func Detach(parts []Part) ([]Part, Blobs) {
	var out []Part
	blobs := Blobs{}
	for i, p := range parts {
		light, id, content := p.detach()
		if content == nil {
			continue
		}
		if out == nil {
			out = append(out, parts...)
		}
		out[i], blobs[id] = light, content
	}
	if out == nil {
		return parts, nil
	}
	return out, blobs
}

// detach returns p without its content, and the content; content is nil if p is
// not large.
func (p Part) detach() (light Part, id string, content []byte) {
	member := ""
	switch {
	case p.Text != nil && len(*p.Text) >= Large:
		member, content = "text", []byte(*p.Text)
	case len(p.Raw) >= Large:
		member, content = "raw", p.Raw
	case len(p.Data) >= Large:
		member, content = "data", p.Data
	default:
		return p, "", nil
	}
	sum := sha256.Sum256(content)
	id = hex.EncodeToString(sum[:])
	light = p
	light.Text, light.Raw, light.Data = nil, nil, nil
	light.Ref = &Ref{ID: id, Member: member, Size: len(content)}
	if digest := p.Digest(); digest != id {
		light.Ref.Digest = digest
	}
	return light, id, content
}

// Attach returns parts with their contents in the place of references. read
// returns the content with an id.
func Attach(parts []Part, read func(id string) ([]byte, error)) ([]Part, error) {
	var out []Part
	for i, p := range parts {
		if p.Ref == nil {
			continue
		}
		content, err := read(p.Ref.ID)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = append(out, parts...)
		}
		out[i] = p.attach(content)
	}
	if out == nil {
		return parts, nil
	}
	return out, nil
}

func (p Part) attach(content []byte) Part {
	switch p.Ref.Member {
	case "text":
		text := string(content)
		p.Text = &text
	case "raw":
		p.Raw = content
	default:
		p.Data = json.RawMessage(content)
	}
	p.Ref = nil
	return p
}
