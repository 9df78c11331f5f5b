package signing

import (
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"github.com/go-jose/go-jose/v4"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"longhaul/a2a"
	"longhaul/a2a/codec"
)

// SignCard returns signatures of an agent card, the JSON of A2A 1.0: one for each of its
// canonical forms, by the same key. keysURL is where the public keys are. While the same key
// signs, all processes return the same signatures of the same card.
func (k *Keeper) SignCard(ctx context.Context, card []byte, keysURL string) ([]codec.CardSignature, error) {
	now := k.cfg.Now()
	keys, err := k.current(ctx, now)
	if err != nil {
		return nil, err
	}
	with := keys[signingKeyIndex(keys, now)]
	of := signedCard{with.id, keysURL, sha256.Sum256(card)}
	k.mu.Lock()
	known := k.cards[of]
	k.mu.Unlock()
	if known != nil {
		return known, nil
	}
	signatures, err := with.signCard(card, keysURL)
	if err != nil {
		return nil, fmt.Errorf("sign the agent card: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cards == nil || len(k.cards) == maxCards {
		k.cards = map[signedCard][]codec.CardSignature{}
	}
	k.cards[of] = signatures
	return signatures, nil
}

// A signedCard identifies the signatures of a card.
type signedCard struct {
	keyID, keysURL string
	card           [sha256.Size]byte
}

// maxCards is of how many cards the signatures are kept.
const maxCards = 16

func (k key) signCard(card []byte, keysURL string) (out []codec.CardSignature, err error) {
	forms, err := cardForms(card)
	if err != nil {
		return nil, err
	}
	header, err := json.Marshal(map[string]string{"alg": string(jose.ES256), "kid": k.id, "typ": "JOSE", "jku": keysURL})
	if err != nil {
		return nil, err
	}
	protected := base64.RawURLEncoding.EncodeToString(header)
	for _, form := range forms {
		sum := sha256.Sum256([]byte(protected + "." + base64.RawURLEncoding.EncodeToString(form)))
		der, err := k.private.Sign(nil, sum[:], crypto.SHA256) // the same each time, since it draws no random number
		if err != nil {
			return nil, err
		}
		var pair struct{ R, S *big.Int }
		if _, err := asn1.Unmarshal(der, &pair); err != nil {
			return nil, err
		}
		raw := slices.Concat(pair.R.FillBytes(make([]byte, 32)), pair.S.FillBytes(make([]byte, 32)))
		out = append(out, codec.CardSignature{Protected: protected, Signature: base64.RawURLEncoding.EncodeToString(raw)})
	}
	return out, nil
}

// cardAlgorithms are those of signatures that [VerifyCard] accepts: none with a shared secret.
var cardAlgorithms = []jose.SignatureAlgorithm{jose.ES256, jose.ES384, jose.ES512, jose.EdDSA, jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}

// VerifyCard returns the canonical form of an agent card that one of the public keys, a JSON
// Web Key Set, has signed. Read the card from that: other members, such as those of A2A 0.3,
// are not signed. The keys to which the card itself leads prove nothing.
func VerifyCard(publicKeys, card []byte) ([]byte, error) {
	set, err := ReadKeys(publicKeys)
	if err != nil {
		return nil, err
	}
	var in struct{ Signatures []codec.CardSignature }
	if err := json.Unmarshal(card, &in); err != nil || len(in.Signatures) == 0 {
		return nil, errors.New("the card has no signatures")
	}
	forms, err := cardForms(card)
	if err != nil {
		return nil, err
	}
	var strangers []string
	for _, s := range in.Signatures {
		form, id, known := signedForm(s, forms, set)
		if form != nil {
			return form, nil
		}
		if !known && !slices.Contains(strangers, id) {
			strangers = append(strangers, id)
		}
	}
	if len(strangers) > 0 {
		return nil, fmt.Errorf("the card is signed with %.200q, which are not among the keys", strings.Join(strangers, ", "))
	}
	return nil, errors.New("no signature of the card is valid")
}

// signedForm returns the form of a card that s signs, nil for none; id is that of its key, and known whether set has it.
func signedForm(s codec.CardSignature, forms [][]byte, set jose.JSONWebKeySet) (form []byte, id string, known bool) {
	for _, form := range forms {
		jws, err := jose.ParseSignedCompact(s.Protected+"."+base64.RawURLEncoding.EncodeToString(form)+"."+s.Signature, cardAlgorithms)
		if err != nil { // with all forms
			return nil, "", true
		}
		id = jws.Signatures[0].Protected.KeyID
		keys := set.Key(id)
		if len(keys) == 0 {
			return nil, id, false
		}
		verifies := func(key jose.JSONWebKey) bool {
			_, err := jws.Verify(key)
			return err == nil
		}
		if slices.ContainsFunc(keys, verifies) {
			return form, id, true
		}
	}
	return nil, id, true
}

// ReadKeys reads a JSON Web Key Set with at least one key.
func ReadKeys(publicKeys []byte) (set jose.JSONWebKeySet, err error) {
	if err := json.Unmarshal(publicKeys, &set); err != nil || len(set.Keys) == 0 {
		return set, errors.New("these are no public keys: expected the content of /.well-known/jwks.json")
	}
	return set, nil
}

// cardForms returns the forms of a card that are signed, without its signatures: that of the
// specification (8.4.1), "Fields with default values MUST be omitted unless the field is
// marked as REQUIRED", and that of the official SDKs, if it is another: they omit all empty
// texts, lists and objects, required or not.
func cardForms(card []byte) ([][]byte, error) {
	read, form := &a2apb.AgentCard{}, map[string]any{}
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(card, read); err != nil {
		return nil, errors.New("the card is not one of A2A 1.0")
	}
	read.Signatures = nil
	body, err := protojson.Marshal(read)
	if err == nil {
		err = json.Unmarshal(body, &form)
	}
	if err != nil {
		return nil, err
	}
	short, err := json.Marshal(withoutEmpty(form))
	if err != nil {
		return nil, err
	}
	addRequired(read.ProtoReflect().Descriptor(), form)
	whole, err := json.Marshal(form)
	if err != nil {
		return nil, err
	}
	forms := [][]byte{a2a.Canonical(whole), a2a.Canonical(short)}
	return slices.CompactFunc(forms, slices.Equal), nil
}

// addRequired adds the required members of a message that have their default values.
func addRequired(d protoreflect.MessageDescriptor, form map[string]any) {
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		value, present := form[f.JSONName()]
		if !present {
			if isRequired(f) && !f.HasPresence() {
				form[f.JSONName()] = defaultOf(f)
			}
			continue
		}
		of, values := f.Message(), []any{value}
		switch in := value.(type) {
		case []any:
			values = in
		case map[string]any:
			if f.IsMap() {
				of, values = f.MapValue().Message(), nil
				for _, v := range in {
					values = append(values, v)
				}
			}
		}
		if of == nil || of.ParentFile().Package() != d.ParentFile().Package() { // not of A2A, such as params of any form
			continue
		}
		for _, v := range values {
			if inner, ok := v.(map[string]any); ok {
				addRequired(of, inner)
			}
		}
	}
}

func isRequired(f protoreflect.FieldDescriptor) bool {
	behavior, _ := proto.GetExtension(f.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return slices.Contains(behavior, annotations.FieldBehavior_REQUIRED)
}

func defaultOf(f protoreflect.FieldDescriptor) any {
	switch {
	case f.IsMap():
		return map[string]any{}
	case f.IsList():
		return []any{}
	}
	return f.Default().Interface()
}

// withoutEmpty returns v without empty texts, lists and objects, nil if it is empty itself.
func withoutEmpty(v any) any {
	size := 1 // of a number, true and false
	switch in := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range in {
			if member = withoutEmpty(member); member != nil {
				out[name] = member
			}
		}
		v, size = out, len(out)
	case []any:
		var out []any
		for _, item := range in {
			if item = withoutEmpty(item); item != nil {
				out = append(out, item)
			}
		}
		v, size = out, len(out)
	case string:
		size = len(in)
	}
	if size == 0 {
		return nil
	}
	return v
}
