package linkage

// givenName leaves titles at the front out, and a suffix that strayed into it.
func (p *Parser) givenName(t *Text, ws []word) {
	for len(ws) > 1 && title(ws[0].text) {
		ws = ws[1:]
	}
	switch last := ws[len(ws)-1].text; last {
	case "jr", "jnr", "ii", "iii", "iv":
		t.Suffix, _ = generation(last)
		ws = ws[:len(ws)-1]
	}
	p.name(t, ws, Given)
}

// familyName finds the suffix at the end and leaves it out.
func (p *Parser) familyName(t *Text, ws []word) {
	for len(ws) > 1 {
		suffix, known := generation(ws[len(ws)-1].text)
		if !known || ws[len(ws)-1].dash {
			break
		}
		if suffix != "" {
			t.Suffix = suffix
		}
		ws = ws[:len(ws)-1]
	}
	for len(ws) > 1 && title(ws[0].text) {
		ws = ws[1:]
	}
	p.name(t, ws, Family)
}

// name makes words parts, but for particles. No given name begins with one: Al and Van are names.
func (p *Parser) name(t *Text, ws []word, kind Kind) {
	t.Parts = make([]Part, 0, min(len(ws), MaxParts))
	var whole []byte
	for i, prefix := 0, ""; i < len(ws) && len(t.Parts) < MaxParts; i++ {
		w, last := ws[i], i == len(ws)-1
		if prefix != "" {
			w.text, w.alt, prefix = prefix+w.text, prefix+w.alt, ""
		}
		made := part(w)
		switch {
		case !last && kind == Family && joins(w.text):
			prefix = w.text
			continue
		case !last && (kind == Family || i > 0) && particle(w.text, ws[i+1].dash):
			whole = append(whole, made.Text...)
			continue
		}
		whole = append(whole, made.Text...)
		made.Sound, made.Sound2 = sounds(made.Text)
		if kind == Given {
			made.Nicks = p.nicks[made.Text]
		}
		t.Parts = append(t.Parts, made)
	}
	if len(t.Parts) == 1 && len(whole) == len(t.Parts[0].Text) {
		t.Whole = t.Parts[0].Text
		return
	}
	t.Whole = bounded(string(whole), MaxWhole)
}

// joins tells the beginnings of a last name that belong to its next word: O Brien, Mc Donald, St Clair.
func joins(s string) bool {
	switch s {
	case "o", "d", "l", "mc", "mac", "fitz", "st", "saint", "ste":
		return true
	}
	return false
}

// particle tells the words of a name that some systems keep and others drop. Joined to the next by a hyphen only Arabic
// articles are: Do-Nguyen has two names.
func particle(s string, dash bool) bool {
	switch s {
	case "al", "el", "ul", "ad", "as", "ash", "ar", "an", "az":
		return dash || s == "al" || s == "el"
	}
	if dash {
		return false
	}
	switch s {
	case "de", "del", "di", "du", "da", "das", "do", "dos", "della", "dello", "degli", "dei", "la", "las", "los",
		"van", "von", "vom", "der", "den", "het", "ter", "ten", "zu", "zum", "zur", "af", "av", "y", "e",
		"bin", "ibn", "bint", "binti":
		return true
	}
	return false
}

func title(s string) bool {
	switch s {
	case "dr", "mr", "mrs", "ms", "miss", "prof", "professor", "sir", "dame", "rev", "reverend", "hon", "herr", "frau", "sr":
		return true
	}
	return false
}

// generation is the normal form of a suffix; known but empty: it says nothing of the generation, as MD does not.
func generation(s string) (normal string, known bool) {
	switch s {
	case "jr", "jnr", "junior":
		return "jr", true
	case "sr", "snr", "senior":
		return "sr", true
	case "i", "1st":
		return "1", true
	case "ii", "2nd", "2":
		return "2", true
	case "iii", "3rd", "3":
		return "3", true
	case "iv", "4th", "4":
		return "4", true
	case "v", "5th", "5":
		return "5", true
	case "vi", "6th", "6":
		return "6", true
	case "md", "phd", "esq", "rn", "dds", "dmd", "dvm", "jd", "cpa", "mba":
		return "", true
	}
	return "", false
}

func generationText(t *Text, ws []word) {
	for _, w := range ws {
		if normal, _ := generation(w.text); normal != "" {
			t.setParts([]word{{text: normal, alt: normal}})
			return
		}
	}
}
