package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"longhaul/api/card"
	"longhaul/internal/test"
)

func (s *fixture) get(t *testing.T, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return s.serve(t, http.MethodGet, path, "", headers...)
}

func TestCard_notModified(t *testing.T) {
	s := newService(t)
	const path = "/.well-known/agent-card.json"
	tag := s.get(t, path).Header().Get("ETag")
	for value, want := range map[string]int{
		tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, "": 200,
	} {
		w := s.get(t, path, "If-None-Match", value)
		if w.Code != want || (w.Body.Len() > 0) != (want == 200) {
			t.Errorf("If-None-Match %q: status %d with %d bytes, want %d", value, w.Code, w.Body.Len(), want)
		}
	}
	if w := s.get(t, path, "If-None-Match", tag, "A2A-Version", "1.0"); w.Code != 200 {
		t.Error("the card of 1.0 has the tag of the other")
	}
}

func TestCard_notModifiedSince(t *testing.T) {
	s := newService(t)
	for value, want := range map[string]int{
		"Sun, 01 Mar 2026 09:30:00 GMT": 304, "Mon, 02 Mar 2026 09:30:00 GMT": 304, "Sun, 01 Mar 2026 09:29:59 GMT": 200, "yesterday": 200, "": 200,
	} {
		test.Is(t, fmt.Sprintf("If-Modified-Since %q: status", value), want, s.get(t, "/.well-known/agent-card.json", "If-Modified-Since", value).Code)
	}
	w := s.get(t, "/.well-known/agent-card.json", "If-Modified-Since", "Mon, 02 Mar 2026 09:30:00 GMT", "If-None-Match", `"x"`)
	if w.Code != 200 {
		t.Error("the time counts more than the tag")
	}
}

// The card needs no credentials, and agrees with the calls.
func TestCard_isPublicAndTrue(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Card.OPTRequired = true
		c.Card.InputModes, c.Card.OutputModes = []string{"image/*"}, []string{"text/html"}
	})
	card := parse(t, s.get(t, "/.well-known/agent-card.json", "Authorization", "Bearer nobody").Body.Bytes())
	if card.at("defaultInputModes", "0").String() != "image/*" || card.at("defaultOutputModes", "0").String() != "text/html" {
		t.Errorf("modes are %v", card)
	}
	extension := card.at("capabilities", "extensions", "0")
	if extension.at("required").String() != "true" {
		t.Errorf("extension is %v", extension)
	}
	wantCode(t, s.call(t, "GetTask", `{"id":"x"}`), "-32008")
	if card.at("capabilities", "pushNotifications").String() != "false" {
		t.Error("the card promises push")
	}
}

// When skills change, the cards change, and clients with an old card get the new
// one.
func TestServer_SetSkills(t *testing.T) {
	now := start
	s := newService(t, func(c *config) {
		c.Now = func() time.Time { return now }
		c.Extended = &card.Info{Name: "More"}
	})
	const path = "/.well-known/agent-card.json"
	versions := map[string][]string{"both": nil, "1.0": {"A2A-Version", "1.0"}}
	tags := map[string]string{}
	for name, header := range versions {
		tags[name] = s.get(t, path, header...).Header().Get("ETag")
	}
	check := func(when, skill string, changed bool, since time.Time) {
		t.Helper()
		for name, header := range versions {
			w := s.get(t, path, append([]string{"If-None-Match", tags[name]}, header...)...)
			if (w.Code == 200) != changed || changed && parse(t, w.Body.Bytes()).at("skills", "0", "id").String() != skill {
				t.Errorf("%s, card of %s: status %d, %s", when, name, w.Code, w.Body)
			}
			test.Is(t, fmt.Sprintf("%s, card of %s is of", when, name), since.Format(http.TimeFormat), w.Header().Get("Last-Modified"))
		}
		test.Is(t, when+": the extended card has", skill, s.call(t, "GetExtendedAgentCard", `{}`).at("result", "skills", "0", "id").String())
	}
	check("at first", "plan", false, start)
	now = start.Add(time.Hour)
	s.SetSkills([]card.Skill{{ID: "plan", Name: "Plan", Description: "Breaks an objective into plans and tasks"}})
	check("after the same", "plan", false, start)
	s.SetSkills([]card.Skill{{ID: "cook", Name: "Cook", Description: "Cooks"}})
	check("after another", "cook", true, now)
}

