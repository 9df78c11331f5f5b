package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// mustBe begins the defect of a value that has another type.
const mustBe = "it must be "

// typeWords are the types of values for people, as questions name them.
var typeWords = map[string]string{
	"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false", "array": "a list", "object": "an object",
}

// inWords returns a defect for people. Rare ones are in the words of the library.
func inWords(defect jsonschema.ErrorKind) string {
	switch d := defect.(type) {
	case *kind.Type:
		var types []string
		for _, name := range d.Want {
			types = append(types, cmp.Or(typeWords[name], name))
		}
		return mustBe + strings.Join(types, " or ")
	case *kind.Minimum:
		return mustBe + "at least " + numberText(d.Want)
	case *kind.Maximum:
		return mustBe + "at most " + numberText(d.Want)
	case *kind.ExclusiveMinimum:
		return mustBe + "more than " + numberText(d.Want)
	case *kind.ExclusiveMaximum:
		return mustBe + "less than " + numberText(d.Want)
	case *kind.MinLength:
		return fmt.Sprintf("it must have at least %d characters, and has %d", d.Want, d.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("it must have at most %d characters, and has %d", d.Want, d.Got)
	}
	return formInWords(defect)
}

// formInWords is inWords for defects of more than the type and the bounds of a value.
func formInWords(defect jsonschema.ErrorKind) string {
	switch d := defect.(type) {
	case *kind.Enum:
		var values []string
		for _, v := range d.Want {
			values = append(values, valueText(v))
		}
		if len(values) == 1 {
			return "the value must be " + values[0]
		}
		return "the value must be one of " + strings.Join(values, ", ")
	case *kind.Const:
		return "the value must be " + valueText(d.Want)
	case *kind.MinItems:
		return fmt.Sprintf("it must have at least %d, and has %d", d.Want, d.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("it must have at most %d, and has %d", d.Want, d.Got)
	case *kind.UniqueItems:
		return fmt.Sprintf("it has the same twice: number %d and number %d", d.Duplicates[0]+1, d.Duplicates[1]+1)
	case *kind.Required:
		return "it needs " + strings.Join(d.Missing, ", ")
	case *kind.AdditionalProperties:
		return "it may have no member " + strings.Join(d.Properties, ", ")
	case *kind.Pattern:
		return "it must match " + d.Want
	case *kind.MultipleOf:
		return "it must be a multiple of " + numberText(d.Want)
	case *kind.Format:
		return "it must be a valid " + d.Want
	case *kind.OneOf, *kind.AnyOf, *kind.Not, *kind.FalseSchema:
		return "it is none of the allowed forms"
	}
	return defect.LocalizedString(message.NewPrinter(language.English))
}

// valueText returns a value of a schema for people.
func valueText(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	raw, _ := json.Marshal(v) // it was read from JSON
	return string(raw)
}

func numberText(n *big.Rat) string {
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}
