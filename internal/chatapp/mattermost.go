package chatapp

import (
	"context"
	"net/http"
	"net/url"
)

// mattermostAccount returns a person of Mattermost.
func (a App) mattermostAccount(ctx context.Context, by Sender, id string) (Account, error) {
	var u struct {
		ID        string `json:"id"`
		Email     string `json:"email"`
		Verified  bool   `json:"email_verified"`
		DeletedAt int64  `json:"delete_at"`
		Bot       bool   `json:"is_bot"`
	}
	if err := a.Call(ctx, by, http.MethodGet, "/api/v4/users/"+url.PathEscape(id), nil, &u); err != nil {
		return Account{}, err
	}
	if u.ID != id || u.DeletedAt != 0 || u.Bot || !u.Verified {
		return Account{ID: id}, nil
	}
	return Account{ID: id, Email: u.Email}, nil
}
