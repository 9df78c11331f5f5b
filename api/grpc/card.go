package grpc

import (
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"longhaul/api/card"
	"longhaul/api/wire"
)

// newCard returns a card. It is the only message that is made from JSON: it is
// long and seldom requested, and JSON can express all of it. It panics if an
// operator configured a card that the proto cannot express.
func newCard(c card.Card) *a2apb.AgentCard {
	out := &a2apb.AgentCard{}
	body, err := wire.Marshal(wire.V10.PureCard(c))
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(body, out)
	}
	if err != nil {
		panic(fmt.Errorf("the card has no form in gRPC: %w", err))
	}
	return out
}
