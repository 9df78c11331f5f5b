package commands

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/internal/signing"
	"longhaul/opt"
)

// decisionsCommand is "longhaul decisions".
type decisionsCommand struct {
	remoteSettings
	ID   string `arg:"" help:"Id of the objective, or of one of its tasks or gates."`
	JSON bool   `help:"Print all decisions and their head as JSON, for the command verify."`
}

// A decisionExport holds decisions of one objective and their head, in the form of the API.
type decisionExport struct {
	ObjectiveID string            `json:"objectiveId"`
	Decisions   []json.RawMessage `json:"decisions"`
	Head        *opt.DecisionHead `json:"head,omitempty"`
	Next        string            `json:"nextPageToken,omitempty"` // "" if it is complete
}

func (c *decisionsCommand) Run(p *process.Process, r *remote) (err error) {
	if c.ID, err = wholeID(p.Ctx, r, c.ID); err != nil {
		return err
	}
	r.page = page{"decisions", "/v1/objectives/ID/decisions"}
	all := decisionExport{ObjectiveID: objectiveIDOf(c.ID), Decisions: []json.RawMessage{}}
	out := p.Stdout
	if c.JSON {
		out = io.Discard // the export is printed as a whole
	}
	table, err := listing[opt.Decision]{
		limit: math.MaxInt, none: "No decisions.", head: []string{"WHEN", "GATE", "WHO", "ACTION", "VERDICT"}, row: rowOf,
		read: func(size int, token string) (*client.Page[opt.Decision], error) {
			page, err := r.client.Decisions(p.Ctx, all.ObjectiveID, client.DecisionOptions{PageSize: size, PageToken: token})
			if err == nil {
				all.Decisions, all.Head = append(all.Decisions, page.Raw...), page.Head
			}
			return page, err
		},
	}.print(out)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return process.PrintJSON(p.Stdout, all)
	case table:
		_, err = all.check(nil)
	}
	return err
}

func rowOf(d opt.Decision) []string {
	verdict := string(d.Verdict)
	if d.Verdict == opt.Accepted { // it counts, with any action
		verdict = "counted"
	}
	if d.Closed {
		verdict += ", closed the gate"
		if d.ByHand {
			verdict += " by hand"
		}
	}
	return []string{timeText(d.DecidedAt, ""), d.GateID, d.Who(), cmp.Or(string(d.Action), "-"), verdict}
}

// check checks the decisions and the head of e, whose signature has to be by one of the
// given sets of public keys; without any, it is not looked at.
func (e decisionExport) check(keys [][]byte) (*opt.Chains, error) {
	var chains opt.Chains
	for _, d := range e.Decisions {
		if err := chains.Add(d); err != nil {
			return nil, err
		}
	}
	if id := chains.ObjectiveID(); id != "" && id != e.ObjectiveID {
		return nil, fmt.Errorf("these are decisions of %s, not of %s", id, e.ObjectiveID)
	}
	if e.Head == nil {
		if len(keys) > 0 {
			return nil, errors.New("there is no head, so no signature")
		}
		return &chains, nil
	}
	if err := chains.End(*e.Head); err != nil {
		return nil, err
	}
	return &chains, checkSignature(*e.Head, keys)
}

// checkSignature checks the signature of a head.
func checkSignature(head opt.DecisionHead, keys [][]byte) error {
	if len(keys) == 0 {
		return nil
	}
	if head.Signature == "" {
		return errors.New("the head is not signed: the server has no keys (--push-signing)")
	}
	var statement []byte
	var err error
	for _, set := range keys {
		if statement, err = signing.Statement(set, head.Signature); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("the head: %w", err)
	}
	if !bytes.Equal(statement, head.Statement()) {
		return errors.New("the head was changed: its signature does not match")
	}
	return nil
}

// verifyCommand is "longhaul verify".
type verifyCommand struct {
	File    string   `arg:"" help:"Decisions as the command decisions --json or /v1/objectives/ID/decisions gives them, also several pages one after the other; - for the standard input." placeholder:"FILE"`
	JWKS    []string `name:"jwks" help:"Public keys of the server, from /.well-known/jwks.json: the head must be signed with one of them." placeholder:"FILE"`
	Earlier string   `help:"Decisions that were saved earlier: none of them may be missing." placeholder:"FILE"`

	Original string `help:"Decisions of the original of a fork: those that the fork keeps must be among them." placeholder:"FILE"`
}

