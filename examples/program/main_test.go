package main

import (
	"slices"
	"testing"

	"longhaul/opt"
	"longhaul/opt/rehearse"
)

// The playbooks have no mistakes, and the program has the executors that they name.
func TestProgram(t *testing.T) {
	if err := program("dist").Check(); err != nil {
		t.Error(err)
	}
}

// A message about a release leads to the playbook, which asks for one approval. Nothing goes wrong in
// its rehearsal, in which tasks only take time and people accept.
func TestPlaybooks(t *testing.T) {
	r, err := program("dist").Rehearse("Release version 1.0, please", rehearse.Assumptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Planner != "playbook release" || r.Status != opt.ObjectiveCompleted || len(r.Gates) != 1 || len(r.Warnings) > 0 {
		t.Errorf("%s by %q, questions %+v, warnings %+v", r.Status, r.Planner, r.Gates, r.Warnings)
	}
	if got, want := r.Critical(), []string{"Checksums", "Approval", "Check"}; !slices.Equal(got, want) {
		t.Errorf("tasks %q, want %q", got, want)
	}
}
