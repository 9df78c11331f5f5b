package prove

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// shownFindings is how many findings of one check and kind the text shows.
const shownFindings = 3

// WriteText writes the scorecard for a terminal.
func (s *Scorecard) WriteText(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s at %s, A2A %s over JSON-RPC; %.0f s, seed %d\n\n", s.Agent, s.Version, s.URL, s.Protocol, s.Took, s.Seed)
	s.writeTable(&b)
	s.writeRecovery(&b)
	s.writeFindings(&b)
	if s.Anomaly != "" {
		fmt.Fprintf(&b, "The first task that was lost or repeated, call by call:\n%s\n", s.Anomaly)
	}
	fmt.Fprintln(&b, s.Verdict())
	_, err := io.WriteString(to, b.String())
	return err
}

// Verdict returns the result in one sentence.
func (s *Scorecard) Verdict() string {
	if s.Clean() {
		return fmt.Sprintf("Nothing that was acknowledged was lost, repeated or out of order: %d checks.", s.Total.Cases)
	}
	return fmt.Sprintf("%d lost, %d repeated, %d out of order, of %d checks.", s.Total.Lost, s.Total.Repeated, s.Total.OutOfOrder, s.Total.Cases)
}

func (s *Scorecard) writeTable(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHECK\tCASES\tLOST\tREPEATED\tOUT OF ORDER\t")
	for _, check := range s.Checks {
		c := s.Of(check.Name)
		if c.Cases == 0 {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\tnot checked: %s\n", check.Title, cmp.Or(c.Skipped, "there was no such task left"))
			continue
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t\n", check.Title, c.Cases, c.Lost, c.Repeated, c.OutOfOrder)
	}
	_ = t.Flush() // to memory
	b.WriteByte('\n')
}

func (s *Scorecard) writeRecovery(b *strings.Builder) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "EXPERIMENT\tSENT\tACKNOWLEDGED\tOPEN\tREADY\tNEXT EVENT\tALL ENDED\t")
	for _, e := range s.Experiments {
		fmt.Fprintf(t, "%s\t%d\t%d\t", e.Name, e.Sent, e.Acknowledged)
		if r := e.Recovery; r != nil {
			fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s", r.Open, seconds(r.Ready), seconds(r.First), seconds(r.All), r.noteText())
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // to memory
	b.WriteString("Open are tasks that were acknowledged and had not ended when the server did. The times are from its start.\n\n")
}

func (r *Recovery) noteText() string {
	if r.Never > 0 {
		return fmt.Sprintf("%d never ended", r.Never)
	}
	return r.Note
}

func seconds(s float64) string {
	if s == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f s", s)
}

// writeFindings writes each finding with its reason, by check.
func (s *Scorecard) writeFindings(b *strings.Builder) {
	for _, check := range s.Checks {
		if s.Of(check.Name).Clean() {
			continue
		}
		fmt.Fprintf(b, "%s: not so. %s\n", check.Title, check.Why)
		shown := map[Kind]int{}
		for _, f := range s.Findings {
			if f.Check != check.Name {
				continue
			}
			if shown[f.Kind]++; shown[f.Kind] <= shownFindings {
				fmt.Fprintf(b, "  %s, in %s%s: %s\n", strings.ReplaceAll(string(f.Kind), "-", " "), f.Experiment, taskSuffix(f.TaskID), f.Seen)
			}
		}
		for _, k := range []Kind{Lost, Repeated, OutOfOrder} {
			if more := shown[k] - shownFindings; more > 0 {
				fmt.Fprintf(b, "  and %d more %s\n", more, strings.ReplaceAll(string(k), "-", " "))
			}
		}
		b.WriteByte('\n')
	}
}

func taskSuffix(taskID string) string {
	if taskID == "" {
		return ""
	}
	return ", task " + taskID
}
