package slip

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Rules replace one piece of a text by another that sounds or looks like it.
type Rules struct {
	rules  []rule
	folded bool // pieces are found in any case, and replaced in the case they had
}

// rule is one replacement. A piece that begins with ^ is found at the beginning of a word only, one that ends with $ at its end.
type rule struct {
	from, to   string
	start, end bool
}

// newRules reads pairs "from>to". With both, each also works the other way round.
func newRules(pairs string, folded, both bool) Rules {
	out := Rules{folded: folded}
	add := func(from, to string) {
		r := rule{start: strings.HasPrefix(from, "^"), end: strings.HasSuffix(from, "$")}
		r.from, r.to = strings.Trim(from, "^$"), strings.Trim(to, "^$")
		out.rules = append(out.rules, r)
	}
	for pair := range strings.FieldsSeq(pairs) {
		from, to, _ := strings.Cut(pair, ">")
		add(from, to)
		if both && strings.Trim(to, "^$") != "" {
			add(to, from)
		}
	}
	return out
}

// Slip applies one of the rules that fit, once.
func (rs Rules) Slip(d *dice.Dice, text string) (string, bool) {
	search := text
	if rs.folded {
		search = strings.ToLower(text)
		if len(search) != len(text) { // a letter whose lower case is longer
			return text, false
		}
	}
	start := d.Below(len(rs.rules))
	for i := range rs.rules {
		r := rs.rules[(start+i*rs.stride())%len(rs.rules)]
		if at, ok := r.find(d, search); ok {
			return changed(text, text[:at]+rs.cased(text[at:at+len(r.from)], r.to)+text[at+len(r.from):])
		}
	}
	return text, false
}

// stride walks over all rules in another order than they are written in, so that one that fits rarely does not lend its
// chance to its neighbour alone. It shares no factor with the number of rules.
func (rs Rules) stride() int {
	stride := 1 + len(rs.rules)*5/8
	for gcd(stride, len(rs.rules)) != 1 {
		stride++
	}
	return stride
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// find gives one of the places where the rule fits.
func (r rule) find(d *dice.Dice, text string) (at int, ok bool) {
	n := 0
	for from := 0; ; {
		i := strings.Index(text[from:], r.from)
		if i < 0 {
			return at, n > 0
		}
		i += from
		from = i + 1
		if r.start && inWord(text[:i], utf8.DecodeLastRuneInString) || r.end && inWord(text[i+len(r.from):], utf8.DecodeRuneInString) {
			continue
		}
		n++
		if d.Below(n) == 0 { // each of the n so far with the same chance
			at = i
		}
	}
}

// inWord reports whether a letter stands at the edge of a text.
func inWord(text string, edge func(string) (rune, int)) bool {
	r, _ := edge(text)
	return unicode.IsLetter(r)
}

// cased writes a replacement in the case of what it replaces.
func (rs Rules) cased(was, to string) string {
	first, size := utf8.DecodeRuneInString(was)
	switch {
	case !rs.folded || to == "" || !unicode.IsUpper(first):
		return to
	case len(was) > size && was == strings.ToUpper(was):
		return strings.ToUpper(to)
	}
	first, size = utf8.DecodeRuneInString(to)
	return string(unicode.ToUpper(first)) + to[size:]
}

// Sounds are spellings that sound alike in American English: what is written down by ear. The pieces are chosen from what
// clerks hear, not from the code of any phonetic key.
func Sounds() Rules {
	return newRules(`ph>f ck>k ck>c c>k x>ks qu>kw sch>sh tch>ch gh>g ^kn>n ^wr>r ^rh>r ^ps>s ^gn>n ^wh>w tz>ts cz>ch dg>j
		ie>ei ie>y$ y$>ey i$>ie ee>ea ee>i ea>e ai>ay ei>ai ae>e oe>o ou>u oo>u au>o aw>au ow>ou eu>u y>i e$>ie
		ll>l nn>n tt>t rr>r ss>s mm>m pp>p ff>f gg>g dd>d bb>b zz>z s>z s$>z c>s v>f d$>t th>t b$>p
		son$>sen mann$>man man$>mann berg$>burg stein$>stine ck$>k er$>ar er$>or el$>le ^mc>mac ey$>ie a$>ah ah$>a
		lyn$>lynn line$>lyn ^j>g ^k>c sz>z wicz$>witz ski$>sky`, true, true)
}

// Scans are shapes that a scanner takes for one another.
func Scans() Rules {
	return newRules(`0>O 1>l 1>I l>I 5>S 8>B 2>Z 6>G 0>D rn>m cl>d vv>w nn>m ri>n li>h c>e u>v a>o i>j f>t h>b g>q n>r C>G E>F O>Q
		U>V P>R B>R 1>7 3>8 5>6 4>9 W>VV H>N`, false, true)
}
