package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// keyObjective is the member of the state that has the objective with its plans and tasks. The
// others are the client's.
const keyObjective = "objective"

// stateOf returns the state with an objective: the members that the client has sent stay.
func stateOf(sent any, o *opt.Objective) (object, error) {
	raw, err := json.Marshal(optwire.ObjectiveOf(o, true, true))
	if err != nil {
		return nil, fmt.Errorf("write an objective: %w", err)
	}
	state := object{}
	if members, ok := sent.(object); ok {
		maps.Copy(state, members)
	}
	var value any
	err = decode(raw, &value)
	state[keyObjective] = value
	return state, err
}

// decode reads JSON, with numbers as they are written.
func decode(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(to)
}

// stepsOf returns the names of the tasks that work. Those of different tasks differ.
func stepsOf(o *opt.Objective) (names []string) {
	count := map[string]int{"": 2} // no name is none
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			count[t.Name]++
		}
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if name := t.Name; t.State == opt.TaskWorking {
				if count[name] > 1 {
					name = strings.TrimSpace(name + " (" + t.ID + ")")
				}
				names = append(names, name)
			}
		}
	}
	return names
}
