package a2a_test

import (
	"regexp"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
)

const message = `{"messageId":"m","role":"user","contextId":"c","taskId":"t","parts":[{"text":"go"},{"data":{"b":[1,2],"a":"é<"}}],
	"metadata":{"x":1.0,"y":{"k":true}},"extensions":["e"],"referenceTaskIds":["r1","r2"]}`

// A repeat of a message is recognized by its digest, whichever JSON library
// wrote it.
func TestMessage_Digest_same(t *testing.T) {
	want := decode[a2a.Message](t, message).Digest()
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(want) {
		t.Errorf("digest %q", want)
	}
	for name, text := range map[string]string{
		"again":           message,
		"order of keys":   `{"referenceTaskIds":["r1","r2"],"extensions":["e"],"metadata":{"y":{"k":true},"x":1.0},"parts":[{"text":"go"},{"data":{"a":"é<","b":[1,2]}}],"taskId":"t","contextId":"c","role":"user","messageId":"m"}`,
		"white space":     `{ "messageId" : "m", "role":"user","contextId":"c","taskId":"t","parts":[ {"text":"go"} , {"data": { "b" : [ 1 , 2 ], "a":"é<"}}], "metadata":{"x": 1.0, "y":{ "k" : true}},"extensions":["e"],"referenceTaskIds":["r1","r2"]}`,
		"escapes":         `{"messageId":"m","role":"user","contextId":"c","taskId":"t","parts":[{"text":"\u0067o"},{"data":{"b":[1,2],"a":"\u00e9\u003c"}}],"metadata":{"x":1.0,"y":{"k":true}},"extensions":["e"],"referenceTaskIds":["r1","r2"]}`,
		"unknown members": `{"kind":"message","messageId":"m","role":"user","contextId":"c","taskId":"t","parts":[{"kind":"text","text":"go"},{"data":{"b":[1,2],"a":"é<"}}],"metadata":{"x":1.0,"y":{"k":true}},"extensions":["e"],"referenceTaskIds":["r1","r2"]}`,
	} {
		test.Is(t, name+": digest", want, decode[a2a.Message](t, text).Digest())
	}
	empty := a2a.Message{MessageID: "m"}
	for name, m := range map[string]a2a.Message{
		"empty lists":    {MessageID: "m", Extensions: []string{}, ReferenceTaskIDs: []string{}},
		"empty metadata": {MessageID: "m", Metadata: a2a.Metadata{}},
	} {
		if m.Digest() != empty.Digest() {
			t.Errorf("%s: digest differs from that of none", name)
		}
	}
}

func TestMessage_Digest_differs(t *testing.T) {
	seen := map[string]string{decode[a2a.Message](t, message).Digest(): "the message itself"}
	for name, text := range map[string]string{
		"messageId":        `{"messageId":"m2","role":"user","contextId":"c","taskId":"t","parts":[{"text":"go"}]}`,
		"role":             `{"messageId":"m","role":"agent","contextId":"c","taskId":"t","parts":[{"text":"go"}]}`,
		"contextId":        `{"messageId":"m","role":"user","contextId":"c2","taskId":"t","parts":[{"text":"go"}]}`,
		"no contextId":     `{"messageId":"m","role":"user","taskId":"t","parts":[{"text":"go"}]}`,
		"taskId":           `{"messageId":"m","role":"user","contextId":"c","taskId":"t2","parts":[{"text":"go"}]}`,
		"no taskId":        `{"messageId":"m","role":"user","contextId":"c","parts":[{"text":"go"}]}`,
		"text":             `{"messageId":"m","role":"user","parts":[{"text":"Go"}]}`,
		"empty text":       `{"messageId":"m","role":"user","parts":[{"text":""}]}`,
		"two texts":        `{"messageId":"m","role":"user","parts":[{"text":"go"},{"text":""}]}`,
		"order of parts":   `{"messageId":"m","role":"user","parts":[{"text":""},{"text":"go"}]}`,
		"text as data":     `{"messageId":"m","role":"user","parts":[{"data":"go"}]}`,
		"null data":        `{"messageId":"m","role":"user","parts":[{"data":null}]}`,
		"no content":       `{"messageId":"m","role":"user","parts":[{}]}`,
		"raw":              `{"messageId":"m","role":"user","parts":[{"raw":"Z28="}]}`,
		"empty raw":        `{"messageId":"m","role":"user","parts":[{"raw":""}]}`,
		"url":              `{"messageId":"m","role":"user","parts":[{"url":"go"}]}`,
		"number":           `{"messageId":"m","role":"user","parts":[{"data":1}]}`,
		"number's form":    `{"messageId":"m","role":"user","parts":[{"data":1.0}]}`,
		"large number":     `{"messageId":"m","role":"user","parts":[{"data":9007199254740992}]}`,
		"larger number":    `{"messageId":"m","role":"user","parts":[{"data":9007199254740993}]}`,
		"order of a list":  `{"messageId":"m","role":"user","parts":[{"data":[1,2]}]}`,
		"other order":      `{"messageId":"m","role":"user","parts":[{"data":[2,1]}]}`,
		"media type":       `{"messageId":"m","role":"user","parts":[{"text":"go","mediaType":"text/html"}]}`,
		"file name":        `{"messageId":"m","role":"user","parts":[{"text":"go","filename":"a"}]}`,
		"part metadata":    `{"messageId":"m","role":"user","parts":[{"text":"go","metadata":{"a":1}}]}`,
		"metadata":         `{"messageId":"m","role":"user","parts":[{"text":"go"}],"metadata":{"a":1}}`,
		"metadata null":    `{"messageId":"m","role":"user","parts":[{"text":"go"}],"metadata":{"a":null}}`,
		"extensions":       `{"messageId":"m","role":"user","parts":[{"text":"go"}],"extensions":["a"]}`,
		"referenceTaskIds": `{"messageId":"m","role":"user","parts":[{"text":"go"}],"referenceTaskIds":["a"]}`,
	} {
		digest := decode[a2a.Message](t, text).Digest()
		if other, ok := seen[digest]; ok {
			t.Errorf("%s: same digest as %s", name, other)
		}
		seen[digest] = name
	}
}

// The digest of a part covers its content, however JSON is written and wherever
// the content is kept.
func TestPart_Digest(t *testing.T) {
	for _, tt := range []struct{ one, other string }{
		{`{"data":{"b":[1.0,2],"a":"é"}}`, `{"data": {"a":"\u00e9", "b":[1, 2e0]}}`},
		{`{"text":"abc"}`, `{"raw":"YWJj"}`},
	} {
		one, other := decode[a2a.Part](t, tt.one).Digest(), decode[a2a.Part](t, tt.other).Digest()
		if one != other {
			t.Errorf("%s has the digest %s, %s has %s", tt.one, one, tt.other, other)
		}
	}
	test.Is(t, "digest of abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", a2a.TextPart("abc").Digest())
	for _, p := range []a2a.Part{
		a2a.TextPart(strings.Repeat("x", a2a.Large)), {Raw: make([]byte, a2a.Large)},
		{Data: []byte(`{"b":1.0,"a":"` + strings.Repeat("x", a2a.Large) + `"}`)},
	} {
		light, _ := a2a.Detach([]a2a.Part{p})
		if light[0].Ref == nil || light[0].Digest() != p.Digest() {
			t.Errorf("a part of %d bytes has the digest %s as a blob, else %s", len(p.Data), light[0].Digest(), p.Digest())
		}
	}
}
