package opt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"longhaul/a2a"
)

// A DecisionError says which decision is not as it was recorded.
type DecisionError struct {
	Position int // in the list, from 1
	Reason   string
}

func (e *DecisionError) Error() string { return fmt.Sprintf("decision %d: %s", e.Position, e.Reason) }

// Chains checks the decisions of one objective, without the server that has recorded
// them. The zero value is ready. It reads them as JSON, so that a member that this
// program does not know counts as well.
type Chains struct {
	objectiveID string
	position    int
	chains      []checkedChain
}

// A checkedChain has the hashes of the decisions of one chain.
type checkedChain struct {
	key    ChainHead // without its end
	hashes []string
}

// Add checks the next decision. The error is a [*DecisionError].
func (c *Chains) Add(doc json.RawMessage) error {
	c.position++
	if reason := c.add(doc); reason != "" {
		return &DecisionError{c.position, reason}
	}
	return nil
}

// add returns the defect of the next decision, "" for none.
func (c *Chains) add(doc json.RawMessage) string {
	var d Decision
	m, err := members(doc)
	if err == nil {
		err = json.Unmarshal(doc, &d)
	}
	switch {
	case err != nil:
		return "it cannot be read: " + err.Error()
	case !bytes.Equal(a2a.Canonical(doc), a2a.Canonical(a2a.DataPart(m).Data)):
		return "it is not plain JSON: a member is there twice, or a text is not valid"
	case d.ObjectiveID == "" || d.PlanID == "" || d.Attempt < 1 || d.N < 1:
		return "it does not say to which chain it belongs, or its place there"
	case c.objectiveID != "" && d.ObjectiveID != c.objectiveID:
		return fmt.Sprintf("it belongs to another objective, %s", d.ObjectiveID)
	}
	chain := c.of(d)
	last := int64(len(chain.hashes))
	where := fmt.Sprintf("number %d of %s", d.N, chain.key.Name())
	switch {
	case hashOf(m) != d.Hash:
		return where + " was changed: its hash is not that of its content"
	case d.N <= last:
		return fmt.Sprintf("%s comes after number %d: it was added, or is in the wrong place", where, last)
	case d.N > last+1:
		return fmt.Sprintf("%s comes after number %d: one between them was removed, or is in the wrong place", where, last)
	case d.Previous != chain.last():
		return fmt.Sprintf("%s does not follow on the one before it, which was changed or replaced", where)
	}
	c.objectiveID = d.ObjectiveID
	chain.hashes = append(chain.hashes, d.Hash)
	return ""
}

// of returns the chain of d.
func (c *Chains) of(d Decision) *checkedChain {
	key := ChainHead{PlanID: d.PlanID, Attempt: d.Attempt, Epoch: d.Epoch}
	if chain := c.find(key); chain != nil {
		return chain
	}
	c.chains = append(c.chains, checkedChain{key: key})
	return &c.chains[len(c.chains)-1]
}

func (c *Chains) find(key ChainHead) *checkedChain {
	key.Chain = Chain{}
	i := slices.IndexFunc(c.chains, func(h checkedChain) bool { return h.key == key })
	if i < 0 {
		return nil
	}
	return &c.chains[i]
}

func (c checkedChain) last() string {
	if len(c.hashes) == 0 {
		return ""
	}
	return c.hashes[len(c.hashes)-1]
}

// ObjectiveID returns the objective of the decisions, "" without any.
func (c *Chains) ObjectiveID() string { return c.objectiveID }

// Count returns how many decisions were added.
func (c *Chains) Count() int { return c.position }

// Heads returns the ends of the chains.
func (c *Chains) Heads() []ChainHead {
	var out []ChainHead
	for _, h := range c.chains {
		head := h.key
		head.Chain = Chain{N: int64(len(h.hashes)), Hash: h.last()}
		out = append(out, head)
	}
	return out
}

// Reach returns an error unless the decisions include all those that h counts,
// unchanged. h may be older than they are.
func (c *Chains) Reach(h DecisionHead) error {
	if c.objectiveID != "" && h.ObjectiveID != c.objectiveID {
		return fmt.Errorf("the head is that of another objective, %s", h.ObjectiveID)
	}
	for _, want := range h.Chains {
		where := want.Name()
		chain := c.find(want)
		switch {
		case want.N < 1:
			return fmt.Errorf("the head counts no decision of %s", where)
		case chain == nil:
			return fmt.Errorf("all decisions of %s are missing, the head counts %d", where, want.N)
		case int64(len(chain.hashes)) < want.N:
			return fmt.Errorf("decisions at the end of %s are missing: there are %d, the head counts %d", where, len(chain.hashes), want.N)
		case chain.hashes[want.N-1] != want.Hash:
			return fmt.Errorf("number %d of %s was replaced: its hash is not that in the head", want.N, where)
		}
	}
	return nil
}

// End returns an error unless the decisions are those that h counts, and no others.
func (c *Chains) End(h DecisionHead) error {
	if err := c.Reach(h); err != nil {
		return err
	}
	for _, got := range c.Heads() {
		if !slices.Contains(h.Chains, got) {
			return fmt.Errorf("decisions were added at the end of %s: the head does not count all of %d", got.Name(), got.N)
		}
	}
	if h.Count != int64(c.position) {
		return fmt.Errorf("there are %d decisions, the head counts %d", c.position, h.Count)
	}
	return nil
}
