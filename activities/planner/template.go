package planner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

var allowedFuncs = []string{"short", "and", "or", "not", "eq", "ne"}

// A checker walks a template before it is used, and refuses what a playbook does
// not need: loops, variables, and functions that call or format anything.
type checker struct {
	input bool // results and answers are allowed
	uses  []use
}

// A use is a call that inserts what a task before has made.
type use struct {
	task     string // "" for all that the task builds on
	question string // id of the question whose answer it inserts; "" for results
}

func (c *checker) node(n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode, *parse.StringNode, *parse.NumberNode:
		return nil
	case *parse.ListNode:
		return checkAll(c, n.Nodes)
	case *parse.ActionNode:
		if f, names := insertionIn(n.Pipe); f != "" && c.input {
			return c.insertion(f, names)
		}
		return c.node(n.Pipe)
	case *parse.IfNode:
		if n.ElseList != nil {
			return errors.Join(c.node(n.Pipe), c.node(n.List), c.node(n.ElseList))
		}
		return errors.Join(c.node(n.Pipe), c.node(n.List))
	case *parse.PipeNode:
		if len(n.Decl) > 0 {
			return errNotAllowed(n)
		}
		return checkAll(c, n.Cmds)
	case *parse.CommandNode:
		return checkAll(c, n.Args)
	case *parse.FieldNode:
		if len(n.Ident) == 1 && slices.Contains(factNames, n.Ident[0]) {
			return nil
		}
		return fmt.Errorf("there is no %s; a template may use .%s", n, strings.Join(factNames, ", ."))
	case *parse.IdentifierNode:
		return c.function(n)
	}
	return errNotAllowed(n)
}

func (c *checker) function(n *parse.IdentifierNode) error {
	switch {
	case slices.Contains(allowedFuncs, n.Ident):
		return nil
	case n.Ident != resultsFunc && n.Ident != answerFunc:
		return errNotAllowed(n)
	case !c.input:
		return fmt.Errorf("%s can be used only in the input of a task and in an approval: nothing else waits for results", n.Ident)
	case n.Ident == answerFunc:
		return errors.New(`answers are not there yet when a template is worked out: they stand alone, as {{answer "Task" "question"}}`)
	}
	return errors.New(`results are not there yet when a template is worked out: they stand alone, as {{results "Task"}}`)
}

// insertionIn returns the function and its arguments if a pipe is only a call of one that inserts.
func insertionIn(p *parse.PipeNode) (function string, names []parse.Node) {
	if len(p.Cmds) != 1 || len(p.Decl) > 0 {
		return "", nil
	}
	args := p.Cmds[0].Args
	if f, ok := args[0].(*parse.IdentifierNode); ok && (f.Ident == resultsFunc || f.Ident == answerFunc) {
		return f.Ident, args[1:]
	}
	return "", nil
}

// insertion checks a call of a function that inserts.
func (c *checker) insertion(function string, args []parse.Node) error {
	var names []string
	for _, arg := range args {
		if s, ok := arg.(*parse.StringNode); ok && s.Text != "" {
			names = append(names, s.Text)
		}
	}
	most, takes := 1, "the name of one task in quotes, or nothing"
	if function == answerFunc {
		most, takes = 2, "the name of one task and the id of its question, both in quotes"
	}
	if len(names) != len(args) || len(names) > most || function == answerFunc && len(names) < most {
		return fmt.Errorf("%s takes %s", function, takes)
	}
	names = append(names, "", "")
	c.uses = append(c.uses, use{names[0], names[1]})
	return nil
}

func errNotAllowed(n parse.Node) error {
	return fmt.Errorf("%s is not allowed in a template", shorten(oneLine(n.String()), nameLength))
}

func checkAll[N parse.Node](c *checker, nodes []N) error {
	for _, n := range nodes {
		if err := c.node(n); err != nil {
			return err
		}
	}
	return nil
}
