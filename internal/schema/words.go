package schema

import (
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
			types = append(types, typeText(name))
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
	return defect.LocalizedString(message.NewPrinter(language.English))
}

func typeText(name string) string {
	if text, ok := typeWords[name]; ok {
		return text
	}
	return name
}

func numberText(n *big.Rat) string {
	f, _ := n.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64)
}
