package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A shownArtifact is an artifact as a page shows it.
type shownArtifact struct {
	a2a.Artifact
	ID    string // of its element
	Shown parts
}

// artifacts returns the artifacts of a task as a page shows them, and how many it leaves out.
func (v *viewer) artifacts(t a2a.Task) (out []shownArtifact, more int) {
	for n, a := range t.Artifacts {
		if v.left <= 0 {
			return out, len(t.Artifacts) - n
		}
		id := "r" + strconv.Itoa(n)
		out = append(out, shownArtifact{a, id, v.parts(id+"-", each(a.Parts, withLines), func(i int) string { return downloadPath(t.ID, a.ArtifactID, i) })})
	}
	return out, 0
}

// withLines returns a part; a text that is a JSON object or list has a line for each of its members.
func withLines(p a2a.Part) a2a.Part {
	if p.Text == nil {
		return p
	}
	text := strings.TrimSpace(*p.Text)
	if (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && len(text) <= recordMeasure.bytes && json.Valid([]byte(text)) {
		p.Text = new(a2a.DataText(json.RawMessage(text)))
	}
	return p
}

// A file is content that a browser stores, and never opens as a page.
type file struct {
	Name, Type string
	Data       []byte
}

// download sends a part of an artifact as a file.
func download(v *visit) (view, error) {
	q := v.r.URL.Query()
	n, err := strconv.Atoi(q.Get("part"))
	if err != nil {
		n = -1
	}
	p, err := v.cfg.Service.Tasks.ReadContent(v.r.Context(), v.call, read.ContentParams{TaskID: q.Get("task"), ArtifactID: q.Get("artifact"), Part: n})
	if err != nil {
		return view{}, err
	}
	return view{File: fileOf(p, fmt.Sprintf("artifact-%d", n+1))}, nil
}

// downloadMessages sends all messages of the latest attempt at an objective as a file.
func downloadMessages(v *visit) (view, error) {
	o, err := v.objective(v.r.PathValue("id"))
	if err != nil {
		return view{}, err
	}
	t, err := v.cfg.Service.Tasks.GetTask(v.r.Context(), v.call, read.TaskParams{ID: o.RootID(), History: -1, Scope: shown.ScopeObjective})
	if err != nil {
		return view{}, err
	}
	data, err := json.MarshalIndent(t.History, "", "  ")
	return view{File: &file{Name: "messages.json", Type: "application/json", Data: data}}, err
}

// fileOf returns a part as a file. Its type says that it is text, an image or neither, and
// never what a browser would open as a page.
func fileOf(p a2a.Part, name string) *file {
	f, extension := &file{Type: "text/plain; charset=utf-8"}, ".txt"
	switch kind := http.DetectContentType(p.Raw); {
	case p.Raw != nil && slices.Contains(images, kind):
		f.Data, f.Type, extension = p.Raw, kind, "."+strings.TrimPrefix(kind, "image/")
	case p.Raw != nil:
		f.Data, f.Type, extension = p.Raw, "application/octet-stream", ".bin"
	case p.Data != nil:
		f.Data, f.Type, extension = p.Data, "application/json", ".json"
	case p.Text != nil && mediaType(p) == "text/markdown":
		f.Data, extension = []byte(*p.Text), ".md"
	case p.Text != nil:
		f.Data = []byte(*p.Text)
	case p.URL != nil:
		f.Data = []byte(*p.URL)
	}
	f.Name = cmp.Or(fileName(p.Filename), name+extension)
	return f
}

// fileName returns a name of others as one that is safe in any directory, "" if nothing of
// it is left.
func fileName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), strings.ContainsRune("-_.() ", r):
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1
		}
		return '_'
	}, name)
	name = strings.Trim(name, ". ")
	if runes := []rune(name); len(runes) > mostLetters {
		extension := path.Ext(name)
		if len(extension) > 10 {
			extension = ""
		}
		name = string(runes[:mostLetters-len([]rune(extension))]) + extension
	}
	if strings.Trim(name, "_") == "" {
		return ""
	}
	return name
}

// writeFile sends a file for a browser to store. Pages may show it as an image.
func writeFile(w http.ResponseWriter, f *file) {
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("Content-Length", strconv.Itoa(len(f.Data)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(f.Data) // fails only if the client has disconnected
}

// A shownMessage is a message of the conversation.
type shownMessage struct {
	a2a.Message
	ID    string    // of its element
	About *opt.Task // nil for the objective
	Shown parts
}

// messages returns messages about o as a page shows them, the latest first.
func (v *viewer) messages(o *opt.Objective, list []a2a.Message) (out []shownMessage) {
	for i, m := range slices.Backward(list) {
		parts := each(m.Parts, withLines)
		if m.Text() != "" { // data is the same for programs
			parts = slices.DeleteFunc(parts, func(p a2a.Part) bool { return p.Data != nil })
		}
		_, about := taskOf(o, m.TaskID)
		id := "m" + strconv.Itoa(i)
		out = append(out, shownMessage{m, id, about, v.parts(id+"-", parts, nil)})
	}
	return out
}
