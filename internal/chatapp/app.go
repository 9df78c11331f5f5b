// Package chatapp is what both sides of a chat platform share: the worker, which posts a card
// for each gate, and the API, which takes what people press. An [App] says where the platform
// is, with which secrets, and who its people are; [App.Call] calls it; a [Press] is what a
// button of a card means.
package chatapp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"longhaul/internal/egress"
)

// A Kind is a chat platform.
type Kind string

// The kinds of apps.
const (
	Slack      Kind = "slack"
	Mattermost Kind = "mattermost"
	Teams      Kind = "teams"
)

// Kinds returns all kinds of apps.
func Kinds() []Kind { return []Kind{Slack, Mattermost, Teams} }

// Path is the path at which the API takes what people press, before the kind of the app.
const Path = "/chat/"

// An App is a bot at a chat platform, for one channel there.
type App struct {
	Kind    Kind
	Name    string // of the channel in the operator's file
	Tenant  string // whose gates it shows, and whose people press
	URL     string // of the platform, without a slash at the end
	Token   string // secret: the platform's, by which we call it; "" for Teams, which grants one for a while
	Secret  string // proves that a request is from the platform; of Teams, that we are the bot
	Room    string // the channel's id at the platform
	People  []Person
	Domains []string // a person with a confirmed address there is the principal with that address
	Bot     *Bot     // of Teams; nil for other kinds
}

// A Person is a principal as a platform knows it.
type Person struct {
	Principal string   `yaml:"principal"`
	Groups    []string `yaml:"groups"`
	Email     string   `yaml:"email"` // confirmed by the platform
	Account   string   `yaml:"account"`
}

// An Account is a person as the platform describes it. Names that people choose for
// themselves are no part of it.
type Account struct {
	ID    string
	Email string // "" if the platform has not confirmed it
}

// Find returns the principal of an account; ok is false for one that is not known.
func (a App) Find(of Account) (Person, bool) {
	for _, p := range a.People {
		if p.Account != "" && p.Account == of.ID || p.Email != "" && strings.EqualFold(p.Email, of.Email) {
			return p, true
		}
	}
	_, domain, _ := strings.Cut(of.Email, "@")
	for _, d := range a.Domains {
		if domain != "" && strings.EqualFold(d, domain) {
			return Person{Principal: strings.ToLower(of.Email)}, true
		}
	}
	return Person{}, false
}

// A Sender sends a request. [egress.Client] is one.
type Sender interface {
	Do(ctx context.Context, r *http.Request) (*http.Response, error)
}

// MostAnswer is the size of an answer in bytes: a list of keys is the largest.
const MostAnswer = 1 << 20

// longestWait is the most that a platform may ask for before the next request.
const longestWait = time.Hour

// A Failure is a request that the platform has refused.
type Failure struct {
	Status int           // of HTTP
	Code   string        // that the platform gives to the error; "" for none. It may be any text
	After  time.Duration // before the next request; 0 if the platform does not say
}

func (f *Failure) Error() string { return fmt.Sprintf("the platform answered %d %q", f.Status, f.Code) }

// Call sends body as JSON to the platform, and reads the answer into into unless that is nil. What
// to call is a method and a path, such as "POST /api/views.open". The error is a [*Failure], or
// that of the sender.
func (a App) Call(ctx context.Context, by Sender, what string, body, into any) error {
	method, path, _ := strings.Cut(what, " ")
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("write a request to %s: %w", a.Kind, err)
		}
		content = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.URL+path, content)
	if err != nil {
		return fmt.Errorf("make a request to %s", a.Kind) // the cause has the URL
	}
	token, err := a.token(ctx, by)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	r.Header.Set("Authorization", "Bearer "+token)
	text, wait, err := exchange(by, r)
	if err != nil {
		return err
	}
	if a.Kind == Slack {
		if code, ok := slackOutcome(text); !ok {
			return &Failure{Status: http.StatusOK, Code: code, After: wait}
		}
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read an answer of %s: %w", a.Kind, err)
	}
	return nil
}

func (a App) token(ctx context.Context, by Sender) (string, error) {
	if a.Bot == nil {
		return a.Token, nil
	}
	return a.Bot.token(ctx, by, a.Secret)
}

// slackOutcome returns whether Slack has done what it answers, and else why not.
func slackOutcome(text []byte) (code string, ok bool) {
	var outcome struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
	}
	err := json.Unmarshal(text, &outcome)
	return outcome.Error, err == nil && outcome.OK
}

// exchange sends a request. It returns the answer, and how long the platform asks to wait before the
// next request.
func exchange(by Sender, r *http.Request) (text []byte, wait time.Duration, err error) {
	r.Header.Set("User-Agent", "Longhaul")
	answer, err := by.Do(r.Context(), r)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(io.LimitReader(answer.Body, MostAnswer)); err != nil {
		return nil, 0, fmt.Errorf("read an answer of a chat platform: %w", err)
	}
	wait, _ = egress.RetryAfter(answer.Header, longestWait)
	if answer.StatusCode/100 != 2 {
		return nil, 0, &Failure{Status: answer.StatusCode, Code: codeIn(text), After: wait}
	}
	return text, wait, nil
}

// codeIn returns the code of an error of Mattermost or Teams.
func codeIn(text []byte) string {
	var e struct {
		ID    string `json:"id"`
		Error struct {
			Code string `json:"code"`
		} `json:"error"`
	}
	_ = json.Unmarshal(text, &e) // none
	return cmp.Or(e.ID, e.Error.Code)
}

// FailureOf returns the failure that err is; ok is false for other errors.
func FailureOf(err error) (*Failure, bool) {
	return errors.AsType[*Failure](err)
}

// Account returns the person with an id at the platform.
func (a App) Account(ctx context.Context, by Sender, id string) (Account, error) {
	for _, p := range a.People {
		if p.Account == id {
			return Account{ID: id}, nil // no address is needed
		}
	}
	switch a.Kind {
	case Mattermost:
		return a.mattermostAccount(ctx, by, id)
	case Teams:
		return a.Bot.account(ctx, by, a, id)
	}
	return a.slackAccount(ctx, by, id)
}

// mattermostAccount returns a person of Mattermost.
func (a App) mattermostAccount(ctx context.Context, by Sender, id string) (Account, error) {
	var u struct {
		ID        string `json:"id"`
		Email     string `json:"email"`
		Verified  bool   `json:"email_verified"`
		DeletedAt int64  `json:"delete_at"`
		Bot       bool   `json:"is_bot"`
	}
	if err := a.Call(ctx, by, "GET /api/v4/users/"+url.PathEscape(id), nil, &u); err != nil {
		return Account{}, err
	}
	if u.ID != id || u.DeletedAt != 0 || u.Bot || !u.Verified {
		return Account{ID: id}, nil
	}
	return Account{ID: id, Email: u.Email}, nil
}
