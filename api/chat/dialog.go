package chat

import (
	"fmt"
	"slices"
	"strconv"

	"longhaul/api/call"
	"longhaul/api/gateform"
	"longhaul/internal/chatapp"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A dialog asks for the words of an answer.
type dialog struct {
	title  string
	inputs []input
}

// An input is a field of the form that [gateform.Read] reads.
type input struct {
	name string
	shown.Question
}

// longestOption and mostOptions are limits of platforms. Questions with others are asked for text.
const (
	longestOption = 75
	mostOptions   = 100
)

func isLong(option string) bool { return len([]rune(option)) > longestOption }

// newDialog returns the dialog of a button at an open gate.
func newDialog(b chatapp.Press, g *opt.Gate) (dialog, error) {
	words := func(title, name, text string) dialog {
		return dialog{title, []input{{name, shown.Question{Text: text}}}}
	}
	form := gateform.New(g, nil)
	switch {
	case b.Action == string(opt.Refine) && form.Refines:
		return words("Refine", "feedback", "What should be better?"), nil
	case b.Action == string(opt.Ask) && form.Asks:
		return words("Ask", "question", "Your question, which decides nothing"), nil
	case b.Action == chatapp.Answer && len(form.Questions) > 0:
		d := dialog{title: "Answer"}
		for i, q := range form.Questions {
			if len(q.Options) > mostOptions || slices.ContainsFunc(q.Options, isLong) {
				q.Options = nil
			}
			d.inputs = append(d.inputs, input{answerName(i), q})
		}
		return d, nil
	}
	return dialog{}, call.ErrNotWaiting
}

// answerName returns the name of the n-th answer in a form, from 0.
func answerName(n int) string { return "answer-" + strconv.Itoa(n) }

// filled returns the inputs of a dialog as texts.
func filled(inputs map[string]any) map[string]string {
	out := map[string]string{}
	for name, value := range inputs {
		if value != nil {
			out[name] = fmt.Sprint(value)
		}
	}
	return out
}

// shortened returns text cut to a number of characters.
func shortened(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
