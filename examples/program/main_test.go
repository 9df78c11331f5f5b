package main

import (
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/activities/planner"
)

// The playbooks have no mistakes, and the program has the executors that they name.
func TestProgram(t *testing.T) {
	if err := program("dist").Check(); err != nil {
		t.Error(err)
	}
}

// A message about a release leads to the playbook.
func TestPlaybooks(t *testing.T) {
	books, err := planner.LoadAll(playbooks)
	if err != nil {
		t.Fatal(err)
	}
	m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("Release version 1.0, please")}}
	name, plans, _, err := books.Match(m)
	if name != "release" || len(plans) != 1 || err != nil {
		t.Fatalf("playbook %q with %d plans, error %v", name, len(plans), err)
	}
	var got []string
	for _, task := range plans[0].Tasks {
		got = append(got, task.Name)
	}
	if want := []string{"Checksums", "Approval", "Check"}; !slices.Equal(got, want) {
		t.Errorf("tasks %q, want %q", got, want)
	}
}
