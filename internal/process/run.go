package process

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"longhaul/opt"
)

// Parser returns a parser of the arguments of the commands in grammar. Their Run methods may
// take p.
func (p *Process) Parser(grammar any, options ...kong.Option) (*kong.Kong, error) {
	parser, err := kong.New(grammar, append([]kong.Option{
		kong.Name(p.Name.String()),
		kong.TypeMapper(reflect.TypeFor[time.Duration](), kong.MapperFunc(readDuration)),
		kong.Bind(p),
		kong.Writers(p.Stdout, p.Stderr),
		kong.Exit(func(int) { p.helped = true }),
	}, options...)...)
	if err != nil {
		return nil, fmt.Errorf("build the command line: %w", err)
	}
	return parser, nil
}

// Start runs the command of grammar that args name. Its error has what to do about it.
func (p *Process) Start(args []string, grammar any, options ...kong.Option) error {
	parser, err := p.Parser(grammar, options...)
	if err == nil && p.Check != nil {
		err = p.Check(parser.Model, args)
	}
	if err != nil {
		return err
	}
	p.json = slices.Contains(args, "--json")
	parsed, err := parser.Parse(args)
	if p.helped {
		return nil
	}
	if err == nil {
		err = parsed.Run()
	}
	if err != nil && p.Explain != nil {
		err = p.Explain(err)
	}
	return withCommand(parsed, err)
}

// withCommand returns err as an error of the parsed command. If it is about the arguments, it
// names the command whose help lists the right ones.
func withCommand(parsed *kong.Context, err error) error {
	if unparsed, ok := errors.AsType[*kong.ParseError](err); ok {
		text := strings.Replace(err.Error(), `must be one of "",`, "must be one of ", 1) // "" is what a flag has that is not given
		err, parsed = &UsageError{Text: text}, unparsed.Context
	}
	if wrong, ok := errors.AsType[*UsageError](err); ok && wrong.Command == "" && parsed != nil && parsed.Selected() != nil {
		wrong.Command = parsed.Selected().FullPath()
	}
	return err
}

// readDuration reads a duration, which may begin with days.
func readDuration(ctx *kong.DecodeContext, target reflect.Value) error {
	var text string
	if err := ctx.Scan.PopValueInto("duration", &text); err != nil {
		return err
	}
	d, err := opt.ParseSpan(text)
	if err != nil {
		return err
	}
	target.SetInt(int64(d))
	return nil
}
