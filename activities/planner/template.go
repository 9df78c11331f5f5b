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
	input bool     // results is allowed
	uses  []string // arguments of results, "" for none
}

func (c *checker) node(n parse.Node) error {
	switch n := n.(type) {
	case *parse.TextNode, *parse.StringNode, *parse.NumberNode:
		return nil
	case *parse.ListNode:
		return checkAll(c, n.Nodes)
	case *parse.ActionNode:
		if names, ok := resultsIn(n.Pipe); ok && c.input {
			return c.results(names)
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
	case n.Ident != resultsFunc:
		return errNotAllowed(n)
	case !c.input:
		return errors.New("results can be used only in the input of a task and in an approval: nothing else waits for results")
	}
	return errors.New(`results are not there yet when a template is worked out: they stand alone, as {{results "Task"}}`)
}

// resultsIn returns the arguments of results if a pipe is only a call of results.
func resultsIn(p *parse.PipeNode) (names []parse.Node, ok bool) {
	if len(p.Cmds) != 1 || len(p.Decl) > 0 {
		return nil, false
	}
	args := p.Cmds[0].Args
	f, ok := args[0].(*parse.IdentifierNode)
	return args[1:], ok && f.Ident == resultsFunc
}

// results checks a call of results.
func (c *checker) results(names []parse.Node) error {
	if len(names) == 0 {
		c.uses = append(c.uses, "")
		return nil
	}
	name, ok := names[0].(*parse.StringNode)
	if !ok || len(names) > 1 || name.Text == "" {
		return errors.New(`results takes the name of one task in quotes, or nothing`)
	}
	c.uses = append(c.uses, name.Text)
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
