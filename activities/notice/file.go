package notice

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/http/httpguts"

	"longhaul/internal/chatapp"
	"longhaul/internal/opfile"
	"longhaul/opt"
	"longhaul/opt/outbox"
)

// Load reads a file with channels. env returns the value of a variable that the file
// names, and allowed refuses the URL of a webhook that can never be reached; nil allows
// all. The error lists everything that is wrong, by line, and has no value of a
// variable, except what allowed says.
func Load(path string, env func(name string) (string, bool), allowed func(rawURL string) error) ([]Channel, error) {
	return load(path, &file{env: env, allowed: allowed})
}

// LoadChats is Load for the channels of chat platforms alone, of which the API takes answers:
// it needs no variables of others.
func LoadChats(path string, env func(name string) (string, bool), allowed func(rawURL string) error) ([]Channel, error) {
	return load(path, &file{env: env, allowed: allowed, chats: true})
}

func load(path string, f *file) ([]Channel, error) {
	var form struct {
		Channels []yaml.Node `yaml:"channels"`
	}
	if err := opfile.Read(path, "channels for notices", &form); err != nil {
		return nil, err
	}
	f.path = path
	if len(form.Channels) == 0 {
		f.fail(1, "the file needs channels: a list with at least one")
	}
	for _, n := range form.Channels {
		var kind struct {
			Kind chatapp.Kind `yaml:"kind"`
		}
		if _ = n.Decode(&kind); f.chats && !slices.Contains(chatapp.Kinds(), kind.Kind) { // others read it
			continue
		}
		f.channel(&n)
	}
	return f.channels, errors.Join(f.wrong...)
}

// A file is a file with channels while it is read. Reading continues after a
// mistake.
type file struct {
	path     string
	env      opfile.Env
	allowed  func(string) error // nil allows all
	chats    bool               // only channels of chat platforms are read
	channels []Channel
	wrong    []error
}

func (f *file) fail(line int, format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Errorf("%s:%d: %s", f.path, max(line, 1), fmt.Sprintf(format, args...)))
}

// A channelForm has the members of a channel in the file.
type channelForm struct {
	Name      string   `yaml:"name"`
	Kind      string   `yaml:"kind"`
	When      []string `yaml:"when"`
	Tenants   []string `yaml:"tenants"`
	Principal string   `yaml:"principal"`
	Groups    []string `yaml:"groups"`

	URL         string            `yaml:"url"`
	Headers     map[string]string `yaml:"headers"`
	ContentType string            `yaml:"contentType"`
	Template    string            `yaml:"template"`

	Server   string   `yaml:"server"`
	TLS      string   `yaml:"tls"`
	Insecure bool     `yaml:"insecure"`
	User     string   `yaml:"user"`
	Password string   `yaml:"password"`
	From     string   `yaml:"from"`
	To       []string `yaml:"to"`
	Subject  string   `yaml:"subject"`
	Text     string   `yaml:"text"`

	Token   string           `yaml:"token"`
	Secret  string           `yaml:"secret"`
	Channel string           `yaml:"channel"`
	People  []chatapp.Person `yaml:"people"`
	Domains []string         `yaml:"domains"`

	App       string `yaml:"app"`
	Directory string `yaml:"directory"`
	Login     string `yaml:"login"`
	Keys      string `yaml:"keys"`
}

// The members of channels: of every channel, and of each kind.
var (
	commonMembers = []string{"name", "kind", "when", "tenants", "principal", "groups"}
	kindMembers   = map[string][]string{
		"webhook": {"url", "headers", "contentType", "template"},
		"smtp":    {"server", "tls", "insecure", "user", "password", "from", "to", "subject", "text"},

		string(chatapp.Slack):      {"url", "token", "secret", "channel", "people", "domains"},
		string(chatapp.Mattermost): {"url", "token", "secret", "channel", "people", "domains"},
		string(chatapp.Teams):      {"url", "app", "directory", "secret", "channel", "people", "domains", "login", "keys"},
	}
)

// A channelReader reads one channel of a file.
type channelReader struct {
	*file
	channelForm
	lines map[string]int // of members
	start int            // line of the channel
}

// fail reports a defect of a member.
func (r *channelReader) fail(member, format string, args ...any) {
	line, ok := r.lines[member]
	if !ok {
		line = r.start
	}
	r.file.fail(line, "%s: %s", member, fmt.Sprintf(format, args...))
}

func (f *file) channel(n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		f.fail(n.Line, "a channel must be an object")
		return
	}
	r := &channelReader{file: f, lines: map[string]int{}, start: n.Line}
	ofKind := func(p opfile.Problem) bool { return p.Member != "" } // which members are known is a matter of the kind, below
	if wrong := slices.DeleteFunc(opfile.Decode(n, &r.channelForm), ofKind); len(wrong) > 0 {
		for _, p := range wrong {
			f.wrong = append(f.wrong, p.In(f.path))
		}
		return
	}
	mistakes := len(f.wrong)
	for pair := range slices.Chunk(n.Content, 2) {
		r.lines[pair[0].Value] = pair[0].Line
	}
	of, known := kindMembers[r.Kind]
	if !known {
		r.fail("kind", "must be webhook, smtp, slack, mattermost or teams")
		return
	}
	for pair := range slices.Chunk(n.Content, 2) {
		r.checkMember(pair[0].Value, slices.Concat(commonMembers, of))
	}
	c := r.channel()
	switch r.Kind {
	case "webhook":
		c.to = r.webhook()
	case "smtp":
		c.to = r.mailbox()
	default:
		c.to, c.Cards = r.chat(), true
	}
	if len(f.wrong) == mistakes {
		r.try(c)
	}
	f.channels = append(f.channels, c)
}

