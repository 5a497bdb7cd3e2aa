package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

func TestReferenceShows(t *testing.T) {
	p := newPerson(t)
	p.visit("/docs")
	p.do(chromedp.WaitVisible(chromedp.CSS(`.opblock`)))
	p.picture("docs")
}
