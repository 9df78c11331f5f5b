package cli

import (
	"context"
	"io"

	"github.com/alecthomas/kong"
)

// Parse reads the arguments of a command, and does not run it.
func Parse(args []string) error {
	embed := func(context.Context, EmbedConfig) (*Embedded, error) { return nil, nil }
	p := &program{ctx: context.Background(), stdout: io.Discard, stderr: io.Discard, build: Build{Embed: embed}}
	parser, err := newParser(p, kong.Exit(func(int) {}))
	if err == nil {
		_, err = parser.Parse(args)
	}
	return err
}
