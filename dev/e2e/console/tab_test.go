package console_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/test"
)

// open opens a path of the site and waits until the page is loaded. The end of an earlier
// navigation is not taken for that of this one.
func (b *tab) open(path string) {
	b.t.Helper()
	_, _ = eval[any](b, `document.left = true; null`)
	do(b, "open "+path, chromedp.Navigate(b.office.site.URL()+path))
	b.await(func() error {
		if loaded, err := eval[bool](b, `!document.left && document.readyState === "complete"`); err != nil || !loaded {
			return fmt.Errorf("%s is not loaded: %w", path, err)
		}
		return nil
	})
}

// reload loads the page again.
func (b *tab) reload() {
	b.t.Helper()
	do(b, "reload", chromedp.Reload())
}

// path returns the path of the page that the tab shows, "" between two pages.
func (b *tab) path() string {
	path, _ := eval[string](b, `location.pathname`)
	return path
}

// eval evaluates an expression in the page, which may be a promise.
func eval[T any](b *tab, expression string) (out T, err error) {
	r, err := try(b, runtime.Evaluate, runtime.EvaluateParams{Expression: expression, ReturnByValue: new(true), AwaitPromise: new(true)})
	switch {
	case err != nil:
		return out, err
	case r.ExceptionDetails != nil:
		return out, fmt.Errorf("%.80s: %s", expression, r.ExceptionDetails.Text)
	case r.Result.Value == nil:
		return out, nil
	}
	return out, json.Unmarshal(r.Result.Value, &out)
}

// text returns the text of the page as a reader sees it, in one line, "" between two pages.
func (b *tab) text() string {
	text, _ := eval[string](b, `document.body?.innerText ?? ""`)
	return strings.Join(strings.Fields(text), " ")
}

// sees waits until the page shows all texts.
func (b *tab) sees(texts ...string) {
	b.t.Helper()
	b.await(func() error {
		shown := b.text()
		for _, want := range texts {
			if !strings.Contains(shown, want) {
				return fmt.Errorf("the page lacks %q: %.1500s", want, shown)
			}
		}
		return nil
	})
}

// misses waits until the page no longer shows a text.
func (b *tab) misses(text string) {
	b.t.Helper()
	b.await(func() error {
		if shown := b.text(); strings.Contains(shown, text) {
			return fmt.Errorf("the page still has %q: %.1500s", text, shown)
		}
		return nil
	})
}

// at waits until the tab shows a page whose path has this beginning.
func (b *tab) at(prefix string) {
	b.t.Helper()
	b.await(func() error {
		if at := b.path(); !strings.HasPrefix(at, prefix) {
			return fmt.Errorf("the page is %s, want %s: %.800s", at, prefix, b.text())
		}
		return nil
	})
}

// await repeats a check until it succeeds, less and less often: the browser has much to do for one. The
// failure is reported only at the end.
func (b *tab) await(check func() error) {
	b.t.Helper()
	pause := 10 * time.Millisecond
	harness.Eventually(b.t, within, "the page is as it should be", func() error {
		err := check()
		if err != nil {
			time.Sleep(pause)
			pause = min(2*pause, 200*time.Millisecond)
		}
		return err
	})
}

// find returns the only visible element with a role and a name, as assistive technology
// sees them.
func (b *tab) find(role, name string) (cdp.BackendNodeID, error) {
	all, err := b.all(role)
	if err != nil {
		return 0, err
	}
	var found []cdp.BackendNodeID
	var names []string
	for _, e := range all {
		names = append(names, e.name)
		if e.name == name {
			found = append(found, e.node)
		}
	}
	if len(found) != 1 {
		return 0, fmt.Errorf("%d %ss are named %q, among %q", len(found), role, name, names)
	}
	return found[0], nil
}

// An element is one of the accessibility tree.
type element struct {
	node cdp.BackendNodeID
	name string
}

// all lists the elements of a role that are not hidden.
func (b *tab) all(role string) (out []element, err error) {
	document, err := try(b, dom.GetDocument, dom.GetDocumentParams{})
	if err != nil {
		return nil, err
	}
	found, err := try(b, accessibility.QueryAXTree, accessibility.QueryAXTreeParams{BackendNodeID: document.Root.BackendNodeID, Role: role})
	for _, n := range found.Nodes {
		if n.Ignored {
			continue
		}
		e := element{node: n.BackendDOMNodeID}
		if n.Name != nil {
			err = errors.Join(err, json.Unmarshal(n.Name.Value, &e.name))
		}
		out = append(out, e)
	}
	return out, err
}

// names lists the names of the elements of a role.
func (b *tab) names(role string) []string {
	b.t.Helper()
	all := test.Value(b.all(role))(b.t)
	var out []string
	for _, e := range all {
		out = append(out, e.name)
	}
	return out
}

// locate waits for an element.
func (b *tab) locate(role, name string) (n cdp.BackendNodeID) {
	b.t.Helper()
	b.await(func() (err error) {
		n, err = b.find(role, name)
		return err
	})
	return n
}

// click clicks on an element with the mouse.
func (b *tab) click(role, name string) {
	b.t.Helper()
	b.await(func() error {
		n, err := b.find(role, name)
		if err != nil {
			return err
		}
		return b.clickNode(n)
	})
}

