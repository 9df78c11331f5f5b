package grpc

import (
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"longhaul/api/wire"
)

// newCard returns a card, which is the one thing that goes through JSON: it is
// long, asked for seldom, and nothing in it can be of a kind that JSON has not. It
// panics at a card that an operator made no sense with.
func newCard(c wire.Card) *a2apb.AgentCard {
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