func (c *verifyCommand) Run(p *process.Process) error {
	keys := make([][]byte, len(c.JWKS))
	for i, name := range c.JWKS {
		var err error
		if keys[i], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	e, chains, err := verifyFile(c.File, keys)
	if err != nil {
		return err
	}
	results := []string{headText(e.Head, len(keys) > 0)}
	if c.Earlier != "" {
		earlier, err := c.compareEarlier(chains, keys)
		if err != nil {
			return err
		}
		results = append(results, fmt.Sprintf("All decisions of %s are still there.", headTime(earlier.Head)))
	}
	if c.Original != "" {
		kept, others, err := c.compareKept(e, keys)
		if err != nil {
			return err
		}
		results = append(results, fmt.Sprintf("Decisions that it keeps, as they are in the original: %d", kept))
		if others > 0 {
			results = append(results, fmt.Sprintf("Not compared, since they are of another original: %d", others))
		}
	}
	fmt.Fprintf(p.Stdout, "%s: unchanged. Decisions: %d, chains: %d\n", a2a.VisibleLine(e.ObjectiveID), chains.Count(), len(chains.Heads()))
	for _, h := range chains.Heads() {
		fmt.Fprintf(p.Stdout, "  %s: %d, the last is %s\n", a2a.VisibleLine(h.Name()), h.N, h.Hash)
	}
	_, err = fmt.Fprintln(p.Stdout, strings.Join(results, "\n"))
	return err
}

// headText says what the head of decisions, nil for none, proves.
func headText(head *opt.DecisionHead, signed bool) string {
	switch {
	case head == nil:
		return "There is no head: decisions may be missing at the end."
	case signed:
		return fmt.Sprintf("The head of %s is signed.", headTime(head))
	}
	return fmt.Sprintf("The head matches these decisions: none is missing up to %s. Who made the head was not checked: --jwks checks its signature.", headTime(head))
}

func headTime(head *opt.DecisionHead) string { return head.At.Time().UTC().Format(time.RFC3339) }

// compareEarlier checks that the chains have all decisions that were saved earlier.
func (c *verifyCommand) compareEarlier(chains *opt.Chains, keys [][]byte) (*decisionExport, error) {
	e, _, err := verifyFile(c.Earlier, keys)
	switch {
	case err != nil:
		return nil, err
	case e.Head == nil:
		return nil, fmt.Errorf("%s has no head", c.Earlier)
	}
	if err := chains.Reach(*e.Head); err != nil {
		return nil, fmt.Errorf("compared with %s: %s", c.Earlier, a2a.VisibleLine(err.Error()))
	}
	return e, nil
}

// compareKept checks that decisions of a fork, as far as they name one of the original, are as that one was
// recorded. It returns how many there are, and how many name another objective.
func (c *verifyCommand) compareKept(e *decisionExport, keys [][]byte) (n, others int, err error) {
	original, _, err := verifyFile(c.Original, keys)
	if err != nil {
		return 0, 0, err
	}
	recorded := map[string]opt.Decision{} // by hash
	for _, doc := range original.Decisions {
		var d opt.Decision
		if err := json.Unmarshal(doc, &d); err != nil {
			return 0, 0, err
		}
		recorded[d.Hash] = d
	}
	for _, doc := range e.Decisions {
		var d opt.Decision
		if err := json.Unmarshal(doc, &d); err != nil {
			return 0, 0, err
		}
		switch {
		case d.Kept == nil:
		case d.Kept.ObjectiveID != original.ObjectiveID:
			others++
		case d.IsAs(recorded):
			n++
		default:
			return 0, 0, fmt.Errorf("number %d of %s keeps a decision that is not in %s as it says", d.N, a2a.VisibleLine(d.PlanID), c.Original)
		}
	}
	return n, others, nil
}

// verifyFile reads the decisions in a file and checks them.
func verifyFile(name string, keys [][]byte) (*decisionExport, *opt.Chains, error) {
	text, err := readInput(name)
	if err != nil {
		return nil, nil, err
	}
	var chains *opt.Chains
	e, err := readExport(bytes.NewReader(text))
	if err == nil {
		chains, err = e.check(keys)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %s", name, a2a.VisibleLine(err.Error()))
	}
	return e, chains, nil
}

// readExport reads pages of decisions, one after the other. The head is the head of the last
// page, which was read after the others.
func readExport(in io.Reader) (*decisionExport, error) {
	all := &decisionExport{}
	d := json.NewDecoder(in)
	for {
		var page decisionExport
		err := d.Decode(&page)
		switch {
		case errors.Is(err, io.EOF):
			return all, all.checkRead()
		case err != nil:
			return nil, fmt.Errorf("these are no decisions: %w", err)
		case page.ObjectiveID == "" || page.Decisions == nil:
			return nil, errors.New("these are no decisions: objectiveId or decisions is missing")
		case page.ObjectiveID != cmp.Or(all.ObjectiveID, page.ObjectiveID):
			return nil, fmt.Errorf("it has decisions of %s and of %s", all.ObjectiveID, page.ObjectiveID)
		case page.Head != nil && page.Head.ObjectiveID != page.ObjectiveID:
			return nil, fmt.Errorf("it has the head of %s", page.Head.ObjectiveID)
		}
		all.ObjectiveID, all.Head, all.Next = page.ObjectiveID, page.Head, page.Next
		all.Decisions = append(all.Decisions, page.Decisions...)
	}
}

// checkRead checks that all pages of e were read.
func (e *decisionExport) checkRead() error {
	switch {
	case e.ObjectiveID == "":
		return errors.New("there is nothing in it")
	case e.Next != "":
		return errors.New("it is not complete: the last page names another one")
	}
	return nil
}
