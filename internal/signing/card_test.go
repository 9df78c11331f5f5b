package signing_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"

	"longhaul/a2a/codec"
	"longhaul/internal/signing"
	"longhaul/internal/test"
)

const keysURL = "https://agent.example.com/.well-known/jwks.json"

// plainCard has the same canonical form for everyone. sparseCard has required members that
// are empty, which the SDKs leave out, and an optional one at its default, which all keep.
const (
	plainCard = `{"version":"1","name":"N","description":"D <&> é","supportedInterfaces":[{"url":"https://agent.example.com/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"capabilities":{"streaming":false,"extensions":[{"uri":"u","description":"E","required":true,"params":{"n":10,"b":1e30,"a":false}}]},"provider":{"organization":"O","url":"https://example.com"},
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"D","tags":["t"]}]}`
	sparseCard = `{"name":"N","description":"","version":"1","capabilities":{},"skills":[{"id":"s","name":"S","description":"D"}],"defaultInputModes":[],"defaultOutputModes":["text/plain"],
		"documentationUrl":"","securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header"}}},"securityRequirements":[{"schemes":{"key":{"list":[]}}}],
		"supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":""}],"unknown":1}`
)

// payload returns the payload about which a signature is, by finding the one of some texts for
// which it is valid.
func payload(t *testing.T, keys jose.JSONWebKeySet, s codec.CardSignature, texts ...string) string {
	t.Helper()
	for _, text := range texts {
		jws := test.Value(jose.ParseSignedCompact(s.Protected+"."+base64.RawURLEncoding.EncodeToString([]byte(text))+"."+s.Signature, []jose.SignatureAlgorithm{jose.ES256}))(t)
		if _, err := jws.Verify(keys.Key(jws.Signatures[0].Protected.KeyID)[0]); err == nil {
			return text
		}
	}
	return "none of the texts"
}

// The canonical forms, written out.
func TestKeeper_SignCard(t *testing.T) {
	k := signing.New(signing.Config{Store: newStore(t)})
	keys := publicKeys(t, k)
	for _, tt := range []struct {
		card string
		want []string
	}{
		{plainCard, []string{
			`{"capabilities":{"extensions":[{"description":"E","params":{"a":false,"b":1e+30,"n":10},"required":true,"uri":"u"}],"streaming":false},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"D <&> é","name":"N","provider":{"organization":"O","url":"https://example.com"},"skills":[{"description":"D","id":"s","name":"S","tags":["t"]}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/a2a"}],"version":"1"}`,
		}},
		{sparseCard, []string{
			`{"capabilities":{},"defaultInputModes":[],"defaultOutputModes":["text/plain"],"description":"","documentationUrl":"","name":"N","securityRequirements":[{"schemes":{"key":{}}}],"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":""}}},"skills":[{"description":"D","id":"s","name":"S","tags":[]}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"u"}],"version":"1"}`,
			`{"defaultOutputModes":["text/plain"],"name":"N","securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header"}}},"skills":[{"description":"D","id":"s","name":"S"}],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"u"}],"version":"1"}`,
		}},
	} {
		signatures := test.Value(k.SignCard(t.Context(), []byte(tt.card), keysURL))(t)
		var got []string
		for _, s := range signatures {
			got = append(got, payload(t, keys, s, tt.want...))
			header, err := base64.RawURLEncoding.DecodeString(s.Protected)
			want := fmt.Sprintf(`{"alg":"ES256","jku":%q,"kid":%q,"typ":"JOSE"}`, keysURL, keys.Keys[0].KeyID)
			if err != nil || string(header) != want {
				t.Errorf("header %s, %v, want %s", header, err, want)
			}
		}
		test.Equal(t, "signed", tt.want, got)
	}
	test.Fails(t, "a card that is none was signed", "", test.Err(k.SignCard(t.Context(), []byte(`{"skills":1}`), keysURL)))
}

// All processes show the same card until another key signs.
func TestKeeper_SignCard_same(t *testing.T) {
	c, store := &clock{began}, newStore(t)
	sign := func(k *signing.Keeper) []codec.CardSignature {
		t.Helper()
		out := test.Value(k.SignCard(t.Context(), []byte(plainCard), keysURL))(t)
		return out
	}
	one, other := signing.New(signing.Config{Store: store, Now: c.read}), signing.New(signing.Config{Store: store, Now: c.read})
	first := sign(one)
	test.Equal(t, "signatures of two processes", first, sign(other))
	c.now = began.Add(30*24*time.Hour + 2*time.Hour)
	sign(one) // makes another key
	c.now = c.now.Add(2 * time.Hour)
	if cmp.Equal(first, sign(one)) {
		t.Error("another key signs, and the signature is the same")
	}
}

