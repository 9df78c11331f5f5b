package wire

// A Comparison has two objectives side by side.
type Comparison struct {
	A     ComparedObjective `json:"a"`
	B     ComparedObjective `json:"b"`
	Tasks []ComparedTask    `json:"tasks"` // in the order of A; those of B alone come after them
}

// A ComparedObjective is one of the two.
type ComparedObjective struct {
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	State   string  `json:"state"`   // in a word for people
	Seconds float64 `json:"seconds"` // from its start to its latest change
	Usage   *Usage  `json:"usage,omitempty"`
}

// A ComparedTask is a task by its place. A side that has none there is absent.
type ComparedTask struct {
	Place string        `json:"place"` // the names of its plan and its own, with a number where they repeat
	A     *ComparedWork `json:"a,omitempty"`
	B     *ComparedWork `json:"b,omitempty"`
}

// ComparedWork is what one side has done at a task.
type ComparedWork struct {
	TaskID  string  `json:"taskId"`
	State   string  `json:"state"`             // in a word for people; "taken over" for work of the objective that this one is a fork of
	Seconds float64 `json:"seconds,omitempty"` // from the start of its objective to its end
	Usage   *Usage  `json:"usage,omitempty"`
	Decided string  `json:"decidedBy,omitempty"` // who closed its latest gate
	Text    string  `json:"text,omitempty"`      // of its artifacts, the first 64 KiB
}