// checkMember notes a member that a channel of the kind does not have.
func (r *channelReader) checkMember(member string, all []string) {
	switch {
	case slices.Contains(all, member):
	case slices.ContainsFunc(slices.Collect(maps.Values(kindMembers)), func(of []string) bool { return slices.Contains(of, member) }):
		r.fail(member, "is no member of a channel of kind %s", r.Kind)
	default:
		r.fail(member, "is no member of a channel%s: those are %s", opfile.Suggest(member, all), strings.Join(all, ", "))
	}
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// channel reads the members of every channel.
func (r *channelReader) channel() Channel {
	c := Channel{Channel: outbox.Channel{Name: r.Name, Tenants: r.Tenants, Principal: r.Principal, Groups: r.Groups}}
	switch {
	case !nameForm.MatchString(r.Name):
		r.fail("name", "must be 1 to 63 of a-z, 0-9 and -, as in ops-mail")
	case slices.ContainsFunc(r.channels, func(other Channel) bool { return other.Name == r.Name }):
		r.fail("name", "another channel has this name")
	}
	for _, when := range r.When {
		kind := outbox.NoticeKind(when)
		if !slices.Contains(outbox.NoticeKinds(), kind) {
			r.fail("when", "%q is no kind of notice: use opened, remind, escalate, reassign, expire, changed, decided", when)
		}
		c.When = append(c.When, kind)
	}
	if strings.HasPrefix(r.Principal, opt.OwnNames) {
		r.fail("principal", "names that begin with %s are the server's own", opt.OwnNames)
	}
	if len(r.Tenants) == 0 && (r.Principal != "" || len(r.Groups) > 0) {
		r.fail("tenants", "is required beside principal or groups, which belong to a tenant; without other settings the tenant is default")
	}
	return c
}

// expand replaces ${NAME} by the value of a variable.
func (r *channelReader) expand(member, text string) string {
	filled, _, wrong := r.env.Expand(text)
	for _, err := range wrong {
		r.fail(member, "%v", err)
	}
	return filled
}

// template reads a template, or its default.
func (r *channelReader) template(member, text, fallback string) *template.Template {
	t, err := template.New(member).Funcs(functions).Option("missingkey=error").Parse(cmp.Or(text, fallback))
	if err != nil {
		r.fail(member, "%v", err)
	}
	return t
}

func (r *channelReader) webhook() webhook {
	filled := r.env.Headers(r.Headers, "User-Agent", "X-Longhaul-*")
	w := webhook{url: r.expand("url", r.URL), headers: filled.Headers, media: r.ContentType}
	if !opfile.IsURL(w.url) {
		r.fail("url", "must be the URL of a webhook, such as https://hooks.example.com/x") // the value may be a secret
	} else if r.allowed != nil {
		if err := r.allowed(w.url); err != nil {
			r.fail("url", "%v", err)
		}
	}
	for _, err := range filled.Wrong {
		if errors.Is(err, opfile.ErrOwn) {
			err = fmt.Errorf("%w; contentType is a member of the channel", err)
		}
		r.fail("headers", "%v", err)
	}
	w.media = cmp.Or(w.media, "application/json")
	if !httpguts.ValidHeaderFieldValue(w.media) {
		r.fail("contentType", "cannot be a header")
	}
	if r.Template != "" {
		w.body = r.template("template", r.Template, "")
	}
	return w
}

func (r *channelReader) mailbox() mailbox {
	m := mailbox{
		encryption: encryption(r.TLS), user: r.expand("user", r.User), password: r.expand("password", r.Password), from: r.From, to: r.To,
		subject: r.template("subject", r.Subject, defaultSubject), text: r.template("text", r.Text, defaultText),
	}
	r.server(&m)
	if _, err := mail.ParseAddress(r.From); err != nil {
		r.fail("from", "must be an address, such as Longhaul <longhaul@example.com>")
	}
	for _, to := range r.To {
		if _, err := mail.ParseAddress(to); err != nil {
			r.fail("to", "%q is not an address", to)
		}
	}
	if len(r.To) == 0 {
		r.fail("to", "is required: a list of addresses")
	}
	if (m.user == "") != (m.password == "") {
		r.fail("user", "user and password belong together: set both or none")
	}
	return m
}

// server reads where the server is, and how the connection is encrypted.
func (r *channelReader) server(m *mailbox) {
	host, port, err := net.SplitHostPort(r.expand("server", r.Server))
	if m.port, _ = strconv.Atoi(port); err != nil || host == "" || m.port <= 0 || m.port > 65535 {
		r.fail("server", "must be host:port, such as smtp.example.com:587")
	}
	m.server = host
	switch m.encryption {
	case startTLS, fullTLS:
	case plain:
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !r.Insecure {
			r.fail("tls", "none sends everything readable over the network: use starttls or tls, or insecure: true if the network is protected")
		}
	case "":
		if m.encryption = startTLS; m.port == 465 {
			m.encryption = fullTLS
		}
	default:
		r.fail("tls", "must be starttls, tls or none")
	}
}

// try executes the templates of c with examples of notices.
func (r *channelReader) try(c Channel) {
	for _, d := range examples() {
		if len(c.When) > 0 && !slices.Contains(c.When, d.Notice) {
			continue
		}
		if err := c.to.check(d); err != nil {
			member := "template"
			if of, ok := errors.AsType[template.ExecError](err); ok {
				member = of.Name
			}
			r.fail(member, "it cannot show a notice of kind %s about a gate of kind %s: %v", d.Notice, d.Interrupt.Kind, err)
			return
		}
	}
}
