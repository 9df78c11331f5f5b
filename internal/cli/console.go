package cli

import (
	"net/url"
	"strings"

	"go.uber.org/zap"

	"longhaul/api"
	"longhaul/api/console"
	"longhaul/api/identity"
	apiservice "longhaul/api/service"
)

// consolePages returns the pages for people, nil for none. base is the URL of the server.
func consolePages(s *service, cfg apiSettings, operations *apiservice.Service, who authority, base string) api.Console {
	if cfg.NoConsole {
		return nil
	}
	base = strings.TrimSuffix(base, "/")
	pages := console.Config{
		Service: operations, Authenticate: who.Authenticate, NoKeys: !cfg.accepts(authKeys), Secure: strings.HasPrefix(base, "https://"), Now: s.build.Now, Log: s.log.Named("console"),
	}
	if cfg.accepts(authKeys) || cfg.OIDCClientID != "" {
		pages.Sessions = s.journal.Sessions
	}
	if a, ok := who.(*identity.Authenticator); ok && cfg.OIDCClientID != "" {
		pages.Provider, pages.ProviderName, pages.Sealer = a.SignIn(cfg.providerClient(base)), hostOf(cfg.OIDCIssuer), s.sealer
		s.log.Info("People sign in to the console with the OpenID Connect provider, which has to know these URLs of the client",
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
