package notice

import (
	"cmp"
	"net/mail"
	"slices"
	"strings"

	"longhaul/internal/chatapp"
	"longhaul/internal/opfile"
	"longhaul/opt"
)

// chat reads the members of a channel at a chat platform.
func (r *channelReader) chat() chat {
	app := chatapp.App{
		Kind: chatapp.Kind(r.Kind), Name: r.Name, URL: strings.TrimSuffix(r.expand("url", r.URL), "/"), Token: r.expand("token", r.Token),
		Secret: r.expand("secret", r.Secret), Room: r.expand("channel", r.Channel), People: r.People, Domains: r.Domains,
	}
	required := map[string]string{"token": app.Token, "secret": app.Secret, "channel": app.Room}
	switch app.Kind {
	case chatapp.Slack:
		app.URL = cmp.Or(app.URL, "https://slack.com")
	case chatapp.Teams:
		app.Bot = r.bot()
		delete(required, "token")
		required["app"] = app.Bot.ID
	}
	if len(r.Tenants) == 1 {
		app.Tenant = r.Tenants[0]
	} else {
		r.fail("tenants", "must name one: people who press are principals of it; without other settings the tenant is default")
	}
	if r.Principal != "" {
		r.fail("principal", "is no member of a channel with cards, which each reader answers as himself: see people")
	}
	if len(r.When) > 0 {
		r.fail("when", "is no member of a channel with cards, which show every change")
	}
	r.reachable("url", app.URL)
	for member, value := range required {
		if value == "" {
			r.fail(member, "is required")
		}
	}
	if n := len(app.Secret); n > 0 && n < shortestSecret {
		r.fail("secret", "has %d characters and needs at least %d", n, shortestSecret)
	}
	r.people(app)
	switch app.Kind {
	case chatapp.Mattermost:
		return chat{app, mattermost{app}}
	case chatapp.Teams:
		return chat{app, teams{app}}
	}
	return chat{app, slack{app}}
}

// bot reads how Teams knows the bot, and where its tokens are from.
func (r *channelReader) bot() *chatapp.Bot {
	b := &chatapp.Bot{
		ID: r.expand("app", r.App), Directory: cmp.Or(r.expand("directory", r.Directory), chatapp.TeamsDirectory),
		Login: strings.TrimSuffix(cmp.Or(r.Login, chatapp.TeamsLogin), "/"), Keys: cmp.Or(r.Keys, chatapp.TeamsKeys),
	}
	r.reachable("login", b.Login)
	r.reachable("keys", b.Keys)
	addresses := slices.ContainsFunc(r.People, func(p chatapp.Person) bool { return p.Email != "" })
	if b.Directory == chatapp.TeamsDirectory && (addresses || len(r.Domains) > 0) {
		r.fail("directory", "is required beside an email or domains: the addresses of its members alone are confirmed")
	}
	return b
}

// reachable checks the URL of a server.
func (r *channelReader) reachable(member, rawURL string) {
	if !opfile.IsURL(rawURL) {
		r.fail(member, "must be the URL of the server, such as https://chat.example.com")
	} else if r.allowed != nil {
		if err := r.allowed(rawURL); err != nil {
			r.fail(member, "%v", err)
		}
	}
}

// shortestSecret is the least number of characters of a secret. Those of Slack have 32.
const shortestSecret = 16

// people checks who may press.
func (r *channelReader) people(app chatapp.App) {
	if len(app.People)+len(app.Domains) == 0 {
		r.fail("people", "is required, or domains: without both no one can answer")
	}
	known := map[string]bool{}
	for _, p := range app.People {
		r.person(p)
		for _, id := range []string{"email " + strings.ToLower(p.Email), "account " + p.Account} {
			if known[id] && !strings.HasSuffix(id, " ") {
				r.fail("people", "two have the %s", id)
			}
			known[id] = true
		}
	}
	for _, d := range app.Domains {
		if d == "" || strings.ContainsAny(d, "@ ") {
			r.fail("domains", "%q is no domain, such as example.com", d)
		}
	}
}

func (r *channelReader) person(p chatapp.Person) {
	switch {
	case p.Principal == "" || strings.HasPrefix(p.Principal, opt.OwnNames):
		r.fail("people", "each needs a principal that does not begin with %s", opt.OwnNames)
	case p.Email == "" && p.Account == "":
		r.fail("people", "%s needs an email or an account", p.Principal)
	}
	if _, err := mail.ParseAddress(p.Email); p.Email != "" && err != nil {
		r.fail("people", "the email of %s is no address", p.Principal)
	}
}
