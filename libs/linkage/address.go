package linkage

import "strings"

// splitLine takes the first line of an address apart: the number of the house, the street and what is behind it of a flat.
// The number stands before the street or after it, as the country has it: 12 Main St Apt 3, 3/12 High Street, Hauptstraße 12.
// The street is a piece of the line, so that it costs nothing; a PO box is a street of which each box is a house.
func splitLine(line string) (house, street, unit string) {
	var tokens [16]token
	ts := cut(line, tokens[:0])
	if n := box(line, ts); n > 0 {
		return foldedRun(line, ts[n:]), "PO Box", ""
	}
	ts, unit = unitBefore(line, ts)
	if len(ts) > 0 && houseNumber(ts[0].of(line)) {
		house, unit = slashed(ts[0].of(line), unit)
		if ts = ts[1:]; len(ts) > 0 && fraction(ts[0].of(line)) {
			ts = ts[1:]
		}
	}
	ts, unit = unitBehind(line, ts, unit, house != "")
	if last := len(ts) - 1; house == "" && last > 0 && houseNumber(ts[last].of(line)) && !numbered(ts[last-1].of(line)) {
		house, unit = slashed(ts[last].of(line), unit)
		ts = ts[:last]
		if last := len(ts) - 1; last > 0 && numberSign(ts[last].of(line)) {
			ts = ts[:last]
		}
	}
	if len(ts) == 0 {
		return house, "", unit
	}
	return house, line[ts[0].from:ts[len(ts)-1].to], unit
}

// token is a piece of a line between spaces and commas.
type token struct{ from, to int }

func (t token) of(line string) string { return line[t.from:t.to] }

func cut(line string, ts []token) []token {
	start := -1
	for i := 0; i <= len(line); i++ {
		if i == len(line) || line[i] == ' ' || line[i] == ',' || line[i] == ';' || line[i] == '\t' {
			if start >= 0 {
				if len(ts) == cap(ts) { // what is behind so many words stays in the last
					ts[len(ts)-1].to = i
				} else {
					ts = append(ts, token{start, i})
				}
				start = -1
			}
		} else if start < 0 {
			start = i
		}
	}
	return ts
}

// box tells how many words say that a post office box's number follows; 0: none do.
func box(line string, ts []token) int {
	var folded [32]byte
	run := folded[:0]
	for i, t := range ts[:min(len(ts), 4)] {
		for j := t.from; j < t.to; j++ {
			if c := line[j] | 0x20; 'a' <= c && c <= 'z' && len(run) < cap(run) {
				run = append(run, c)
			}
		}
		switch string(run) {
		case "pobox", "postofficebox", "gpobox", "box", "postfach", "lockedbag", "privatebag", "postbus", "casillapostal", "apartado", "apartadopostal", "boitepostale":
			if i+1 < len(ts) && hasDigit(ts[i+1].of(line)) {
				return i + 1
			}
		}
	}
	return 0
}

func hasDigit(s string) bool {
	return strings.ContainsAny(s, "0123456789")
}

// houseNumber tells 12, 12a, 12-14, 3/12 and #12, but not 5th.
func houseNumber(s string) bool {
	s = strings.TrimPrefix(s, "#")
	if s == "" || s[0] < '0' || s[0] > '9' {
		return false
	}
	letters := 0
	for i := 0; i < len(s); i++ {
		if c := s[i] | 0x20; 'a' <= c && c <= 'z' || s[i] >= 0x80 {
			letters++
		}
	}
	return letters <= 1
}

func fraction(s string) bool { return len(s) == 3 && s[1] == '/' }

// slashed takes 3/12 apart: the flat, as Australians write it, and the house.
func slashed(s, unit string) (house, of string) {
	if flat, rest, found := strings.Cut(s, "/"); found && flat != "" && rest != "" {
		if unit == "" {
			unit = foldNumber(flat)
		}
		s = rest
	}
	return foldNumber(s), unit
}

// unitBefore takes a flat off the front: Flat 3 12 High Street, Unit 3/12 High Street.
func unitBefore(line string, ts []token) (rest []token, unit string) {
	if len(ts) < 3 || !unitWord(ts[0].of(line)) {
		return ts, ""
	}
	number := ts[1].of(line)
	if strings.Contains(number, "/") && houseNumber(number) {
		return ts[1:], ""
	}
	if !hasDigit(number) && len(number) > 2 {
		return ts, ""
	}
	return ts[2:], foldNumber(number)
}

// unitBehind takes it off the end: 12 Main St Apt 3, 12 Main St #3, and 12 Main St 3 when the house is known.
func unitBehind(line string, ts []token, unit string, housed bool) (rest []token, of string) {
	for i := 1; i < len(ts); i++ {
		s := ts[i].of(line)
		if s[0] == '#' && housed || i+1 < len(ts) && unitWord(s) && (hasDigit(ts[i+1].of(line)) || len(ts[i+1].of(line)) <= 2) {
			from := i
			if s[0] != '#' {
				from++
			}
			if unit == "" {
				unit = foldedRun(line, ts[from:])
			}
			return ts[:i], unit
		}
	}
	if last := len(ts) - 1; housed && last > 1 && houseNumber(ts[last].of(line)) && isStreetType(ts[last-1].of(line)) {
		if unit == "" {
			unit = foldNumber(ts[last].of(line))
		}
		return ts[:last], unit
	}
	return ts, unit
}

func isStreetType(s string) bool {
	s = lowered(s)
	return streetType(s) != "" && !numbered(s)
}

func unitWord(s string) bool {
	switch lowered(s) {
	case "apt", "apartment", "unit", "suite", "ste", "flat", "fl", "floor", "room", "rm", "lot", "trlr", "trailer", "spc", "space", "bldg", "building",
		"shop", "villa", "apto", "depto", "piso", "appt", "wohnung", "whg", "lgh":
		return true
	}
	return false
}

// numbered tells words after which a number is the street's: Highway 61, County Road 5, Calle 5.
func numbered(s string) bool {
	switch lowered(s) {
	case "highway", "hwy", "route", "rte", "rt", "road", "rd", "rr", "cr", "sr", "us", "fm", "interstate", "calle", "carrera", "avenida", "avenue", "ave", "km":
		return true
	}
	return false
}

func numberSign(s string) bool {
	switch lowered(s) {
	case "no", "nr", "num", "numero", "n", "#":
		return true
	}
	return false
}

// lowered is an ASCII word in lower case without a full stop at its end; it is made for comparing and costs no memory when short.
func lowered(s string) string {
	s = strings.TrimSuffix(s, ".")
	return strings.ToLower(s)
}

func foldNumber(s string) string {
	if plain(s) {
		return s
	}
	return Fold(s)
}

func foldedRun(line string, ts []token) string {
	if len(ts) == 0 {
		return ""
	}
	return bounded(foldNumber(line[ts[0].from:ts[len(ts)-1].to]), MaxPart)
}
