package linkage

// Kind is what a text is of, which decides its normal form.
type Kind uint8

// The kinds of text.
const (
	Given  Kind = iota // first and middle names
	Family             // last names
	Street             // the first lines of addresses
	Plain              // cities, states, postal codes, suffixes, all else
)

// Text is a field in its normal forms. It does not change once made, and is shared by all who bear it.
type Text struct {
	ID      uint32 // by whoever keeps many texts, so that a comparison can be remembered; 0: nobody
	Raw     string // as it was given
	Fold    string // without case, accents, punctuation and spaces: what exact matching compares
	Missing bool   // it says nothing: a placeholder such as "Baby Boy", "Unknown", "n/a"
	Parts   []Part // its words, in order, without titles, suffixes, particles; none when Missing
	Whole   string // the words run together, particles too; empty when Missing
	Suffix  string // what was found at the end of a last name: jr, sr, 2, 3, …
}

// Part is one word of a text.
type Part struct {
	Text   string   // lower case ASCII where a transliteration is known
	Alt    string   // its other usual spelling, as oe is of ö; empty: none
	Sound  string   // phonetic code, of names; empty where there is none
	Sound2 string   // another way of saying it; empty where there is none
	Nicks  []uint16 // the groups of nicknames it is in, ascending
}

// Person is Demographics in normal form: what is compared. Nil and empty are what is not known.
type Person struct {
	First, Middle, Last, Suffix *Text
	DOB                         Date
	Sex                         Sex
	SSNLast4                    int16 // -1: not known
	Aliases                     []AliasName
	Addresses                   []Place
	Phones                      []Phone
	Emails                      []string // folded
	Identifiers                 []Number
}

// Date is a day as year*10000 + month*100 + day; zero is not known.
type Date int32

// Sex is a sex at birth.
type Sex uint8

// The sexes at birth.
const (
	SexUnknown Sex = iota
	Female
	Male
	Intersex
	OtherSex
)

// AliasName is another name; any of the two may be nil.
type AliasName struct {
	First, Last *Text
	From, Until int64 // as of an Alias
}

// Place is an address.
type Place struct {
	Line, City, State, Postal *Text
	House                     string // number of the house or of the PO box, folded; empty: none
	Unit                      string // what stood in the first line of a flat, folded; empty: none
}

// Phone is the significant digits of a telephone number, without its country's where that is known: the last ten at most.
type Phone uint64

// Number is an identifier.
type Number struct {
	System      uint64 // a hash of type and authority; odd: a household may share the number
	Value       string // folded
	From, Until int64  // as of an Alias
}
