package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// A page is a manual page that is being written.
type page struct{ strings.Builder }

// macro writes a line of the language as it is.
func (p *page) macro(line string) { fmt.Fprintln(&p.Builder, line) }

func (p *page) section(title string) { p.macro(".SH " + title) }

// text writes a text, on lines that are short enough for people who read the source. A
// text without words writes nothing, since an empty line would be shown as one.
func (p *page) text(s string) {
	line := ""
	for word := range strings.FieldsSeq(s) {
		if word = escape(word); line != "" && len(line)+1+len(word) > 78 {
			p.macro(line)
			line = ""
		}
		if line != "" {
			line += " "
		} else if strings.HasPrefix(word, ".") || strings.HasPrefix(word, "'") {
			line = `\&` // not a macro
		}
		line += word
	}
	if line != "" {
		p.macro(line)
	}
}

// synopsis writes how a command is called.
func (p *page) synopsis(name, usage string) {
	p.macro(".B " + escape(name))
	p.text(usage)
}

// arguments writes the arguments of a command.
func (p *page) arguments(n *kong.Node) {
	for _, a := range n.Positional {
		p.macro(".TP")
		p.macro(".I " + escape(a.Name))
		p.text(a.Help)
		p.words(a)
	}
}

// flags writes flags with their values, defaults and variables.
func (p *page) flags(flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		p.macro(".TP")
		names := `\fB` + escape("--"+f.Name) + `\fR`
		if f.Short != 0 {
			names = `\fB` + escape("-"+string(f.Short)) + `\fR, ` + names
		}
		if !f.IsBool() && !f.IsCounter() {
			names += `=\fI` + escape(placeholder(f)) + `\fR`
		}
		p.macro(names)
		p.text(f.Help)
		p.words(f.Value)
		if f.HasDefault && f.Default != "" && !f.IsBool() {
			p.text("The default is " + f.Default + ".")
		}
		if len(f.Envs) > 0 {
			p.text("The variable is " + strings.Join(f.Envs, " or ") + ".")
		}
	}
}

// words writes which words a value may be.
func (p *page) words(v *kong.Value) {
	var words []string
	for _, w := range v.EnumSlice() {
		if w != "" {
			words = append(words, w)
		}
	}
	if len(words) > 0 {
		p.text("One of: " + strings.Join(words, ", ") + ".")
	}
}

// placeholder returns the name of the value of a flag. The default is written elsewhere,
// so it is not used for that.
func placeholder(f *kong.Flag) string {
	if f.PlaceHolder != "" {
		return f.PlaceHolder
	}
	return strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// escape writes a text so that no part of it is taken for the language: each hyphen is a
// minus sign, which people may copy.
func escape(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`).Replace(s)
}
