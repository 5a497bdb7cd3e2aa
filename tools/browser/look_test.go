package browser

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// listen fails the test over whatever the browser complains of: scripts that break, files that are missing, and what a
// page's policy forbids. That an answer to a form is an error is what tests look for themselves.
func (p *person) listen() {
	complain := make(chan string, 100)
	err := chromedp.Listen(p.ctx, func(event any) {
		text := ""
		switch e := event.(type) {
		case *cdplog.EventEntryAdded:
			answer := e.Entry.Source == cdplog.EntrySourceNetwork && !strings.Contains(e.Entry.URL, "/assets/")
			if e.Entry.Level == cdplog.EntryLevelError && !answer {
				text = e.Entry.Text + " " + e.Entry.URL
			}
		case *runtime.EventExceptionThrown:
			text = e.ExceptionDetails.Text
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError {
				text = "console.error"
			}
		}
		if text != "" {
			select {
			case complain <- text:
			default:
			}
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		for {
			select {
			case text := <-complain:
				p.t.Error("the browser says: " + text)
			default:
				return
			}
		}
	})
}

// facts are what can be told of any page.
type facts struct {
	Lang     string   `json:"lang"`
	Headings int      `json:"headings"`
	Title    string   `json:"title"`
	Nameless []string `json:"nameless"` // fields without a label, buttons and links without a text
	Broken   []string `json:"broken"`   // references to ids that are not there
	Doubled  []string `json:"doubled"`  // ids that are there twice
	Overflow int      `json:"overflow"` // pixels that have to be scrolled to the right for
	Sticking []string `json:"sticking"` // what reaches out
	Tiny     []string `json:"tiny"`     // targets that are hard to hit (WCAG 2.5.8)
}

const tell = `(() => {
  const root = document.documentElement;
  const shown = (e) => e.checkVisibility() && e.getClientRects().length > 0;
  const brief = (e) => e.outerHTML.slice(0, 120);
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  const inText = (e) => getComputedStyle(e).display === "inline";
  return {
    lang: root.lang, headings: document.querySelectorAll("h1").length, title: document.title,
    nameless: [
      ...[...document.querySelectorAll("input:not([type=hidden]), textarea, select")].filter((e) => shown(e) && !e.labels.length && !e.ariaLabel),
      ...[...document.querySelectorAll("button, a[href], summary")].filter((e) => !e.textContent.trim() && !e.ariaLabel),
      ...[...document.images].filter((e) => !e.hasAttribute("alt")),
    ].map(brief),
    broken: [...document.querySelectorAll("[for], [aria-describedby], [aria-labelledby]")].flatMap((e) =>
      [e.htmlFor, e.getAttribute("aria-describedby"), e.getAttribute("aria-labelledby")].filter(Boolean).flatMap((l) => l.split(" ")).filter((id) => !ids.includes(id))),
    doubled: ids.filter((id, i) => ids.indexOf(id) !== i),
    overflow: root.scrollWidth - root.clientWidth,
    sticking: [...document.body.querySelectorAll("*")].filter((e) => shown(e) && e.getBoundingClientRect().right > root.clientWidth + 1).map(brief).slice(0, 5),
    tiny: [...document.querySelectorAll("button, a[href], summary, input:not([type=hidden], [type=checkbox], [type=radio])")].filter((e) => {
      const box = e.getBoundingClientRect();
      return shown(e) && !inText(e) && !e.classList.contains("link") && !e.classList.contains("skip") && (box.height < 24 || box.width < 24);
    }).map(brief),
  };
})()`

// look holds the page that the person sees to what every page keeps, on narrow phones too, and takes its pictures.
func (p *person) look(name string) {
	p.t.Helper()
	for _, width := range []int64{desktopWidth, phoneWidth, narrowWidth} {
		p.do(chromedp.EmulateViewport(width, phoneHeight))
		f := ask(p, chromedp.Evaluate[facts](tell))
		if f.Lang != "en" || f.Headings != 1 || !strings.Contains(f.Title, " · ") {
			p.t.Errorf("%s: language %q, %d main headings, title %q", name, f.Lang, f.Headings, f.Title)
		}
		if len(f.Nameless)+len(f.Broken)+len(f.Doubled)+len(f.Tiny) > 0 {
			p.t.Errorf("%s at %d: without a name %q, references to nothing %q, doubled ids %q, too small %q", name, width, f.Nameless, f.Broken, f.Doubled, f.Tiny)
		}
		if f.Overflow > 0 {
			p.t.Errorf("%s is %d pixels too wide at %d: %q", name, f.Overflow, width, f.Sticking)
		}
	}
	p.picture(name)
	p.do(chromedp.EmulateViewport(desktopWidth, desktopHeight))
}

// picture keeps what the page looks like, at both widths, light and dark, where SCREENSHOT_DIR asks for it.
func (p *person) picture(name string) {
	folder := os.Getenv("SCREENSHOT_DIR")
	if folder == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	take := func(scheme, screen string, width, height int64) error {
		if err := chromedp.Do(ctx, prefer(scheme), chromedp.EmulateViewport(width, height)); err != nil {
			return err
		}
		shot, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, name+"-"+screen+"-"+scheme+".png"), shot, 0o600)
	}
	for _, scheme := range []string{"dark", "light"} {
		if err := take(scheme, "phone", phoneWidth, phoneHeight); err != nil {
			p.t.Log("no picture of", name, err)
		}
		if err := take(scheme, "desktop", desktopWidth, desktopHeight); err != nil {
			p.t.Log("no picture of", name, err)
		}
	}
}

// prefer is what the device says that its user likes.
func prefer(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
		})
		return err
	})
}

// withoutScript turns scripts off in the person's browser.
func (p *person) withoutScript() {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	p.silent = true
}

// eventually waits until something holds that others bring about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := newTick()
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatal("in vain: " + what)
		case <-tick.C:
		}
	}
}
