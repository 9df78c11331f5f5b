package planner

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// A text is a string of a playbook. What stands in it between {{ and }} is a
// template over [facts], in a small part of text/template: fields, if, the
// functions and, or, not, eq, ne, and
//
//	short 60 .Message   one line, up to a semicolon, of 60 characters at the most
//
// which keeps what a client says from becoming an echo command of its own.
type text struct {
	raw  string
	tmpl *template.Template // nil for a text without templates
}

var (
	templateFuncs = template.FuncMap{"short": short}
	allowedFuncs  = []string{"short", "and", "or", "not", "eq", "ne"}
	whereForm     = regexp.MustCompile(`^template: [^:]*:\d+(:\d+)?: (executing ".*?" at )?`)
)

// parseText reads raw and tries it out.
func parseText(raw string) (text, error) {
	if !strings.Contains(raw, "{{") {
		return text{raw: raw}, nil
	}
	tmpl, err := template.New("text").Funcs(templateFuncs).Parse(raw)
	switch {
	case err != nil:
		return text{}, plain(err)
	case len(tmpl.Templates()) > 1:
		return text{}, errors.New("templates cannot be defined here")
	case tmpl.Tree == nil:
		return text{}, nil // nothing but comments
	}
	if err := checkNode(tmpl.Root); err != nil {
		return text{}, err
	}
	t := text{raw, tmpl}
	_, err = t.render(sample)
	return t, err
}

// sample stands for a request while a playbook is checked.
var sample = facts{Message: "a message", Name: "a name", Description: "a description"}

// render returns t for a request.
func (t text) render(f facts) (string, error) {
	if t.tmpl == nil {
		return t.raw, nil
	}
	var b strings.Builder
	if err := t.tmpl.Execute(&b, f); err != nil {
		return "", plain(err)
	}
	return b.String(), nil
}

// plain takes from an error of text/template where in the text it was: the
// reader has the line of the file.
func plain(err error) error { return errors.New(whereForm.ReplaceAllString(err.Error(), "")) }

// checkNode refuses what a playbook has no need of: loops, variables, and
// functions that call or format anything.
func checkNode(n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode, *parse.StringNode, *parse.NumberNode:
		return nil
	case *parse.ListNode:
		return checkAll(n.Nodes)
	case *parse.ActionNode:
		return checkNode(n.Pipe)
	case *parse.IfNode:
		if n.ElseList != nil {
			return errors.Join(checkNode(n.Pipe), checkNode(n.List), checkNode(n.ElseList))
		}
		return errors.Join(checkNode(n.Pipe), checkNode(n.List))
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return refused(n)
		}
		return checkAll(n.Cmds)
	case *parse.CommandNode:
		return checkAll(n.Args)
	case *parse.FieldNode:
		if len(n.Ident) == 1 && slices.Contains(factNames, n.Ident[0]) {
			return nil
		}
		return fmt.Errorf("there is no %s; a template has .%s", n, strings.Join(factNames, ", ."))
	case *parse.IdentifierNode:
		if slices.Contains(allowedFuncs, n.Ident) {
			return nil
		}
	}
	return refused(n)
}

func refused(n parse.Node) error {
	return fmt.Errorf("%s is not allowed in a template", shorten(oneLine(n.String()), nameLength))
}

func checkAll[N parse.Node](nodes []N) error {
	for _, n := range nodes {
		if err := checkNode(n); err != nil {
			return err
		}
	}
	return nil
}

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
