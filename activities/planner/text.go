package planner

import (
	"errors"
	"regexp"
	"strings"
	"text/template"

	"longhaul/activities"
	"longhaul/opt"
)

// A text is a string of a playbook. Text between {{ and }} is a template over
// [facts], in a small part of text/template: fields, if, the functions and, or,
// not, eq, ne, and
//
//	short 60 .Message   one line, up to a semicolon, of 60 characters at most
//
// short keeps the text of a client from becoming a second echo command. The input
// of a task, and the text of an approval, may also use
//
//	{{results "Search"}}   the text of what that task made, which comes before this one
//	{{results}}            the text of all that the task builds on
//	{{answer "Ask" "q1"}}  what people have answered to that question of that task
type text struct {
	raw  string
	tmpl *template.Template // nil for a text without templates
	uses []use              // what it inserts; nil for nothing
	line int                // in the file; 0 if that is not kept
}

// The functions that insert what tasks before have made, and what people have answered.
const (
	resultsFunc = "results"
	answerFunc  = "answer"
)

var (
	templateFuncs = template.FuncMap{"short": short, resultsFunc: func(...string) string { return "" }, answerFunc: func(_, _ string) string { return "" }}
	whereForm     = regexp.MustCompile(`^template: [^:]*:\d+(:\d+)?: (executing ".*?" at )?`)
)

// parseText reads raw and tries it out. input says whether raw is part of a
// task's input or of an approval, which may name results.
func parseText(raw string, input bool) (text, error) {
	if !strings.Contains(raw, "{{") {
		return text{raw: raw}, nil
	}
	tmpl, err := template.New("text").Funcs(templateFuncs).Parse(raw)
	switch {
	case err != nil:
		return text{}, withoutPosition(err)
	case len(tmpl.Templates()) > 1:
		return text{}, errors.New("templates cannot be defined here")
	case tmpl.Tree == nil:
		return text{}, nil // nothing but comments
	}
	c := checker{input: input}
	if err := c.node(tmpl.Root); err != nil {
		return text{}, err
	}
	t := text{raw: raw, tmpl: tmpl, uses: c.uses}
	_, err = t.render(sample)
	return t, err
}

// sample is the request with which a playbook is checked.
var sample = facts{Message: "a message", Name: "a name", Description: "a description"}

// render returns t for a request, without results.
func (t text) render(f facts) (string, error) {
	if t.tmpl == nil {
		return t.raw, nil
	}
	var b strings.Builder
	if err := t.tmpl.Execute(&b, f); err != nil {
		return "", withoutPosition(err)
	}
	return b.String(), nil
}

// fill returns t for a request: a string, or an [activities.Text] if pieces has
// results. places has the tasks that t names, as in opt.
func (t text) fill(f facts, places map[string]string) (any, error) {
	if t.uses == nil {
		return t.render(f)
	}
	tmpl, err := t.tmpl.Clone() // the clone gets its own functions
	if err != nil {
		return nil, withoutPosition(err)
	}
	var p pieces
	tmpl.Funcs(template.FuncMap{
		resultsFunc: func(name ...string) string {
			if len(name) == 0 {
				return p.insert(activities.Piece{Results: activities.AllResults})
			}
			return p.insert(activities.Piece{Results: places[name[0]]})
		},
		answerFunc: func(name, question string) string {
			return p.insert(activities.Piece{Results: places[name], Answer: question})
		},
	})
	if err := tmpl.Execute(&p, f); err != nil {
		return nil, withoutPosition(err)
	}
	return p.value(), nil
}

// joined are texts, one after another.
type joined []text

func (j joined) fill(f facts, places map[string]string) (any, error) {
	var p pieces
	for _, t := range j {
		whole, filled, err := t.pieces(f, places)
		if err != nil {
			return nil, err
		}
		p.literal.WriteString(whole)
		for _, piece := range filled {
			if p.literal.WriteString(piece.Literal); piece.Literal == "" {
				p.insert(piece)
			}
		}
	}
	return p.value(), nil
}

// pieces returns t for a request: as a string, or as pieces if it has results.
func (t text) pieces(f facts, places map[string]string) (string, []opt.Piece, error) {
	v, err := t.fill(f, places)
	if filled, ok := v.(activities.Text); ok {
		return "", filled, err
	}
	whole, _ := v.(string)
	return whole, nil, err
}

// objects returns the tasks whose results t, an object, names.
func (t text) objects(f facts, places map[string]string) ([]string, error) {
	literal, filled, err := t.pieces(f, places)
	var out []string
	for _, p := range filled {
		literal += p.Literal
		if p.Answer != "" {
			err = errors.New("an answer cannot be the object of a decision: name it in approve or description")
		} else if p.Results != "" {
			out = append(out, p.Results)
		}
	}
	if err == nil && strings.TrimSpace(literal) != "" {
		err = errors.New(`an object is only results, such as {{results "Task"}}`)
	}
	return out, err
}

// pieces are the output of a template so far. A template writes everything before
// it calls the next function. So results arrive by a call and the text of a
// client by Write, and the two cannot be confused.
type pieces struct {
	text    activities.Text
	literal strings.Builder
	filled  bool // the output has results
}

// Write implements [io.Writer].
func (p *pieces) Write(b []byte) (int, error) { return p.literal.Write(b) }

// insert adds a piece that is filled in later, and returns nothing for the template to write.
func (p *pieces) insert(later activities.Piece) string {
	p.flush()
	p.text, p.filled = append(p.text, later), true
	return ""
}

func (p *pieces) flush() {
	if p.literal.Len() > 0 {
		p.text = append(p.text, activities.Piece{Literal: p.literal.String()})
		p.literal.Reset()
	}
}

func (p *pieces) value() any {
	if !p.filled {
		return p.literal.String()
	}
	p.flush()
	return p.text
}

// withoutPosition removes the position in the text from an error of text/template: the
// reader has the line of the file.
func withoutPosition(err error) error { return errors.New(whereForm.ReplaceAllString(err.Error(), "")) }

// short returns the first line of s, up to a semicolon, in n characters at the
// most.
func short(n int, s string) (string, error) {
	if n < 1 {
		return "", errors.New("short needs a length of 1 or more")
	}
	s = strings.TrimLeft(s, " \t\r\n;")
	if i := strings.IndexAny(s, "\r\n;"); i >= 0 {
		s = s[:i]
	}
	return shorten(oneLine(s), n), nil
}
