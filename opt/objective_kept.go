package opt

import "longhaul/a2a"

// Kept is an objective as the journal has it once an attempt has ended: its plans
// with their tasks, and those with their artifacts.
type Kept struct {
	Objective Objective        `json:"objective"`
	Request   *a2a.Message     `json:"request,omitempty"`  // that began it
	Given     []PlanSpec       `json:"given,omitempty"`    // plans that came with it
	Recorded  map[string]int64 `json:"recorded,omitempty"` // number of the last event, by source
	Epochs    map[string]int   `json:"epochs,omitempty"`   // the latest epoch, by the name of a source that has begun another one
	Answered  []string         `json:"answered,omitempty"` // ids of the commands that were answered
	Heard     []string         `json:"heard,omitempty"`    // ids of the letters that the objective itself has judged, as Letter.ID returns them
}
