package linkage

import (
	"strings"
	"unicode"
)

// placeholder tells a text that was put where nothing was known. Only what is surely none is told: surnames such as Test,
// Baby, Null, Blank and Na exist (all but the last in the Census of 2010), so most of those need a neighbour: see blank.
func placeholder(kind Kind, raw string, ws []word) bool {
	if notApplicable(raw) || signsAlone(ws) {
		return true
	}
	whole := joined(ws)
	if nothing(whole) {
		return true
	}
	switch kind {
	case Given:
		return repeated(whole) || digits(whole) || newborn(ws) || noGivenName(whole)
	case Family:
		return repeated(whole) || digits(whole) || noFamilyName(whole)
	case Street, City:
		return nowhere(whole)
	case Postal:
		return len(whole) >= 4 && strings.Trim(whole, "0") == "" || len(whole) >= 4 && strings.Trim(whole, "9") == ""
	default:
		return false
	}
}

func joined(ws []word) string {
	if len(ws) == 1 {
		return ws[0].text
	}
	var b strings.Builder
	for _, w := range ws {
		b.WriteString(w.text)
	}
	return b.String()
}

// notApplicable needs the punctuation: Na is a name in Korea and China.
func notApplicable(raw string) bool {
	switch strings.ToLower(strings.TrimSpace(raw)) {
	case "n/a", "n.a.", "n.a", `n\a`, "#n/a", "<na>", "n-a", "n.n.", "(none)", "(null)", "<null>":
		return true
	}
	return false
}

// signsAlone tells punctuation only, and no emoji either, which somebody may be called.
func signsAlone(ws []word) bool {
	for _, r := range ws[0].text {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) {
			return false
		}
	}
	return len(ws) == 1
}

func nothing(s string) bool {
	switch s {
	case "unknown", "unk", "unkn", "unknwn", "uknown", "unknow", "none", "nonegiven", "notgiven", "notprovided", "notavailable", "notknown",
		"notrecorded", "notstated", "notspecified", "notapplicable", "notentered", "nodata", "noinformation", "noinfo", "unspecified", "undisclosed",
		"unavailable", "unidentified", "unnamed", "anonymous", "withheld", "refused", "declined", "missing", "tbd", "tba",
		"noname", "nofirstname", "nolastname", "nomiddlename", "nomiddle", "nosurname", "nofirst", "nolast",
		"nfn", "nln", "nmn", "nmi", "fnu", "lnu", "asdf", "asdfasdf", "asdfgh", "qwerty",
		"desconocido", "desconocida", "inconnu", "inconnue", "unbekannt", "onbekend", "sconosciuto", "sconosciuta":
		return true
	}
	return false
}

// repeated tells one character thrice or more, and XX, ZZ, QQ.
func repeated(s string) bool {
	r := []rune(s)
	for i := range r {
		if r[i] != r[0] {
			return false
		}
	}
	if !unicode.IsLetter(r[0]) && !unicode.IsNumber(r[0]) {
		return false
	}
	return len(r) > 2 || len(r) == 2 && strings.ContainsRune("xzq", r[0])
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// newborn tells the given names of those who have none yet: Baby, Baby Boy 2, Twin A, Infant of Maria, BabyGirl Maria, where
// Maria is the mother. "Baby John" is left to be called John: Baby is a given name in southern India.
func newborn(ws []word) bool {
	first := ws[0].text
	switch first {
	case "babyboy", "babygirl", "bbboy", "bbgirl", "infantboy", "infantgirl", "newborn", "infant":
		return true
	case "baby", "boy", "girl", "twin", "triplet", "male", "female", "bb":
	default:
		return false
	}
	for _, w := range ws[1:] {
		switch w.text {
		case "boy", "girl", "male", "female", "infant", "of":
			return true // whatever follows is another's name
		case "baby", "twin", "triplet", "newborn", "one", "two", "three", "a", "b", "c", "d", "1", "2", "3", "4", "i", "ii", "iii":
		default:
			return false
		}
	}
	return true
}

func noGivenName(s string) bool {
	switch s {
	case "test", "testing", "tester", "testpatient", "patient", "dummy", "sample", "null", "undefined", "firstname", "givenname", "middlename", "blank", "void":
		return true
	}
	return practice(s)
}

func noFamilyName(s string) bool {
	switch s {
	case "testing", "testpatient", "patienttest", "undefined", "lastname", "surname", "familyname":
		return true
	}
	return practice(s)
}

// practice tells the names of practice patients, which sort last.
func practice(s string) bool {
	return strings.HasPrefix(s, "zztest") || strings.HasPrefix(s, "zzztest") || strings.HasPrefix(s, "xxtest") || strings.HasPrefix(s, "zzz")
}

func nowhere(s string) bool {
	switch s {
	case "homeless", "nofixedaddress", "nofixedabode", "noaddress", "nopermanentaddress", "undomiciled", "transient", "sameasabove", "baddress", "badaddress", "returnedmail":
		return true
	}
	return false
}

// blank tells names that are placeholders together only: John Doe, Mickey Mouse, Test Test, Baby Girl Doe.
func blank(first, last *Text) bool {
	if first == nil || last == nil {
		return false
	}
	switch last.Whole {
	case "doe":
		return first.Missing || first.Whole == "john" || first.Whole == "jane"
	case "test", "tester", "patient", "sample", "dummy", "null", "blank", "baby", "boy", "girl", "infant", "newborn", "male", "female":
		return first.Missing
	case "mouse":
		return first.Whole == "mickey" || first.Whole == "minnie"
	case "duck":
		return first.Whole == "donald" || first.Whole == "daisy"
	case "public":
		return first.Whole == "johnq"
	}
	return false
}
