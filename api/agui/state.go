package agui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"longhaul/opt"
	optwire "longhaul/opt/wire"
)

// keyObjective is the member of the state that has the objective with its plans and tasks. The
// others are the client's.
const keyObjective = "objective"

// A patch is an operation of JSON Patch (RFC 6902).
type patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value *any   `json:"value,omitempty"` // nil for remove; null is a value
}

// stateOf returns the state with an objective: the members that the client has sent stay.
func stateOf(sent json.RawMessage, o *opt.Objective) (map[string]any, error) {
	state := map[string]any{}
	if decode(sent, &state) != nil || state == nil { // it has none, or one that is no object
		state = map[string]any{}
	}
	raw, err := json.Marshal(optwire.ObjectiveOf(o, true, true))
	if err != nil {
		return nil, fmt.Errorf("write an objective: %w", err)
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

// diff returns the operations that make after of before, two JSON values at a path.
func diff(path string, before, after any) (out []patch) {
	switch now := after.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			return diffMembers(path, before, now)
		}
	case []any:
		if before, ok := before.([]any); ok {
			return diffElements(path, before, now)
		}
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return []patch{{"replace", path, &after}}
}

func diffMembers(path string, before, after map[string]any) (out []patch) {
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[name]; !ok {
			out = append(out, patch{Op: "remove", Path: path + "/" + escape(name)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		at := path + "/" + escape(name)
		if old, ok := before[name]; ok {
			out = append(out, diff(at, old, after[name])...)
		} else {
			out = append(out, patch{"add", at, new(after[name])})
		}
	}
	return out
}

// diffElements compares lists by position: plans and tasks are added at the end.
func diffElements(path string, before, after []any) (out []patch) {
	common := min(len(before), len(after))
	for i := range common {
		out = append(out, diff(path+"/"+strconv.Itoa(i), before[i], after[i])...)
	}
	for i := len(before) - 1; i >= common; i-- {
		out = append(out, patch{Op: "remove", Path: path + "/" + strconv.Itoa(i)})
	}
	for _, v := range after[common:] {
		out = append(out, patch{"add", path + "/-", new(v)})
	}
	return out
}

// escape writes a member as a token of a JSON Pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// stepsOf returns the names of the tasks that work. Those of different tasks differ.
func stepsOf(o *opt.Objective) (names []string) {
	count := map[string]int{}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			count[t.Name]++
		}
	}
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			switch {
			case t.State != opt.TaskWorking:
			case t.Name == "" || count[t.Name] > 1:
				names = append(names, strings.TrimSpace(t.Name+" ("+t.ID+")"))
			default:
				names = append(names, t.Name)
			}
		}
	}
	return names
}