// With private skills the card has one general skill, and the extended card has
// all of them, also after they have changed.
func TestCard_privateSkills(t *testing.T) {
	s := newService(t, func(c *config) {
		c.Card.PrivateSkills = true
		extended := c.Card
		extended.Skills = nil
		c.Extended = &extended
	})
	for _, name := range []string{"plan", "other"} {
		public := parse(t, s.get(t, "/.well-known/agent-card.json", "A2A-Version", "1.0").Body.Bytes())
		if ids := public.at("skills"); len(ids.v.([]any)) != 1 || ids.at("0", "id").String() != "objectives" {
			t.Errorf("skills of the card: %v", ids)
		}
		for version, method := range map[string]string{"1.0": "GetExtendedAgentCard", "0.3": "agent/getAuthenticatedExtendedCard"} {
			test.Is(t, fmt.Sprintf("skill of the extended card in %s", version), name, s.callIn(t, version, method, "{}").at("result", "skills", "0", "id").String())
			wantCode(t, s.callIn(t, version, method, "{}", "Authorization", "Bearer anonymous"), "-32000")
		}
		s.SetSkills([]card.Skill{{ID: "other"}})
	}
}

// The cards of 1.0 are signed, also the extended one, as they are; the others are not. A card is
// signed again after five minutes, and keeps its tag and time while its signature is the same.
func TestCard_signed(t *testing.T) {
	now, key, fail := start, "first", error(nil)
	s := newService(t, func(c *config) {
		c.Now = func() time.Time { return now }
		c.Extended = &card.Info{Name: "More"}
		c.SignCard = func(_ context.Context, body []byte) ([]card.Signature, error) {
			var signed struct {
				Name       string
				Signatures any
			}
			if err := json.Unmarshal(body, &signed); err != nil || signed.Signatures != nil {
				t.Errorf("signed %s, %v", body, err)
			}
			return []card.Signature{{Protected: signed.Name, Signature: key}}, fail
		}
	})
	const path = "/.well-known/agent-card.json"
	signature := func(n node) string { return n.at("protected").String() + " by " + n.at("signature").String() }
	test.Is(t, "the extended card", "More by first", signature(s.call(t, "GetExtendedAgentCard", `{}`).at("result", "signatures", "0")))
	for name, unsigned := range map[string]string{
		"the union": s.get(t, path).Body.String(), "the extended card of 0.3": s.callIn(t, "0.3", "agent/getAuthenticatedExtendedCard", "{}").String(),
	} {
		if strings.Contains(unsigned, "signature") {
			t.Errorf("%s is signed: %s", name, unsigned)
		}
	}
	check := func(when, want string, changed bool, tag string) string {
		t.Helper()
		w := s.get(t, path, "A2A-Version", "1.0")
		test.Is(t, when, want, signature(parse(t, w.Body.Bytes()).at("signatures", "0")))
		if got := w.Header().Get("ETag"); tag != "" && (got != tag) != changed {
			t.Errorf("%s: tag %s after %s", when, got, tag)
		}
		if got := w.Header().Get("Last-Modified"); changed && got != now.Format(http.TimeFormat) || !changed && got != start.Format(http.TimeFormat) {
			t.Errorf("%s: of %s", when, got)
		}
		return w.Header().Get("ETag")
	}
	tag := check("at first", "Longhaul by first", false, "")
	now = now.Add(5 * time.Minute)
	check("by the same key", "Longhaul by first", false, tag)
	fail, key = errors.New("no keys"), ""
	now = now.Add(5 * time.Minute)
	check("without keys", "Longhaul by first", false, tag)
	fail, key = nil, "second"
	check("at once", "Longhaul by first", false, tag)
	now = now.Add(10 * time.Second)
	check("by another key", "Longhaul by second", true, tag)
}
