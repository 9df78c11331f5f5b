package activities

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// KeyText is the key of a [Text] in the input of a task. A text with results is an object there,
// and not a string with a placeholder, which a message of a client could contain as well: texts of
// clients are only put into strings.
const KeyText = "longhaul/v1/text"

// AllResults is what a [Piece] names for the results of every task before its
// own.
const AllResults = opt.AllResults

// maxText is the most text of results, in bytes, in the input of one task. It
// bounds memory, since an input may name results many times and a worker runs
// hundreds of tasks. Work.Results has all results in full.
const maxText = 1 << 20

// A Text is a string in the input of a task that includes results of tasks before
// it. The results do not exist yet when the input is written, so [Activities.Run]
// fills in the string. In JSON a Text is an object with the one key [KeyText], so
// no string of a client can be mistaken for it.
type Text []Piece

// A Piece is a part of a Text.
type Piece = opt.Piece

// pieceJSON is the JSON of a piece that is no literal.
type pieceJSON struct {
	Results string `json:"results"`
	Answer  string `json:"answer,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (t Text) MarshalJSON() ([]byte, error) {
	pieces := make([]any, len(t))
	for i, p := range t {
		if pieces[i] = p.Literal; p.Results != "" {
			pieces[i] = pieceJSON{p.Results, p.Answer}
		}
	}
	return json.Marshal(map[string]any{KeyText: pieces})
}

// fillInput returns the input of w with strings in the place of texts.
func fillInput(w Work) (json.RawMessage, error) {
	if !bytes.Contains(w.Input, []byte(KeyText)) {
		return w.Input, nil
	}
	var input any
	if err := a2a.Decode(w.Input, &input); err != nil {
		return nil, err
	}
	f := filler{work: w, bytesLeft: maxText}
	input, err := f.fill(input)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // an executor may show the text
	err = e.Encode(input)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// A filler fills in one input.
type filler struct {
	work      Work
	bytesLeft int // bytes that results may still take
}

// fill walks v in the same order each time, so that every attempt gets the same
// input.
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

// text returns the string that an object contains, or the answer of people that is all of it, as
// JSON.
func (f *filler) text(object map[string]any, pieces any) (any, error) {
	list, ok := pieces.([]any)
	if !ok || len(object) != 1 {
		return "", fmt.Errorf("an object with the key %q must have no other key, and a list as its value", KeyText)
	}
	var b strings.Builder
	for _, p := range list {
		text, answer, err := f.piece(p)
		if err != nil || answer != nil && len(list) == 1 {
			return answer, err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// piece returns a piece as text, and as JSON if it is an answer.
func (f *filler) piece(p any) (text string, answer json.RawMessage, err error) {
	switch p := p.(type) {
	case string:
		return p, nil, nil
	case map[string]any:
		name, named := p["results"].(string)
		question, asks := p["answer"].(string)
		if named && (len(p) == 1 || asks && len(p) == 2) {
			return f.results(name, question)
		}
	}
	return "", nil, errors.New("a piece of a text is a string, or names results or an answer")
}

// results returns the text of the results that a piece names, or the answer to a question of them,
// cut to the room that is left.
func (f *filler) results(name, question string) (text string, answer json.RawMessage, err error) {
	taskID, ok := opt.TaskPlaced(f.work.PlanID, name)
	switch {
	case name == AllResults:
		taskID = ""
	case !ok:
		return "", nil, fmt.Errorf("%q names no task", name)
	}
	if text = f.work.ResultsText(taskID); question != "" {
		answer = f.work.Answer(taskID, question)
		text = a2a.DataText(answer)
	}
	if len(text) > f.bytesLeft {
		text = strings.ToValidUTF8(text[:f.bytesLeft], "") + "…"
		f.bytesLeft = 0
		return text, nil, nil
	}
	f.bytesLeft -= len(text)
	return text, answer, nil
}
