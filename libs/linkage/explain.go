package linkage

// Evidence is what one field says for or against two records being of one person.
type Evidence struct {
	Field  string  `json:"field"`
	Level  string  `json:"level"`
	Weight float64 `json:"weight"` // in bits: log2 of m/u
}

// Explain is Score with its reasons. The weights and the entry "prior" sum to the bits. Veto names the reason why the
// candidate can not be certain, whatever the score; empty: none.
func (q *Question) Explain(candidate *Person) (evidence []Evidence, bits float64, veto string) {
	var p pair
	q.compare(candidate, &p)
	total := q.weigh(&p)
	names := vocabularies()
	for f := range p.level {
		if veto == "" && q.vetoes(&p, f) {
			veto = names[f].veto
		}
		switch l := p.level[f]; {
		case l >= 0:
			evidence = append(evidence, Evidence{names[f].shown, names[f].levels[l], p.weight[f]})
		case q.asks(f):
			evidence = append(evidence, Evidence{Field: names[f].shown, Level: "missing"})
		}
	}
	if total.relative >= 0 && total.kin < -tellable {
		evidence = append(evidence, Evidence{"relatives", q.model.relatives[total.relative].name, total.kin})
	} else {
		total.careless += total.kin
	}
	evidence = append(evidence, Evidence{"carelessness", "errors_together", total.careless})
	if total.trained != 0 {
		evidence = append(evidence, Evidence{"calibration", "trained", total.trained})
	}
	if more := q.company(total.bits); more > 0 {
		evidence = append(evidence, Evidence{"otherRecords", "found", more})
		total.bits += more
	}
	return append(evidence, Evidence{"prior", "people", q.prior}), total.bits, veto
}

// tellable is the least that relatives must make of a difference to be told of, in bits.
const tellable = 0.01

// vetoes tells whether a field's level keeps the candidate from being certain. Without first names nobody can be told from
// those who live with them.
func (q *Question) vetoes(p *pair, field int) bool {
	veto := VetoUnlessIdentified
	if l := p.level[field]; l != missing {
		veto = q.model.veto[field][l]
	} else if field != inFirst {
		return false
	}
	switch veto {
	case VetoAlways:
		return true
	case VetoUnlessIdentified:
		return p.level[inSSN] != ssnExact && (p.level[inIdentifier] == missing || p.level[inIdentifier] > identifierValue)
	}
	return false
}

// asks tells whether the question has a field that may be missing in a candidate.
func (q *Question) asks(field int) bool {
	p := q.Person
	switch field {
	case inFirst:
		return q.first != nil
	case inLast:
		return q.last != nil
	case inMiddle:
		return q.middle != nil
	case inSuffix:
		return p.Suffix != nil && !p.Suffix.Missing
	case inDOB:
		return p.DOB != 0
	case inArea:
		return len(p.Addresses) > 0
	case inPhone:
		return len(p.Phones) > 0
	case inEmail:
		return len(p.Emails) > 0
	case inSSN:
		return p.SSNLast4 >= 0
	case inIdentifier:
		for i := range p.Identifiers {
			if p.Identifiers[i].System&1 == 0 {
				return true
			}
		}
	case inMember:
		for i := range p.Identifiers {
			if p.Identifiers[i].System&1 == 1 {
				return true
			}
		}
	}
	return false
}
