package commands

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/internal/process"
)

// compareCommand is "longhaul compare".
type compareCommand struct {
	remoteSettings
	A string `arg:"" help:"Id of an objective."`
	B string `arg:"" help:"Id of another one, such as a fork of it."`
}

func (c *compareCommand) Run(p *process.Process, r *remote) error {
	a, err := wholeID(p.Ctx, r, c.A)
	if err != nil {
		return err
	}
	b, err := wholeID(p.Ctx, r, c.B)
	if err != nil {
		return err
	}
	found, err := r.client.Compare(p.Ctx, a, b)
	if err != nil {
		return err
	}
	rows := [][]string{{found.A.Name, summaryOf(found.A), summaryOf(found.B)}}
	var diffs []string
	for _, t := range found.Tasks {
		rows = append(rows, []string{"  " + t.Place, cellOf(t.A), cellOf(t.B)})
		if a, b := textOf(t.A), textOf(t.B); a != "" && b != "" && a != b {
			diffs = append(diffs, udiff.Unified(t.Place+" of "+found.A.ID, t.Place+" of "+found.B.ID, a+"\n", b+"\n"))
		}
	}
	process.WriteTable(p.Stdout, []string{"", found.A.ID, found.B.ID}, rows)
	for _, diff := range diffs {
		fmt.Fprint(p.Stdout, "\n"+a2a.Visible(diff))
	}
	return nil
}

// summaryOf returns the state, the time and the costs of all.
func summaryOf(o client.Compared) string {
	return joined(o.State, seconds(o.Seconds), o.Usage.String())
}

func cellOf(w *client.ComparedWork) string {
	if w == nil {
		return ""
	}
	var after, by string
	if w.Seconds > 0 {
		after = "after " + seconds(w.Seconds)
	}
	if w.Decided != "" {
		by = "decided by " + w.Decided
	}
	return joined(w.State, by, after, w.Usage.String())
}

func textOf(w *client.ComparedWork) string {
	if w == nil {
		return ""
	}
	return w.Text
}

func seconds(n float64) string { return durationText(time.Duration(n * float64(time.Second))) }

func joined(words ...string) string {
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", ")
}
