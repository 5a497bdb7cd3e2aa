package linkage

import "sync"

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

// vocabulary is a field's name in models and in evidence, its veto's name, its levels from best to worst, and which of them
// only a mistake explains: nicknames are none, and neither is a new address.
type vocabulary struct {
	name, shown, veto string
	levels            []string
	slips             uint16 // a bit for each level
}

func these(levels ...int) (set uint16) {
	for _, l := range levels {
		set |= 1 << l
	}
	return set
}

func (v *vocabulary) slip(level int) bool { return v.slips&(1<<level) != 0 }

var vocabularies = sync.OnceValue(func() *[fieldCount]vocabulary { //nolint:gochecknoglobals // constants, which Go has none of
	var all [fieldCount]vocabulary
	all[inFirst] = vocabulary{"firstName", "firstName", "first_name", []string{
		"exact", "part", "one_edit", "nickname", "similar", "swapped", "alias", "middle_name", "sounds_alike", "initial", "differ",
	}, these(firstEdit, firstSimilar, firstSwapped, firstSound, firstDiffer)}
	all[inLast] = vocabulary{"lastName", "lastName", "last_name", []string{
		"exact", "part", "one_edit", "similar", "swapped", "alias", "sounds_alike", "initial", "differ",
	}, these(lastEdit, lastSimilar, lastSwapped, lastSound, lastDiffer)}
	all[inMiddle] = vocabulary{"middleName", "middleName", "middle_name", []string{
		"exact", "initial", "similar", "differ",
	}, these(middleSimilar, middleDiffer)}
	all[inSuffix] = vocabulary{"suffix", "suffix", "suffix", []string{"exact", "differ"}, these(differ)}
	all[inDOB] = vocabulary{"dob", "dob", "date_of_birth", []string{
		"exact", "day_month_swapped", "placeholder", "one_edit", "same_year_and_day", "same_year_and_month", "same_month_and_day",
		"same_year", "two_edits", "first_of_january", "differ",
	}, ^these(dobExact)}
	sex := []string{"exact", "differ"}
	all[inSex] = vocabulary{"sexAtBirth", "sexAtBirth", "sex", sex, these(differ)}
	all[inSexNamed] = vocabulary{"sexAtBirth given firstName", "sexAtBirth", "sex", sex, these(differ)}
	all[inArea] = vocabulary{"area", "area", "area", []string{
		"postal_code", "city", "postal_code_one_edit", "city_other_postal_code", "elsewhere", "other_state",
	}, these(areaPostalEdit, areaCityOnly)}
	street := []string{"exact", "similar", "street", "differ"}
	all[inStreet] = vocabulary{"street", "street", "street", street, these(streetSimilar, streetAlone)}
	all[inStreetNear] = vocabulary{"street given area", "street", "street", street, these(streetSimilar, streetAlone)}
	all[inStreetFar] = vocabulary{"street elsewhere", "street", "street", street, these(streetSimilar, streetAlone)}
	all[inPhone] = vocabulary{"phone", "phone", "phone", []string{"exact", "other_area_code", "one_edit", "differ"}, these(phoneLocal, phoneEdit)}
	all[inEmail] = vocabulary{"email", "email", "email", []string{"exact", "one_edit", "other_host", "differ"}, these(emailEdit)}
	all[inSSN] = vocabulary{"last4Ssn", "last4Ssn", "ssn", []string{"exact", "one_edit", "differ"}, these(ssnEdit, ssnDiffer)}
	all[inIdentifier] = vocabulary{"identifier", "identifier", "identifier", []string{
		"exact", "value", "one_edit", "other_ending", "differ",
	}, these(identifierEdit)}
	all[inMember] = vocabulary{"memberNumber", "memberNumber", "member_number", []string{"exact", "other_ending", "differ"}, 0}
	return &all
})
