// Package condition has the conditions on objects of approvals, in CEL, the Common Expression Language:
// those of checks and of standing decisions.
package condition

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
)

// mostCost bounds the work of one condition, in steps of CEL.
const mostCost = 1_000_000

// language has the names that a condition may use: the object as data, and its texts.
var language = func() *cel.Env {
	env, err := cel.NewEnv(cel.Variable("object", cel.DynType), cel.Variable("text", cel.StringType))
	if err != nil {
		panic("condition: " + err.Error())
	}
	return env
}()

// Valid returns why text is no condition, nil if it is one.
func Valid(text string) error {
	_, err := compile(text)
	return err
}

// compile returns the program of a condition.
func compile(text string) (cel.Program, error) {
	tree, issues := language.Compile(text)
	if err := issues.Err(); err != nil {
		problem, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "ERROR: <input>:"), "\n")
		return nil, fmt.Errorf("the condition is not CEL: %s", problem)
	}
	if kind := tree.OutputType(); !kind.IsExactType(cel.BoolType) && !kind.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the condition gives %s, not true or false", kind)
	}
	return language.Program(tree, cel.CostLimit(mostCost))
}

// Holds reports whether a condition is true of an object, as [Contents] returns it. The error says why
// that could not be worked out.
func Holds(text string, data json.RawMessage, said string) (bool, error) {
	program, err := compile(text)
	if err != nil {
		return false, err
	}
	var object any
	if len(data) > 0 {
		if err := json.NewDecoder(bytes.NewReader(data)).Decode(&object); err != nil {
			return false, errors.New("the object is not JSON")
		}
	}
	result, _, err := program.Eval(map[string]any{"object": object, "text": said})
	if err != nil {
		return false, fmt.Errorf("%s could not be worked out: %w", text, err)
	}
	return result.Value() == true, nil
}
