package protocol

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

// stateOf returns the state with an objective: the members that the client has sent stay.
func stateOf(sent json.RawMessage, o *opt.Objective) (object, error) {
	state := object{}
	if decode(sent, &state) != nil || state == nil { // it has none, or one that is no object
		state = object{}
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

// diff returns the operations of JSON Patch (RFC 6902) that make after of before, two JSON values
// at a path. A list that has become shorter is replaced: plans and tasks are added at the end.
func diff(path string, before, after any) (out []object) {
	switch now := after.(type) {
	case object:
		if was, ok := before.(object); ok {
			return diffMembers(path, was, now)
		}
	case []any:
		was, ok := before.([]any)
		if !ok || len(was) > len(now) {
			break
		}
		for i, v := range was {
			out = append(out, diff(path+"/"+strconv.Itoa(i), v, now[i])...)
		}
		for _, v := range now[len(was):] {
			out = append(out, object{"op": "add", "path": path + "/-", "value": v})
		}
		return out
	}
	if !reflect.DeepEqual(before, after) {
		out = []object{{"op": "replace", "path": path, "value": after}}
	}
	return out
}

func diffMembers(path string, before, after object) (out []object) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at := path + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
		was, had := before[name]
		switch now, has := after[name]; {
		case !has:
			out = append(out, object{"op": "remove", "path": at})
		case !had:
			out = append(out, object{"op": "add", "path": at, "value": now})
		default:
			out = append(out, diff(at, was, now)...)
		}
	}
	return out
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
