package linkage

import "strings"

// street brings street types and directions into the short forms of USPS Publication 28, appendices B and C, and some of other
// countries.
func street(t *Text, ws []word) {
	for i := range ws {
		if short := streetWord(ws[i].text); short != ws[i].text {
			ws[i] = word{text: short, alt: short}
		}
	}
	t.setParts(ws)
}

func streetWord(s string) string {
	if short := direction(s); short != "" {
		return short
	}
	if short := streetType(s); short != "" {
		return short
	}
	if short := ordinal(s); short != "" {
		return short
	}
	// German and Dutch write street and type as one word.
	if stem, found := strings.CutSuffix(s, "strasse"); found && len(stem) > 1 {
		return stem + "str"
	}
	if stem, found := strings.CutSuffix(s, "straat"); found && len(stem) > 1 {
		return stem + "str"
	}
	return s
}

func direction(s string) string {
	switch s {
	case "north":
		return "n"
	case "south":
		return "s"
	case "east":
		return "e"
	case "west":
		return "w"
	case "northeast":
		return "ne"
	case "northwest":
		return "nw"
	case "southeast":
		return "se"
	case "southwest":
		return "sw"
	}
	return ""
}

func ordinal(s string) string {
	switch s {
	case "first":
		return "1st"
	case "second":
		return "2nd"
	case "third":
		return "3rd"
	case "fourth":
		return "4th"
	case "fifth":
		return "5th"
	case "sixth":
		return "6th"
	case "seventh":
		return "7th"
	case "eighth":
		return "8th"
	case "ninth":
		return "9th"
	case "tenth":
		return "10th"
	}
	return ""
}

// streetType is the short form of a type of street; empty: it is none.
func streetType(s string) string {
	switch s {
	case "aly", "alley", "allee", "ally":
		return "aly"
	case "arc", "arcade":
		return "arc"
	case "ave", "av", "aven", "avenu", "avenue", "avn", "avnue", "avenida", "avda":
		return "ave"
	case "bch", "beach":
		return "bch"
	case "bnd", "bend":
		return "bnd"
	case "blf", "bluff", "bluf":
		return "blf"
	case "blvd", "boul", "boulevard", "boulv", "blv", "bvd", "bd", "bld":
		return "blvd"
	case "br", "branch", "brnch":
		return "br"
	case "brg", "bridge", "brdge":
		return "brg"
	case "brk", "brook":
		return "brk"
	case "byp", "bypass", "bypa", "byps":
		return "byp"
	case "cyn", "canyon", "canyn":
		return "cyn"
	case "cct", "circuit":
		return "cct"
	case "cir", "circle", "circ", "crcl", "crcle", "circl":
		return "cir"
	case "cl", "close":
		return "cl"
	case "cor", "corner":
		return "cor"
	case "crse", "course":
		return "crse"
	case "ct", "court", "crt":
		return "ct"
	case "cts", "courts":
		return "cts"
	case "cv", "cove":
		return "cv"
	case "crk", "creek":
		return "crk"
	case "cres", "crescent", "crsent", "crsnt", "crst", "cr", "cresent":
		return "cres"
	case "xing", "crossing", "crssng":
		return "xing"
	case "ctr", "center", "centre", "cent", "cntr", "centr":
		return "ctr"
	case "dr", "drive", "driv", "drv":
		return "dr"
	case "esp", "esplanade":
		return "esp"
	case "est", "estate":
		return "est"
	case "ests", "estates":
		return "ests"
	case "expy", "expressway", "exp", "expr", "express", "expw":
		return "expy"
	case "ext", "extension", "extn", "extnsn":
		return "ext"
	case "fwy", "freeway", "freewy", "frway", "frwy":
		return "fwy"
	case "gdn", "garden", "gardn", "grden", "grdn":
		return "gdn"
	case "gdns", "gardens", "grdns":
		return "gdns"
	case "gln", "glen":
		return "gln"
	case "grn", "green":
		return "grn"
	case "gr", "grove", "grov", "grv":
		return "grv"
	case "hbr", "harbor", "harbour", "harb", "harbr":
		return "hbr"
	case "hts", "heights", "ht", "hgts":
		return "hts"
	case "hwy", "highway", "highwy", "hiway", "hiwy", "hway":
		return "hwy"
	case "hl", "hill":
		return "hl"
	case "hls", "hills":
		return "hls"
	case "holw", "hollow", "hllw":
		return "holw"
	case "jct", "junction", "jction", "jctn", "junctn":
		return "jct"
	case "knl", "knoll", "knol":
		return "knl"
	case "ldg", "lodge", "ldge", "lodg":
		return "ldg"
	case "lk", "lake":
		return "lk"
	case "ln", "lane":
		return "ln"
	case "lndg", "landing", "lndng":
		return "lndg"
	case "mdw", "meadow":
		return "mdw"
	case "mdws", "meadows":
		return "mdws"
	case "ml", "mill":
		return "ml"
	case "mnr", "manor":
		return "mnr"
	case "mt", "mount", "mnt":
		return "mt"
	case "mtn", "mountain", "mntain", "mntn", "mtin":
		return "mtn"
	case "orch", "orchard", "orchrd":
		return "orch"
	case "pde", "parade":
		return "pde"
	case "pk", "park", "prk":
		return "park"
	case "pkwy", "parkway", "parkwy", "pkway", "pky":
		return "pkwy"
	case "psge", "passage":
		return "psge"
	case "pl", "place":
		return "pl"
	case "pln", "plain":
		return "pln"
	case "plz", "plaza", "plza", "praca", "piazza":
		return "plz"
	case "pt", "point", "pnt":
		return "pt"
	case "rdg", "ridge", "rdge":
		return "rdg"
	case "riv", "river", "rvr", "rivr":
		return "riv"
	case "rd", "road":
		return "rd"
	case "rte", "route":
		return "rte"
	case "shr", "shore", "shoar":
		return "shr"
	case "spg", "spring", "sprng", "spng":
		return "spg"
	case "spgs", "springs", "sprngs":
		return "spgs"
	case "sq", "square", "sqr", "sqre", "squ":
		return "sq"
	case "st", "street", "str", "strt", "saint", "strasse", "straat", "sreet", "stret", "streeet":
		return "st"
	case "sta", "station", "statn", "stn":
		return "sta"
	case "smt", "summit", "sumit", "sumitt":
		return "smt"
	case "ter", "terrace", "terr", "tce", "trce":
		return "ter"
	case "trl", "trail", "trails":
		return "trl"
	case "tpke", "turnpike", "trnpk", "turnpk":
		return "tpke"
	case "vly", "valley", "vally", "vlly":
		return "vly"
	case "vw", "view":
		return "vw"
	case "vlg", "village", "villag", "vill", "villg":
		return "vlg"
	case "vis", "vista", "vist", "vst":
		return "vis"
	case "wy", "way":
		return "way"
	case "ul", "ulica", "ulitsa":
		return "ul"
	}
	return ""
}
