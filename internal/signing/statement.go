package signing

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// statementType is the type in the header of a signed statement. No receiver of
// deliveries takes one for the signature of a delivery.
const statementType = "longhaul-statement+json"

// SignStatement returns a JWS in its compact form, with the statement in it. It does not
// expire.
func (k *Keeper) SignStatement(ctx context.Context, statement []byte) (string, error) {
	now := k.cfg.Now()
	keys, err := k.current(ctx, now)
	if err != nil {
		return "", err
	}
	signer, err := keys[signingKeyIndex(keys, now)].signer(statementType)
	if err != nil {
		return "", fmt.Errorf("sign a statement: %w", err)
	}
	signed, err := signer.Sign(statement)
	if err != nil {
		return "", fmt.Errorf("sign a statement: %w", err)
	}
	return signed.CompactSerialize()
}

// signer returns a signer with the key, for content of a type.
func (k key) signer(typ jose.ContentType) (jose.Signer, error) {
	return jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: k.private, KeyID: k.id}}, (&jose.SignerOptions{}).WithType(typ))
}

// Statement returns the statement in a JWS after checking it with public keys, a JSON
// Web Key Set. Keys that are published no longer have to be in a copy of the set from
// the time of the signature.
func Statement(publicKeys []byte, signed string) ([]byte, error) {
	set, err := ReadKeys(publicKeys)
	if err != nil {
		return nil, err
	}
	jws, err := jose.ParseSignedCompact(signed, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return nil, errors.New("the signature is not a JWS with ES256")
	}
	header := jws.Signatures[0].Protected
	if header.ExtraHeaders[jose.HeaderType] != statementType {
		return nil, errors.New("the signature is of something else than a statement")
	}
	with := set.Key(header.KeyID)
	if len(with) != 1 {
		return nil, fmt.Errorf("key %q is not among the public keys: use the set that was published when the statement was signed", header.KeyID)
	}
	statement, err := jws.Verify(with[0])
	if err != nil {
		return nil, errors.New("the signature is not valid")
	}
	return statement, nil
}
