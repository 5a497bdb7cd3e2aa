package linkage

// city makes one of the ways to write the first word of a town.
func city(t *Text, ws []word) {
	if len(ws) > 1 {
		first := ws[0].text
		switch first {
		case "st":
			first = "saint"
		case "ste":
			first = "sainte"
		case "ft":
			first = "fort"
		case "mt":
			first = "mount"
		case "n":
			first = "north"
		case "s":
			first = "south"
		case "e":
			first = "east"
		case "w":
			first = "west"
		}
		if first != ws[0].text {
			ws[0] = word{text: first, alt: first}
		}
	}
	t.setParts(ws)
}

// region makes names of states their codes.
func region(t *Text, ws []word) {
	if code := regionCode(joined(ws)); code != "" {
		t.setParts([]word{{text: code, alt: code}})
		return
	}
	t.setParts(ws)
}

// postal joins the words of a code, drops the last four digits of a ZIP+4, and the country's letters before a dash.
func postal(t *Text, ws []word) {
	if len(ws) > 1 && ws[1].dash && len(ws[0].text) <= 2 && !digits(ws[0].text) {
		ws = ws[1:]
	}
	code := joined(ws)
	if len(code) == 9 && digits(code) {
		code = code[:5]
	}
	t.setParts([]word{{text: code, alt: code}})
}

// regionCode is the postal code of a state of the United States or Australia, or of a province of Canada, by its name.
func regionCode(s string) string {
	switch s {
	case "alabama":
		return "al"
	case "alaska":
		return "ak"
	case "arizona":
		return "az"
	case "arkansas":
		return "ar"
	case "california", "calif", "cal":
		return "ca"
	case "colorado", "colo":
		return "co"
	case "connecticut", "conn":
		return "ct"
	case "delaware":
		return "de"
	case "districtofcolumbia", "washingtondc":
		return "dc"
	case "florida", "fla":
		return "fl"
	case "georgia":
		return "ga"
	case "hawaii":
		return "hi"
	case "idaho":
		return "id"
	case "illinois":
		return "il"
	case "indiana":
		return "in"
	case "iowa":
		return "ia"
	case "kansas":
		return "ks"
	case "kentucky":
		return "ky"
	case "louisiana":
		return "la"
	case "maine":
		return "me"
	case "maryland":
		return "md"
	case "massachusetts", "mass":
		return "ma"
	case "michigan", "mich":
		return "mi"
	case "minnesota", "minn":
		return "mn"
	case "mississippi":
		return "ms"
	case "missouri":
		return "mo"
	case "montana":
		return "mt"
	case "nebraska":
		return "ne"
	case "nevada":
		return "nv"
	case "newhampshire":
		return "nh"
	case "newjersey":
		return "nj"
	case "newmexico":
		return "nm"
	case "newyork":
		return "ny"
	case "northcarolina":
		return "nc"
	case "northdakota":
		return "nd"
	case "ohio":
		return "oh"
	case "oklahoma":
		return "ok"
	case "oregon":
		return "or"
	case "pennsylvania", "penna":
		return "pa"
	case "puertorico":
		return "pr"
	case "rhodeisland":
		return "ri"
	case "southcarolina":
		return "sc"
	case "southdakota":
		return "sd"
	case "tennessee", "tenn":
		return "tn"
	case "texas", "tex":
		return "tx"
	case "utah":
		return "ut"
	case "vermont":
		return "vt"
	case "virginia":
		return "va"
	case "washington", "washingtonstate":
		return "wa"
	case "westvirginia":
		return "wv"
	case "wisconsin", "wis":
		return "wi"
	case "wyoming":
		return "wy"
	case "newsouthwales":
		return "nsw"
	case "victoria":
		return "vic"
	case "queensland":
		return "qld"
	case "southaustralia":
		return "sa"
	case "westernaustralia":
		return "wa"
	case "tasmania":
		return "tas"
	case "northernterritory":
		return "nt"
	case "australiancapitalterritory":
		return "act"
	case "alberta":
		return "ab"
	case "britishcolumbia":
		return "bc"
	case "manitoba":
		return "mb"
	case "newbrunswick":
		return "nb"
	case "newfoundland", "newfoundlandandlabrador":
		return "nl"
	case "novascotia":
		return "ns"
	case "ontario":
		return "on"
	case "princeedwardisland":
		return "pe"
	case "quebec":
		return "qc"
	case "saskatchewan":
		return "sk"
	}
	return ""
}
