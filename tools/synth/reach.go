package synth

import (
	"strconv"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
	"github.com/patient-mesh/patient-mesh/tools/synth/slip"
)

// letters are what of a name goes into an e-mail address.
func letters(name string) string {
	plain := slip.Plain(name)
	out := make([]byte, 0, len(plain))
	for i := range len(plain) {
		switch c := plain[i]; {
		case c >= 'a' && c <= 'z':
			out = append(out, c)
		case c >= 'A' && c <= 'Z':
			out = append(out, c+'a'-'A')
		}
	}
	return string(out)
}

// number is a telephone number of an area, as its owner writes it. Its exchange is one that can be dialled, and never 555.
func number(d *dice.Dice, area string) string {
	exchange := d.Between(200, 999)
	for exchange%100 == 11 || exchange == 555 {
		exchange = d.Between(200, 999)
	}
	e, line := strconv.Itoa(exchange), digits(d.Below(10_000), 4)
	switch share := d.Below(100); {
	case share < 60:
		return "(" + area + ") " + e + "-" + line
	case share < 90:
		return area + "-" + e + "-" + line
	}
	return area + e + line
}

// mailbox is an e-mail address made of somebody's name, with digits that make it theirs alone, nearly always. The domains
// are those of nobody (RFC 2606), lest anybody write there.
func mailbox(d *dice.Dice, p *person) string {
	first, last := letters(p.first), letters(p.last)
	if first == "" || last == "" {
		first, last = first+"a", last+"b"
	}
	var local string
	switch share := d.Below(100); {
	case share < 30:
		local = first + "." + last
	case share < 50:
		local = first + last
	case share < 65:
		local = first[:1] + last
	case share < 75:
		local = first + "_" + last
	case share < 85:
		local = last + "." + first
	default:
		local = first
	}
	switch share := d.Below(100); {
	case share < 50 && len(local) >= 16: // nobody had it
	case share < 30:
		local += strconv.Itoa(p.born.year) + strconv.Itoa(d.Below(100))
	default:
		local += strconv.Itoa(d.Below(100_000))
	}
	domain := dice.Pick(d, []string{"gmail", "gmail", "gmail", "gmail", "gmail", "yahoo", "yahoo", "icloud", "outlook", "hotmail", "aol", "comcast"})
	return local + "@" + domain + ".example"
}
