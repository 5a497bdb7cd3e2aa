package browser

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// person sits at a browser of their own.
type person struct {
	t      *testing.T
	ctx    context.Context
	base   string
	silent bool // scripts are off
}

// The screens that pages are looked at on.
const (
	narrowWidth                 = 360
	phoneWidth, phoneHeight     = 390, 844
	desktopWidth, desktopHeight = 1280, 900
)

// patience ends a wait that is in vain.
const patience = time.Minute

// newPerson gives somebody a browser without any cookie.
func newPerson(t *testing.T) *person {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &person{t: t, ctx: ctx, base: world.URL()}
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil { // without a time limit, which would be the browser's
		t.Fatal(err)
	}
	p.listen()
	p.do(chromedp.EmulateViewport(desktopWidth, desktopHeight))
	return p
}

// do runs steps, each of which waits for what it needs.
func (p *person) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		look, done := context.WithTimeout(p.ctx, 5*time.Second)
		defer done()
		at, _ := chromedp.Run(look, chromedp.Location())
		text, _ := chromedp.Run(look, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
		p.picture("failed-" + strings.ReplaceAll(p.t.Name(), "/", "-"))
		p.t.Fatalf("%v, at %s:\n%s", err, at, text)
	}
}

// visit opens a path of the mesh, or an address.
func (p *person) visit(address string) {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = p.base + address
	}
	p.do(chromedp.Navigate(address))
}

// fill types into the input of a name.
func (p *person) fill(name, text string) {
	p.t.Helper()
	field := chromedp.CSS(`main [name="` + name + `"]:not([type="hidden"])`)
	p.do(chromedp.WaitVisible(field), chromedp.Clear(field), chromedp.SendKeys(field, text))
}

// press presses the button, or follows the link, with a text, and waits for the page that comes.
func (p *person) press(text string) {
	p.t.Helper()
	quoted := `"` + text + `"`
	button := `//main//button[normalize-space()=` + quoted + `] | //main//a[normalize-space()=` + quoted + `] | //header//button[normalize-space()=` + quoted + `]`
	p.leave(chromedp.Click(chromedp.Search(button), chromedp.NodeVisible))
}

// leave does something that leads to another page, and waits until that is there.
func (p *person) leave(step chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if _, err := chromedp.RunResponse(ctx, step); err != nil {
		p.do(step) // tells where it was
		p.t.Fatal(err)
	}
}

// sees waits for a text on the page.
func (p *person) sees(text string) {
	p.t.Helper()
	p.do(chromedp.WaitVisible(chromedp.Search(`//main//*[contains(normalize-space(), "` + text + `")]`)))
}

// text is all that the page says.
func (p *person) text() string {
	p.t.Helper()
	return ask(p, chromedp.Evaluate[string](`document.body.innerText`))
}

// ask runs a step that gives something.
func ask[T any](p *person, step chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, step)
	if err != nil {
		p.t.Fatal(err)
	}
	return value
}

// at is where the person is.
func (p *person) at() *url.URL {
	p.t.Helper()
	u, err := url.Parse(ask(p, chromedp.Location()))
	if err != nil {
		p.t.Fatal(err)
	}
	return u
}