// signedBy returns a card with its signatures.
func signedBy(t *testing.T, k *signing.Keeper, card string) string {
	t.Helper()
	signatures := test.Value(k.SignCard(t.Context(), []byte(card), keysURL))(t)
	list := test.Value(json.Marshal(signatures))(t)
	return strings.TrimSuffix(card, "}") + `,"signatures":` + string(list) + "}"
}

func TestVerifyCard(t *testing.T) {
	k := signing.New(signing.Config{Store: newStore(t)})
	keys := test.Value(k.PublicKeys(t.Context()))(t)
	strangers := test.Value(signing.New(signing.Config{Store: newStore(t)}).PublicKeys(t.Context()))(t)
	signed, sparse := signedBy(t, k, plainCard), signedBy(t, k, sparseCard)
	var own jose.JSONWebKeySet
	test.OK(t, json.Unmarshal(keys, &own))
	id, protected := own.Keys[0].KeyID, func(alg string) string {
		return base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"alg":%q,"kid":%q}`, alg, own.Keys[0].KeyID)))
	}
	for _, tt := range []struct{ name, keys, card, want string }{
		{"whole", string(keys), signed, ""},
		{"of members that are empty", string(keys), sparse, ""},
		{"with members of 0.3", string(keys), strings.Replace(signed, "{", `{"url":"https://evil.example.com",`, 1), ""},
		{"in another order, with unknown members", string(keys), strings.Replace(signed, `{"version":"1",`, `{"new":{"a":1},"version" : "1",`, 1), ""},
		{"another address", string(keys), strings.Replace(signed, "agent.example.com/a2a", "evil.example.com/a2a", 1), "no signature of the card is valid"},
		{"an optional member gone", string(keys), strings.Replace(signed, `"streaming":false,`, "", 1), "no signature of the card is valid"},
		{"another number", string(keys), strings.Replace(signed, `"n":10`, `"n":11`, 1), "no signature of the card is valid"},
		{"not signed", string(keys), plainCard, "the card has no signatures"},
		{"no card", string(keys), `{"signatures":[{"protected":"","signature":""}],"skills":1}`, "the card is not one of A2A 1.0"},
		{"none", string(keys), strings.TrimSuffix(plainCard, "}") + `,"signatures":[{"protected":"` + protected("none") + `","signature":""}]}`, "no signature of the card is valid"},
		{"a shared secret", string(keys), strings.TrimSuffix(plainCard, "}") + `,"signatures":[{"protected":"` + protected("HS256") + `","signature":"AAAA"}]}`, "no signature of the card is valid"},
		{"another installation", string(strangers), signed, `the card is signed with "` + id + `", which are not among the keys`},
		{"no keys", `{}`, signed, "these are no public keys"},
	} {
		got, err := signing.VerifyCard([]byte(tt.keys), []byte(tt.card))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got the error %v, want %q", tt.name, err, tt.want)
		}
		if strings.Contains(string(got), "evil") || (len(got) > 0) != (tt.want == "") {
			t.Errorf("%s: verified %s", tt.name, got)
		}
	}
}

// A card that has only the signature of one of the forms is accepted.
func TestVerifyCard_eitherForm(t *testing.T) {
	k := signing.New(signing.Config{Store: newStore(t)})
	keys := test.Value(k.PublicKeys(t.Context()))(t)
	signatures, err := k.SignCard(t.Context(), []byte(sparseCard), keysURL)
	if err != nil || len(signatures) != 2 {
		t.Fatalf("%d signatures, %v", len(signatures), err)
	}
	for i, has := range []bool{true, false} { // whether it has required members that are empty
		list := test.Value(json.Marshal(signatures[i : i+1]))(t)
		got, err := signing.VerifyCard(keys, []byte(strings.TrimSuffix(sparseCard, "}")+`,"signatures":`+string(list)+"}"))
		if err != nil || strings.Contains(string(got), `"tags":[]`) != has {
			t.Errorf("signature %d: %s, %v", i, got, err)
		}
	}
}
