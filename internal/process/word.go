package process

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf16"

	"longhaul/a2a"
)

// A Name is the name of a program in its texts; "" is that of Longhaul.
type Name string

func (n Name) String() string { return cmp.Or(string(n), "longhaul") }

// AgentURL is where commands look for an agent by default.
const AgentURL = "http://127.0.0.1:7420"

// At returns the begin of a command line for the agent at url: its arguments may follow.
func (n Name) At(url, command string) string {
	text := n.String() + " " + command
	if url != AgentURL {
		text += " --url " + url
	}
	return text
}

// IsServer reports whether a text is the URL of a server.
func IsServer(rawURL string) bool {
	u, err := url.Parse(rawURL)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// shellPlain accepts words that mean themselves in a shell, and no option.
var shellPlain = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,][A-Za-z0-9_./:@%+=,~-]*$`)

// ShellWord returns an id of others as it can be copied into a command: as one argument that is
// no option.
func ShellWord(id string) string {
	switch {
	case shellPlain.MatchString(id):
		return id
	case strings.HasPrefix(id, "-"):
		return "-- " + ShellQuoted(a2a.VisibleLine(id))
	}
	return ShellQuoted(a2a.VisibleLine(id))
}

// escaped returns JSON with the characters escaped that could control a terminal.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if one := string(r); a2a.Visible(one) == one {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// ShellQuoted returns text as one argument for a shell.
func ShellQuoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// IsLocal reports whether an address is on this machine.
func IsLocal(addr string) bool {
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// A Secret is a setting that is never shown.
type Secret string
