package chatapp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// Where Microsoft has what a [Bot] needs, unless an operator names other places.
const (
	TeamsLogin     = "https://login.microsoftonline.com"
	TeamsDirectory = "botframework.com" // of bots that are registered for several directories
	TeamsKeys      = "https://login.botframework.com/v1/.well-known/openidconfiguration"
)

// What tokens of the Bot Framework say.
const (
	botScope  = "https://api.botframework.com/.default"
	botIssuer = "https://api.botframework.com" // also for bots of one directory: the issuers of directories are for emulators and other bots
	channelID = "msteams"
)

// A Bot is an app that is registered with the Bot Framework. It is safe for concurrent use, and is not
// copied after its first use.
type Bot struct {
	ID        string // of the app
	Directory string // the tenant of Entra ID whose members have confirmed addresses; [TeamsDirectory] for none
	Login     string // URL of the service that grants tokens, without a slash at the end
	Keys      string // URL of the metadata that say where the keys of the Bot Framework are

	mu      sync.Mutex
	granted *oauth2.Token  // nil before the first call
	keys    map[string]any // by id: those that sign activities of Teams
	read    time.Time      // when the keys were read, or could not be
	failed  error          // of the last reading
}

// token returns a token for calls to the platform, which is kept as long as it is valid.
func (b *Bot) token(ctx context.Context, by Sender, secret string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.granted.Valid() {
		return b.granted.AccessToken, nil
	}
	login := clientcredentials.Config{
		ClientID: b.ID, ClientSecret: secret, TokenURL: b.Login + "/" + url.PathEscape(b.Directory) + "/oauth2/v2.0/token", Scopes: []string{botScope},
		AuthStyle: oauth2.AuthStyleInParams,
	}
	granted, err := login.Token(context.WithValue(ctx, oauth2.HTTPClient, &http.Client{Transport: transport{by}}))
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return "", &Failure{Status: refused.Response.StatusCode, Code: refused.ErrorCode}
	}
	if err != nil {
		return "", err
	}
	b.granted = granted
	return granted.AccessToken, nil
}

// A transport sends the requests of an [http.Client].
type transport struct{ by Sender }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t.by.Do(r.Context(), r) }

// An Activity is what Teams sends to a bot.
type Activity struct {
	Type       string    `json:"type"`
	Name       string    `json:"name"`
	ID         string    `json:"id"`
	Channel    string    `json:"channelId"`
	ServiceURL string    `json:"serviceUrl"`
	Timestamp  time.Time `json:"timestamp"`
	From       struct {
		Object string `json:"aadObjectId"` // the account of a person
	} `json:"from"`
	Value json.RawMessage `json:"value"`
}

// PressMember is the member of the data of a button that has its press.
const PressMember = "longhaul"

// AdaptiveCard returns an attachment with a card.
func AdaptiveCard(body, actions []any) map[string]any {
	return map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": map[string]any{
		"type": "AdaptiveCard", "$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "version": "1.5", "body": body, "actions": actions,
	}}
}

// RichText returns a block with a text as it is written: a TextBlock would read Markdown in it. The
// style is that of a TextRun.
func RichText(text string, style map[string]any) any {
	run := map[string]any{"type": "TextRun", "text": text}
	maps.Copy(run, style)
	return map[string]any{"type": "RichTextBlock", "inlines": []any{run}}
}

// ErrNoKeys is the error of a token that cannot be judged now.
var ErrNoKeys = errors.New("the keys of the Bot Framework cannot be read")

var errToken = errors.New("the token is not from the Bot Framework for this app, or is not for this activity")

// Verify returns an error unless the token in a header shows that the activity is from Teams, for this
// bot, and of the last five minutes. The token does not cover the content, which TLS protects.
func (b *Bot) Verify(ctx context.Context, by Sender, h http.Header, in Activity, now time.Time) error {
	text, bearer := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil || !bearer {
		return errToken
	}
	var said jwt.Claims
	var more struct {
		ServiceURL string `json:"serviceurl"`
	}
	expected := jwt.Expected{Issuer: botIssuer, AnyAudience: jwt.Audience{b.ID}, Time: now}
	if err := token.UnsafeClaimsWithoutVerification(&said); err != nil || said.Expiry == nil || said.ValidateWithLeeway(expected, signedFor) != nil {
		return errToken // before keys are read for it
	}
	key, err := b.key(ctx, by, token.Headers[0].KeyID, now)
	if err != nil {
		return err
	}
	age := now.Sub(in.Timestamp)
	if token.Claims(key, &more) != nil || more.ServiceURL != in.ServiceURL || in.Channel != channelID || age > signedFor || age < -signedFor {
		return errToken
	}
	return nil
}

const (
	keysFor   = time.Hour        // after which keys are read again, so that one that was withdrawn is not accepted
	keysRetry = 10 * time.Second // the least time between two readings: anyone can name an unknown key
	keysWait  = 5 * time.Second
)

// key returns a key by its id. While the keys cannot be read again, those from before hold.
func (b *Bot) key(ctx context.Context, by Sender, id string, now time.Time) (any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if age := now.Sub(b.read); age > keysFor || b.keys[id] == nil && age > keysRetry {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keysWait) // they are for other requests, too
		defer cancel()
		var keys map[string]any
		b.read = now
		if keys, b.failed = readKeys(ctx, by, b.Keys); b.failed == nil {
			b.keys = keys
		} else if b.keys != nil {
			b.read = now.Add(keysRetry - keysFor)
		}
	}
	switch key := b.keys[id]; {
	case key != nil:
		return key, nil
	case b.failed != nil:
		return nil, fmt.Errorf("%w: %w", ErrNoKeys, b.failed)
	}
	return nil, errToken
}

// readKeys reads those keys that metadata name which are endorsed for Teams.
func readKeys(ctx context.Context, by Sender, metadata string) (map[string]any, error) {
	var about struct {
		Keys string `json:"jwks_uri"`
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := get(ctx, by, metadata, &about); err != nil {
		return nil, err
	}
	if err := get(ctx, by, about.Keys, &set); err != nil {
		return nil, err
	}
	keys := map[string]any{}
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		var of struct {
			Endorsements []string `json:"endorsements"`
		}
		if k.UnmarshalJSON(raw) == nil && k.IsPublic() && json.Unmarshal(raw, &of) == nil && slices.Contains(of.Endorsements, channelID) {
			keys[k.KeyID] = k.Key
		}
	}
	return keys, nil
}

// get reads a public document.
func get(ctx context.Context, by Sender, from string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return err
	}
	text, _, err := exchange(by, r)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// account returns a person in the room of an app. Only members of the directory itself have a confirmed
// address: those of guests are confirmed elsewhere.
func (b *Bot) account(ctx context.Context, by Sender, a App, id string) (Account, error) {
	var u struct {
		Object    string `json:"aadObjectId"`
		OldObject string `json:"objectId"`
		Directory string `json:"tenantId"`
		Role      string `json:"userRole"`
		Email     string `json:"email"`
	}
	err := a.Call(ctx, by, "GET /v3/conversations/"+url.PathEscape(a.Room)+"/members/"+url.PathEscape(id), nil, &u)
	if f, ok := FailureOf(err); ok && f.Status == http.StatusNotFound {
		return Account{ID: id}, nil
	}
	if err != nil {
		return Account{}, err
	}
	if (u.Object != id && u.OldObject != id) || !strings.EqualFold(u.Directory, b.Directory) || u.Role != "user" {
		return Account{ID: id}, nil
	}
	return Account{ID: id, Email: u.Email}, nil
}
