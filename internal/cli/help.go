package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manyFlags is how many flags of a command the flag --help shows at most. A command with more shows
// those with the tag common.
const manyFlags = 25

// helpOptions are how help is printed.
var helpOptions = kong.HelpOptions{Compact: true}

// A helpAllFlag shows the help of a command with all its flags.
type helpAllFlag bool

// BeforeReset is called by kong when the flag is given.
func (helpAllFlag) BeforeReset(ctx *kong.Context) error {
	all := helpOptions
	all.ValueFormatter = kong.DefaultHelpValueFormatter
	if err := kong.DefaultHelpPrinter(all, ctx); err != nil {
		return err
	}
	ctx.Kong.Exit(0)
	return nil
}

// printHelp is a [kong.HelpPrinter].
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	subjects, hidden := shorten(ctx.Selected())
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	if hidden == 0 {
		return nil
	}
	_, err := io.WriteString(ctx.Stdout, fmt.Sprintf("\n%d more flags are about: %s.\nTo see them: %s --help-all\n", hidden, strings.Join(subjects, ", "), ctx.Selected().FullPath()))
	return err
}

// shorten hides the flags of a command that are not common, if it has many, and returns their
// subjects and how many they are. The common ones lose their groups.
func shorten(command *kong.Node) (subjects []string, hidden int) {
	if command == nil || len(command.Flags) <= manyFlags || !slices.ContainsFunc(command.Flags, isCommon) {
		return nil, 0
	}
	for _, flag := range command.Flags {
		if isCommon(flag) || flag.Hidden {
			flag.Group = nil
			continue
		}
		hidden, flag.Hidden = hidden+1, true
		if flag.Group != nil && !slices.Contains(subjects, flag.Group.Title) {
			subjects = append(subjects, flag.Group.Title)
		}
	}
	return subjects, hidden
}

func isCommon(flag *kong.Flag) bool { return flag.Tag.Has("common") }
