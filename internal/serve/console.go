package serve

import (
	"net/url"
	"strings"

	"go.uber.org/zap"

	"longhaul/api"
	"longhaul/api/console"
	"longhaul/api/identity"
)

// console returns the pages for people, nil for none.
func (a *apiServer) console() api.Console {
	cfg := a.settings
	if cfg.NoConsole {
		return nil
	}
	base := strings.TrimSuffix(a.listeners.url, "/")
	pages := console.Config{
		Service: a.operations, Authenticate: a.authority.Authenticate, NoKeys: !cfg.accepts(authKeys), Secure: strings.HasPrefix(base, "https://"), Now: a.host.build.Now, Log: a.host.log.Named("console"),
	}
	if cfg.accepts(authKeys) || cfg.OIDCClientID != "" {
		pages.Sessions = a.store.journal
	}
	if who, ok := a.authority.(*identity.Authenticator); ok && cfg.OIDCClientID != "" {
		pages.Provider, pages.ProviderName, pages.Sealer = who.SignIn(cfg.providerClient(base)), hostOf(cfg.OIDCIssuer), a.store.box
		a.host.log.Info("People sign in to the console with the OpenID Connect provider, which has to know these URLs of the client",
			zap.String("redirect", base+console.CallbackPath), zap.String("signedOut", base+console.SignedOutPath))
	}
	return console.New(pages)
}

// providerClient returns this server as the provider knows it. base is its URL.
func (s authSettings) providerClient(base string) identity.Client {
	return identity.Client{
		ID: s.OIDCClientID, Secret: string(s.OIDCClientSecret), Scopes: s.OIDCClientScopes,
		RedirectURL: base + console.CallbackPath, SignedOutURL: base + console.SignedOutPath,
	}
}

// hostOf returns the host of a URL, which names its server to people.
func hostOf(rawURL string) string {
	u, err := url.Parse(rawURL)
	if err != nil || u.Host == "" {
		return rawURL
	}
	return u.Host
}
