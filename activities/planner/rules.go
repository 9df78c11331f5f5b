package planner

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"regexp"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
)

// Rules plans without a model: it answers trivial messages, splits a request that
// names its own steps, and makes one task of any other request. Its zero value is
// ready.
type Rules struct{}

// Answer returns the answer to a trivial message, which is an arithmetic
// expression. ok is false for all other messages, and if the sender prefers an
// objective.
func (Rules) Answer(m a2a.Message) (text string, ok bool) {
	if m.Metadata.Bool(opt.KeyPreferObjective) || m.Metadata.Has(opt.KeyAccept) || len(m.Parts) != 1 || m.Parts[0].Text == nil {
		return "", false
	}
	question := strings.TrimSpace(*m.Parts[0].Text)
	sum := strings.TrimSpace(strings.TrimSuffix(questionPrefix.ReplaceAllString(question, ""), "?"))
	sum = strings.TrimSpace(strings.TrimSuffix(sum, "="))
	value, ok := calculate(sum)
	if !ok {
		return "", false
	}
	return sum + " = " + value, true
}

var (
	questionPrefix = regexp.MustCompile(`(?i)^(what is|what's|how much is|calculate|compute)\s+`)
	numbers        = regexp.MustCompile(`^[0-9+\-*/(). ]{3,80}$`)
)

// calculate works out an expression of numbers with + - * / and parentheses,
// exactly; ok is false for anything else, and for a lone number.
func calculate(expression string) (value string, ok bool) {
	if !numbers.MatchString(expression) {
		return "", false
	}
	tree, err := parser.ParseExpr(expression)
	if err != nil {
		return "", false
	}
	if _, operation := tree.(*ast.BinaryExpr); !operation {
		return "", false
	}
	v, ok := evaluate(tree)
	if !ok {
		return "", false
	}
	if whole := constant.ToInt(v); whole.Kind() == constant.Int {
		return whole.ExactString(), true
	}
	f, _ := constant.Float64Val(v)
	return strings.TrimRight(fmt.Sprintf("%.6f", f), "0"), true
}

func evaluate(e ast.Expr) (constant.Value, bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return evaluate(e.X)
	case *ast.BasicLit:
		v := constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0))
		return v, v.Kind() == constant.Float
	case *ast.UnaryExpr:
		v, ok := evaluate(e.X)
		if !ok {
			return nil, false
		}
		return constant.UnaryOp(e.Op, v, 0), true
	case *ast.BinaryExpr:
		x, okX := evaluate(e.X)
		y, okY := evaluate(e.Y)
		if !okX || !okY || e.Op == token.QUO && constant.Sign(y) == 0 {
			return nil, false
		}
		return constant.BinaryOp(x, e.Op, y), true
	}
	return nil, false
}

// Steps returns the steps that a request names itself, in order: a list with
// numbers or bullets, or "first …, then …, finally …". It is empty for a request
// that names fewer than two, or more than a plan may have by default.
func (Rules) Steps(request string) []string {
	steps := stepsInList(request)
	if len(steps) < 2 {
		steps = stepsInSentence(request)
	}
	if len(steps) < 2 || len(steps) > (opt.Limits{}).OrDefault().Tasks {
		return nil
	}
	return steps
}

var (
	bullet    = regexp.MustCompile(`^\s*(?:\d{1,2}[.)]|[-*•])\s+(\S.*)$`)
	orderWord = regexp.MustCompile(`(?i)(?:^|[.,;]\s*|\s+and\s+|\s+)(?:first|then|after that|afterwards|next|finally|lastly)\b[,:]?\s+`)
	firstWord = regexp.MustCompile(`(?i)^(?:please\s+)?first\b`)
)

// stepsInList returns the items of a list with numbers or bullets.
func stepsInList(request string) []string {
	var items []string
	for line := range strings.Lines(request) {
		if m := bullet.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			items = append(items, strings.TrimSpace(m[1]))
		}
	}
	return items
}

// stepsInSentence returns the steps in a sentence with "first" or "then".
func stepsInSentence(request string) []string {
	text := strings.Join(strings.Fields(request), " ")
	if !firstWord.MatchString(text) && !strings.Contains(strings.ToLower(text), " then ") {
		return nil
	}
	var steps []string
	for _, step := range orderWord.Split(strings.TrimPrefix(text, "Please "), -1) {
		if step = strings.Trim(step, " .,;"); step != "" {
			steps = append(steps, step)
		}
	}
	return steps
}
