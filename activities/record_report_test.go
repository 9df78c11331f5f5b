package activities_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"longhaul/activities"
	"longhaul/opt"
)

// A post takes reports after the events before them.
type post struct {
	refuses, lost error // by the journal, and by Temporal
	did           []string
}

func (p *post) Record(context.Context, ...opt.Batch) error {
	p.did = append(p.did, "record")
	return p.refuses
}

func (p *post) Report(_ context.Context, objectiveID, planID string, r opt.Report) error {
	p.did = append(p.did, objectiveID+" hears of "+planID+" "+string(r.Status))
	return p.lost
}

func (p *post) Gone(context.Context, string) (bool, error)   { return false, nil }
func (p *post) Ask(context.Context, activities.Asking) error { return nil }

// A report is sent after its events are recorded, and not if they are not.
func TestActivities_Report(t *testing.T) {
	heard := []string{"record", "o hears of p working"}
	for name, tt := range map[string]struct {
		post
		want  activities.Receipt
		did   []string
		fails bool
	}{
		"taken":        {post{}, activities.Taken, heard, false},
		"gone":         {post{lost: opt.ErrEnded}, activities.Gone, heard, false},
		"not taken":    {post{lost: opt.ErrUnavailable}, activities.Unknown, heard, false},
		"not recorded": {post{refuses: errors.New("down")}, activities.Unknown, heard[:1], true},
		"refused":      {post{refuses: &opt.RewoundError{}}, activities.Unknown, heard[:1], true},
	} {
		t.Run(name, func(t *testing.T) {
			p := tt.post
			a := activities.New(activities.Config{Recorder: &p, Reporter: &p})
			got, err := a.Report(t.Context(), activities.Reporting{ObjectiveID: "o", PlanID: "p", Report: opt.Report{Status: opt.PlanWorking}})
			if got != tt.want || err != nil != tt.fails || !slices.Equal(p.did, tt.did) {
				t.Errorf("Report = %q, %v after %q, want %q after %q", got, err, p.did, tt.want, tt.did)
			}
		})
	}
}
