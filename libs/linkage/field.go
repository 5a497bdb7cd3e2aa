package linkage

// The fields in their order. Some hold in place of another where a field before them agrees: the chain rule of probability,
// P(a, b) = P(a) P(b given a), keeps what depends on each other from being counted twice.
const (
	inFirst = iota
	inLast
	inMiddle
	inSuffix
	inDOB
	inSex      // where first names do not agree or are not known
	inSexNamed // where they do: most names tell the sex
	inArea
	inStreet     // where areas cannot be compared
	inStreetNear // where areas agree
	inStreetFar  // where they do not
	inPhone
	inEmail
	inSSN
	inIdentifier
	inMember
	fieldCount
)

const mostLevels = 11

// missing is the level of what one of the records lacks.
const missing = -1

// Levels of names, of all three kinds; not every kind has each.
const (
	firstExact = iota
	firstPart
	firstEdit
	firstNickname
	firstSimilar
	firstSwapped
	firstAlias
	firstMiddle
	firstSound
	firstInitial
	firstDiffer
)

const (
	lastExact = iota
	lastPart
	lastEdit
	lastSimilar
	lastSwapped
	lastAlias
	lastSound
	lastInitial
	lastDiffer
)

const (
	middleExact = iota
	middleInitial
	middleSimilar
	middleDiffer
)

const (
	dobExact = iota
	dobSwapped
	dobPlaceholder
	dobEdit
	dobYearDay
	dobYearMonth
	dobMonthDay
	dobYear
	dobTwoEdits
	dobVague
	dobDiffer
)

const (
	areaPostal = iota
	areaCity
	areaPostalEdit
	areaCityOnly
	areaElsewhere
	areaOtherState
)

const (
	streetExact = iota
	streetSimilar
	streetAlone
	streetDiffer
)

const (
	phoneExact = iota
	phoneLocal
	phoneEdit
	phoneDiffer
)

const (
	emailExact = iota
	emailEdit
	emailLocal
	emailDiffer
)

const (
	identifierExact = iota
	identifierValue
	identifierEdit
	identifierEnding
	identifierDiffer
)

const (
	memberExact = iota
	memberEnding
	memberDiffer
)

// Of suffix, sex and the last four digits.
const (
	same = iota
	differ
)

const (
	ssnExact = iota
	ssnEdit
	ssnDiffer
)

// vocabulary is a field's name in models and in evidence, its veto's name, and its levels from best to worst.
type vocabulary struct {
	name, shown, veto string
	levels            []string
	changes           bool // people change it, so that its worst level is no error
}

func vocabularies() [fieldCount]vocabulary {
	street := []string{"exact", "similar", "street", "differ"}
	sex := []string{"exact", "differ"}
	return [fieldCount]vocabulary{
		inFirst: {"firstName", "firstName", "first_name", []string{
			"exact", "part", "one_edit", "nickname", "similar", "swapped", "alias", "middle_name", "sounds_alike", "initial", "differ",
		}, false},
		inLast: {"lastName", "lastName", "last_name", []string{
			"exact", "part", "one_edit", "similar", "swapped", "alias", "sounds_alike", "initial", "differ",
		}, false},
		inMiddle: {"middleName", "middleName", "middle_name", []string{"exact", "initial", "similar", "differ"}, false},
		inSuffix: {"suffix", "suffix", "suffix", []string{"exact", "differ"}, false},
		inDOB: {"dob", "dob", "date_of_birth", []string{
			"exact", "day_month_swapped", "placeholder", "one_edit", "same_year_and_day", "same_year_and_month", "same_month_and_day",
			"same_year", "two_edits", "first_of_january", "differ",
		}, false},
		inSex:        {"sexAtBirth", "sexAtBirth", "sex", sex, false},
		inSexNamed:   {"sexAtBirth given firstName", "sexAtBirth", "sex", sex, false},
		inArea:       {"area", "area", "area", []string{"postal_code", "city", "postal_code_one_edit", "city_other_postal_code", "elsewhere", "other_state"}, true},
		inStreet:     {"street", "street", "street", street, true},
		inStreetNear: {"street given area", "street", "street", street, true},
		inStreetFar:  {"street elsewhere", "street", "street", street, true},
		inPhone:      {"phone", "phone", "phone", []string{"exact", "other_area_code", "one_edit", "differ"}, true},
		inEmail:      {"email", "email", "email", []string{"exact", "one_edit", "other_host", "differ"}, true},
		inSSN:        {"last4Ssn", "last4Ssn", "ssn", []string{"exact", "one_edit", "differ"}, false},
		inIdentifier: {"identifier", "identifier", "identifier", []string{"exact", "value", "one_edit", "other_ending", "differ"}, true},
		inMember:     {"memberNumber", "memberNumber", "member_number", []string{"exact", "other_ending", "differ"}, true},
	}
}
