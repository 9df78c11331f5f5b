package activities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"longhaul/opt"
)

// KeyText is the key of a [Text] in the input of a task.
const KeyText = "longhaul/v1/text"

// AllResults is what a [Piece] names for the results of every task before its
// own.
const AllResults = "all"

// maxText is how much text of results, in bytes, one task's input takes in. An
// input may name results again and again, and a worker runs hundreds of tasks;
// what is beyond is still there, whole, in Work.Results.
const maxText = 1 << 20

// A Text stands for a string in the input of a task that results of tasks before
// it are part of. Those are not there yet when the input is written: [Activities.Run]
// puts the string in its place. In JSON it is an object with one key, [KeyText],
// so no string, whatever a client put into it, is ever taken for one.
type Text []Piece

// A Piece is a part of a Text.
type Piece struct {
	Literal string
	Results string // "task-2" for the results of that task of the plan, or [AllResults]; "" for a literal
}

// named is the JSON of a piece that is no literal.
type named struct {
	Results string `json:"results"`
}

// MarshalJSON implements [json.Marshaler].
func (t Text) MarshalJSON() ([]byte, error) {
	pieces := make([]any, len(t))
	for i, p := range t {
		if pieces[i] = p.Literal; p.Results != "" {
			pieces[i] = named{p.Results}
		}
	}
	return json.Marshal(map[string]any{KeyText: pieces})
}

// filled returns the input of w with strings in the place of texts.
func filled(w Work) (json.RawMessage, error) {
	if !bytes.Contains(w.Input, []byte(KeyText)) {
		return w.Input, nil
	}
	d := json.NewDecoder(bytes.NewReader(w.Input))
	d.UseNumber() // they stay as they are written
	var input any
	if err := d.Decode(&input); err != nil {
		return nil, err
	}
	f := filler{work: w, room: maxText}
	input, err := f.fill(input)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // an executor may show it as it is
	err = e.Encode(input)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// A filler fills in one input.
type filler struct {
	work Work
	room int // bytes that results may still take
}

// fill goes through v in the same order each time, so that every attempt gets the
// same.
func (f *filler) fill(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		if pieces, ok := v[KeyText]; ok {
			return f.text(v, pieces)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key], err = f.fill(v[key]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = f.fill(v[i]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// text returns the string that an object stands for.
func (f *filler) text(object map[string]any, pieces any) (string, error) {
	list, ok := pieces.([]any)
	if !ok || len(object) != 1 {
		return "", fmt.Errorf("an object with %q has that key alone, and a list under it", KeyText)
	}
	var b strings.Builder
	for _, p := range list {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
			continue
		case map[string]any:
			if name, ok := p["results"].(string); ok && len(p) == 1 {
				text, err := f.results(name)
				if err != nil {
					return "", err
				}
				b.WriteString(text)
				continue
			}
		}
		return "", errors.New("a piece of a text is a string, or names results")
	}
	return b.String(), nil
}

var placeForm = regexp.MustCompile(`^task-(\d{1,6})$`)

// results returns the text of the results that a piece names, as far as there is
// room.
func (f *filler) results(name string) (string, error) {
	taskID := ""
	if m := placeForm.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		taskID = opt.TaskID(f.work.PlanID, n)
	} else if name != AllResults {
		return "", fmt.Errorf("%q names no task", name)
	}
	var texts []string
	for _, r := range f.work.Results {
		for _, a := range r.Artifacts {
			if text := a.Text(); text != "" && (taskID == "" || taskID == r.TaskID) {
				texts = append(texts, text)
			}
		}
	}
	text := strings.Join(texts, "\n")
	if len(text) > f.room {
		text = strings.ToValidUTF8(text[:f.room], "") + "…"
		f.room = 0
		return text, nil
	}
	f.room -= len(text)
	return text, nil
}
