package index

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// rule is one of the ways in which a person can be looked up: what it takes for two records to be compared at all. Each is
// the hash of a few things about a person, chosen so that those still intact after errors in any one field, or ordinary
// errors in any two, are a key (blocking; Christen 2012, Data Matching, ch. 4).
type rule uint8

const (
	byBirth     rule = iota + 1 // day of birth
	byNames                     // a first and a last name, whichever is which
	bySoundYear                 // sound of a last name, year of birth
	bySoundDay                  // sound of a last name, month and day of birth
	byFirstYear                 // a first name, year of birth
	byFirstDay                  // a first name, month and day of birth
	byLast                      // a last name
	byFirst                     // a first name
	byPhone                     // a telephone number
	byEmail                     // an e-mail address
	byNumber                    // an identifier's value
	bySSN                       // last four of the social security number
	byDoor                      // number of the house and street
	byPostal                    // postal code
	rules
)

// key is a rule's hash for a person.
type key struct {
	hash uint64
	rule rule
}

// keyer makes keys. It is used again and again, so that it allocates nothing.
type keyer struct {
	seed   maphash.Seed
	keys   []key
	firsts []name
	lasts  []name
	most   int // of each
	order  []*linkage.AliasName
	buffer []byte
}

// name is a word of a name as keys know it.
type name struct {
	word, sound uint64
	sound2      uint64 // zero: none
	of          uint32 // the names it is a word of: bit 0 the own one, the others aliases
	bare        bool   // only the fold of a name that has other words or says nothing: exact matching looks for it
}

// Bounds of the words of first and of last names that keys are made of, so that nobody has hundreds of keys: of questions, each
// key of which is looked up, and of records.
const (
	mostNames   = 7
	mostAliases = 24
)

const own = 1 // bit of the person's own name

// of makes the keys of a record, each once.
func (k *keyer) of(r *record) []key {
	k.most, k.order = mostAliases, k.order[:0]
	for i := range r.person.Aliases {
		k.order = append(k.order, &r.person.Aliases[i])
	}
	slices.SortStableFunc(k.order, newer)
	k.begin(&r.person)
	k.firsts, k.lasts = k.fold(k.firsts, r.person.First), k.fold(k.lasts, r.person.Last)
	k.names(r.person.DOB, false)
	if r.born != 0 && r.born != r.person.DOB {
		k.key(byBirth, uint64(r.born), 0) //nolint:gosec // not negative
	}
	k.places(&r.person)
	k.numbers(&r.person)
	if r.ssn >= 0 && r.person.SSNLast4 < 0 {
		k.key(bySSN, uint64(r.ssn), 0)
	}
	for i := range r.others {
		k.key(r.others[i].rule, maphash.String(k.seed, r.others[i].value), 0)
	}
	return k.each()
}

// ask makes the keys of a question, each once: also of the second way of saying a name, and of aliases that hold now.
func (k *keyer) ask(p *linkage.Person, now int64) {
	k.most, k.order = mostNames, k.order[:0]
	for i := range p.Aliases {
		if a := &p.Aliases[i]; holds(a.From, a.Until, now) {
			k.order = append(k.order, a)
		}
	}
	k.begin(p)
	k.names(p.DOB, true)
	k.places(p)
	k.numbers(p)
	k.each()
}

// newer orders aliases that hold longer, and of these the later ones, before others: whatever is left out has long ended.
func newer(a, b *linkage.AliasName) int {
	end := func(until int64) int64 {
		if until == 0 {
			return math.MaxInt64
		}
		return until
	}
	return cmp.Or(cmp.Compare(end(b.Until), end(a.Until)), cmp.Compare(b.From, a.From))
}

func (k *keyer) begin(p *linkage.Person) {
	k.keys = k.keys[:0]
	k.firsts, k.lasts = k.add(k.firsts[:0], p.First, own), k.add(k.lasts[:0], p.Last, own)
	for i, a := range k.order {
		of := uint32(2) << min(i, 30)
		k.firsts, k.lasts = k.add(k.firsts, a.First, of), k.add(k.lasts, a.Last, of)
	}
}

// each drops what is there twice.
func (k *keyer) each() []key {
	slices.SortFunc(k.keys, func(a, b key) int { return cmp.Compare(a.hash, b.hash) })
	k.keys = slices.CompactFunc(k.keys, func(a, b key) bool { return a.hash == b.hash })
	return k.keys
}

// add adds the words of a name, and the words run together, since one system writes Anne Marie and another Annemarie.
func (k *keyer) add(to []name, t *linkage.Text, of uint32) []name {
	put := func(n name) {
		n.of = of
		if at := slices.IndexFunc(to, func(o name) bool { return o.word == n.word }); at >= 0 {
			to[at].of |= of
		} else if len(to) < k.most {
			to = append(to, n)
		}
	}

	if t == nil || t.Missing || len(t.Parts) == 0 {
		return to
	}
	if t.Whole != t.Parts[0].Text {
		put(k.name(t.Whole, ""))
	}
	for i := range t.Parts {
		p := &t.Parts[i]
		n := k.name(p.Text, p.Sound)
		if p.Sound2 != "" {
			n.sound2 = maphash.String(k.seed, p.Sound2)
		}
		put(n)
		if p.Alt != "" {
			put(k.name(p.Alt, p.Sound))
		}
	}
	return to
}

