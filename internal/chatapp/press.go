package chatapp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// A Press is what a button means: an action at a gate, about the object that its card showed.
type Press struct {
	Channel string `json:"c"` // [App.Name]
	Gate    string `json:"g"`
	Digest  string `json:"d,omitempty"` // of the object
	Action  string `json:"a"`
	Room    string `json:"r,omitempty"` // of a dialog: where refusals are shown
	By      string `json:"b,omitempty"` // of a dialog: the only account that may send it; "" for any
}

// Answer is the action of a button that opens the questions of a gate.
const Answer = "answer"

// Dialog reports whether p opens a dialog.
func (p Press) Dialog() bool { return p.Action == Answer || p.Action == "refine" || p.Action == "ask" }

// Text returns p for a platform that signs its requests.
func (p Press) Text() string {
	raw, _ := json.Marshal(p) // texts alone
	return string(raw)
}

// ReadPress reads what [Press.Text] returns.
func ReadPress(text string) (p Press, ok bool) {
	return p, json.Unmarshal([]byte(text), &p) == nil && p.Gate != ""
}

// Sign returns a token with p, signed with the secret of a, for a platform that does not sign
// its requests. People may see only those tokens that have their own account.
func (a App) Sign(p Press) string {
	text := base64.RawURLEncoding.EncodeToString([]byte(p.Text()))
	return text + "." + a.mac(text)
}

// Verify reads what [App.Sign] returns.
func (a App) Verify(token string) (Press, bool) {
	text, mac, _ := strings.Cut(token, ".")
	if !hmac.Equal([]byte(a.mac(text)), []byte(mac)) {
		return Press{}, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return Press{}, false
	}
	p, ok := ReadPress(string(raw))
	return p, ok && p.Channel == a.Name
}

// mac returns the signature of a text. The prefix keeps it apart from messages of other protocols.
func (a App) mac(text string) string {
	h := hmac.New(sha256.New, []byte(a.Secret))
	h.Write([]byte("longhaul press " + text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
