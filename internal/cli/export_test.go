package cli

import (
	"context"
	"io"

	"longhaul/internal/serve"
)

// Parse reads the arguments of a command, and does not run it.
func Parse(args []string) error {
	embed := func(context.Context, serve.EmbedConfig) (*serve.Embedded, error) { return nil, nil }
	p := newProgram(context.Background(), io.Discard, io.Discard, serve.Build{Embed: embed})
	parser, err := p.Parser(p.grammar(), p.options()...)
	if err == nil {
		_, err = parser.Parse(args)
	}
	return err
}