// clickFirst clicks on the first of the elements with a role and a name.
func (b *tab) clickFirst(role, name string) {
	b.t.Helper()
	b.await(func() error {
		n, err := b.first(role, name)
		if err != nil {
			return err
		}
		return b.clickNode(n)
	})
}

// first returns the first element with a role and a name in the order of the page.
func (b *tab) first(role, name string) (cdp.BackendNodeID, error) {
	all, err := b.all(role)
	if err != nil {
		return 0, err
	}
	for _, e := range all {
		if e.name == name {
			return e.node, nil
		}
	}
	return 0, fmt.Errorf("no %s is named %q, among %v", role, name, all)
}

// clickNode clicks on an element. Pages change while they are used, but not between a
// press and its release. So the pressed element is checked after the press, and only the
// release makes it a click.
func (b *tab) clickNode(n cdp.BackendNodeID) error {
	if _, err := try(b, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{BackendNodeID: n}); err != nil {
		return err
	}
	at, err := try(b, dom.GetContentQuads, dom.GetContentQuadsParams{BackendNodeID: n})
	if err != nil {
		return err
	}
	if len(at.Quads) == 0 || len(at.Quads[0]) != 8 {
		return errors.New("the element has no place on the page")
	}
	q := at.Quads[0] // the corners, from the left top in the direction of the clock
	x, y := (q[0]+q[4])/2, (q[1]+q[5])/2
	b.mouse(chromedp.MousePressed, x, y)
	if err := b.covers(n, x, y); err != nil {
		b.mouse(chromedp.MouseReleased, -1, -1) // beside the page: no click
		return err
	}
	b.mouse(chromedp.MouseReleased, x, y)
	return nil
}

// mouse presses or releases the button of the mouse.
func (b *tab) mouse(event input.DispatchMouseEventType, x, y float64) {
	b.t.Helper()
	call(b, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: event, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1})
}

// covers fails unless an element is what the page shows at a place.
func (b *tab) covers(n cdp.BackendNodeID, x, y float64) error {
	node, err := try(b, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: n})
	if err != nil {
		return err
	}
	at := fmt.Sprintf(`function () { const e = document.elementFromPoint(%f, %f); return this.contains(e) ? "" : (e?.outerHTML ?? "nothing").slice(0, 200); }`, x, y)
	r, err := try(b, runtime.CallFunctionOn, runtime.CallFunctionOnParams{FunctionDeclaration: at, ObjectID: node.Object.ObjectID, ReturnByValue: new(true)})
	var other string
	if err == nil {
		err = json.Unmarshal(r.Result.Value, &other)
	}
	if err == nil && other != "" {
		err = fmt.Errorf("the mouse is on %s", other)
	}
	return err
}

// fill replaces the text of a field.
func (b *tab) fill(label, text string) {
	b.t.Helper()
	b.write(b.locate("textbox", label), text)
}

// fillFirst replaces the text of the first field with a label.
func (b *tab) fillFirst(label, text string) {
	b.t.Helper()
	var n cdp.BackendNodeID
	b.await(func() (err error) {
		n, err = b.first("textbox", label)
		return err
	})
	b.write(n, text)
}

// write replaces the text of a field.
func (b *tab) write(field cdp.BackendNodeID, text string) {
	b.t.Helper()
	call(b, dom.Focus, dom.FocusParams{BackendNodeID: field})
	b.press("a", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	if text == "" {
		b.press(kb.Backspace)
		return
	}
	call(b, input.InsertText, input.InsertTextParams{Text: text})
}

// holdRefresh keeps the page as it is, as if its events were late, until stop is called.
func (b *tab) holdRefresh() (stop func()) {
	b.t.Helper()
	b.run(`hold(); null`)
	b.await(func() error {
		if n, err := eval[int](b, `asked`); err != nil || n > 0 {
			return fmt.Errorf("%d requests of the page are on their way: %w", n, err)
		}
		return nil
	})
	return func() {
		b.t.Helper()
		b.run(`unhold(); null`)
	}
}

// run runs a script in the page.
func (b *tab) run(script string) {
	b.t.Helper()
	test.OK(b.t, test.Err(eval[any](b, script)))
}

// press presses a key. As with a keyboard, a page that handles it gets no text of it, where the focus
// goes meanwhile.
func (b *tab) press(key string, options ...chromedp.KeyOption) {
	b.t.Helper()
	do(b, "press a key", chromedp.KeyEvent(key, append(options, func(k *input.DispatchKeyEventParams) {
		if k.Type == input.DispatchKeyEventTypeKeyDown {
			k.Type = input.DispatchKeyEventTypeRawKeyDown
		}
	})...))
}

// resize sets the size of the window.
func (b *tab) resize(width, height int64) {
	b.t.Helper()
	do(b, "resize", chromedp.EmulateViewport(width, height))
}

// shot writes a picture of the whole page and returns its path.
func (b *tab) shot(name string) string {
	path := filepath.Join(b.office.pictures(), strings.ReplaceAll(b.t.Name()+"-"+name, "/", "-")+".png")
	shown, err := try(b, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: new(true)})
	if err == nil {
		err = os.WriteFile(path, shown.Data, 0o600)
	}
	if err != nil {
		b.t.Logf("no picture %s: %v", path, err)
		return ""
	}
	b.t.Logf("picture: %s", path)
	return path
}