// fold adds the fold of a name, should it not be one of its words.
func (k *keyer) fold(to []name, t *linkage.Text) []name {
	if t == nil || t.Fold == "" {
		return to
	}
	n := k.name(t.Fold, "")
	if slices.ContainsFunc(to, func(o name) bool { return o.word == n.word }) {
		return to
	}
	n.bare, n.of = true, own
	return append(to, n)
}

func (k *keyer) name(word, sound string) name {
	n := name{word: maphash.String(k.seed, word)}
	if sound == "" {
		n.sound = n.word
	} else {
		n.sound = maphash.String(k.seed, sound)
	}
	return n
}

func (k *keyer) names(born linkage.Date, question bool) {
	year, day := uint64(born/10000), uint64(born%10000) //nolint:gosec // not negative
	if born != 0 {
		k.key(byBirth, uint64(born), 0) //nolint:gosec // not negative
	}
	for i := range k.firsts {
		f := &k.firsts[i]
		k.key(byFirst, f.word, 0)
		if f.bare {
			continue
		}
		k.key(byFirstYear, f.word, year)
		if born != 0 {
			k.key(byFirstDay, f.word, day)
		}
		if question && born != 0 {
			k.key(byFirstYear, f.word, unborn)
		}
	}
	for i := range k.lasts {
		l := &k.lasts[i]
		k.key(byLast, l.word, 0)
		for j := range k.firsts {
			if together := l.of | k.firsts[j].of; !question && together&own == 0 && l.of&k.firsts[j].of == 0 {
				continue // nobody is called by the first name of one alias and the last name of another
			}
			k.key(byNames, min(l.word, k.firsts[j].word), max(l.word, k.firsts[j].word))
		}
		if !l.bare {
			k.sound(l.sound, born, question)
		}
		if question && l.sound2 != 0 {
			k.sound(l.sound2, born, question)
		}
	}
}

// unborn is the year of people whose day of birth is not known: a question that has one finds them, too.
const unborn = 0

func (k *keyer) sound(sound uint64, born linkage.Date, question bool) {
	k.key(bySoundYear, sound, uint64(born/10000)) //nolint:gosec // not negative
	if born != 0 {
		k.key(bySoundDay, sound, uint64(born%10000)) //nolint:gosec // not negative
	}
	if question && born != 0 {
		k.key(bySoundYear, sound, unborn)
	}
}

func (k *keyer) places(p *linkage.Person) {
	for i := range p.Addresses {
		a := &p.Addresses[i]
		if a.House != "" && a.Line != nil && !a.Line.Missing {
			k.key(byDoor, maphash.String(k.seed, a.Line.Whole), maphash.String(k.seed, a.House))
		}
		if a.Postal != nil && !a.Postal.Missing {
			k.key(byPostal, maphash.String(k.seed, a.Postal.Whole), 0)
		}
	}
}

func (k *keyer) numbers(p *linkage.Person) {
	for _, n := range p.Phones {
		k.key(byPhone, uint64(n), 0)
	}
	for _, s := range p.Emails {
		k.key(byEmail, k.folded(s), 0)
	}
	for i := range p.Identifiers {
		k.key(byNumber, maphash.String(k.seed, p.Identifiers[i].Value), 0)
	}
	if p.SSNLast4 < 0 {
		return
	}
	k.key(bySSN, uint64(p.SSNLast4), 0)
}

// folded hashes the fold of an e-mail address without making it.
func (k *keyer) folded(s string) uint64 {
	b := k.buffer[:0]
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			b = append(b, c)
		case c >= 'A' && c <= 'Z' || c >= 0x80:
			return maphash.String(k.seed, linkage.Fold(s))
		}
	}
	if len(b) == 0 {
		return maphash.String(k.seed, linkage.Fold(s))
	}
	k.buffer = b
	return maphash.Bytes(k.seed, b)
}

func (k *keyer) key(r rule, a, b uint64) { k.keys = append(k.keys, key{hash(r, a, b), r}) }

// hash mixes two things with what they are. The lists want every bit to depend on all.
func hash(r rule, a, b uint64) uint64 {
	const one, two = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93
	h := (a^uint64(r)<<56)*one ^ b
	h = (h ^ h>>32) * two
	h = (h ^ h>>29) * one
	return h ^ h>>32
}

// holds tells whether an interval covers an instant. Zero is open.
func holds(from, until, now int64) bool {
	return (from == 0 || from <= now) && (until == 0 || now < until)
}
