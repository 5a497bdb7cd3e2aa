package patient

// Unknown is how gender, race and ethnicity spell that nobody said. Sex at birth is kept in lower case.
const (
	Unknown    = "Unknown"
	SexUnknown = "unknown"
)

// Genders is the value set of gender in its canonical spelling.
func Genders() []string {
	return []string{"Male", "Female", "Non-binary", "Transgender Male", "Transgender Female", "Other", "Declined", Unknown}
}

// Races is the value set of race: the OMB categories and what people answer beside them.
func Races() []string {
	return []string{
		"American Indian or Alaska Native", "Asian", "Black or African American", "Middle Eastern or North African",
		"Native Hawaiian or Other Pacific Islander", "White", "Multiracial", "Other", "Declined", Unknown,
	}
}

// Ethnicities is the value set of ethnicity.
func Ethnicities() []string {
	return []string{"Hispanic or Latino", "Not Hispanic or Latino", "Declined", Unknown}
}

// SexesAtBirth is the value set of sex at birth, as it is kept.
func SexesAtBirth() []string {
	return []string{"female", "male", "intersex", "other", SexUnknown}
}
