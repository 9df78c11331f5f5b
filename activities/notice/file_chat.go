package notice

import (
	"cmp"
	"net/mail"
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
	if app.Kind == chatapp.Slack {
		app.URL = cmp.Or(app.URL, "https://slack.com")
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
	if !opfile.IsURL(app.URL) {
		r.fail("url", "must be the URL of the server, such as https://chat.example.com")
	} else if r.allowed != nil {
		if err := r.allowed(app.URL); err != nil {
			r.fail("url", "%v", err)
		}
	}
	for member, value := range map[string]string{"token": app.Token, "secret": app.Secret, "channel": app.Room} {
		if value == "" {
			r.fail(member, "is required")
		}
	}
	if n := len(app.Secret); n > 0 && n < shortestSecret {
		r.fail("secret", "has %d characters and needs at least %d", n, shortestSecret)
	}
	r.people(app)
	if app.Kind == chatapp.Mattermost {
		return chat{app, mattermost{app}}
	}
	return chat{app, slack{app}}
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
		switch {
		case p.Principal == "" || strings.HasPrefix(p.Principal, opt.OwnNames):
			r.fail("people", "each needs a principal that does not begin with %s", opt.OwnNames)
		case p.Email == "" && p.Account == "":
			r.fail("people", "%s needs an email or an account", p.Principal)
		}
		if _, err := mail.ParseAddress(p.Email); p.Email != "" && err != nil {
			r.fail("people", "the email of %s is no address", p.Principal)
		}
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
