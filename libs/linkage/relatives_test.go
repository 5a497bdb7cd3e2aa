package linkage_test

import (
	"maps"
	"math"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// town are the frequencies of a tenant of so many people, who are named as people of the Census are, but for what is told.
type town struct {
	people int
	given  map[string]int
	family map[string]int
	born   map[linkage.Date]int
	postal map[string]int
}

func (t town) People() int { return t.people }

func (t town) Bearers(kind linkage.Kind, part string) int {
	told := map[linkage.Kind]map[string]int{linkage.Given: t.given, linkage.Family: t.family, linkage.Postal: t.postal}[kind]
	if n, ok := told[part]; ok {
		return n
	}
	return 1 + int(float64(t.people)*parser().Share(kind, part))
}

func (t town) Born(d linkage.Date) int {
	if n, ok := t.born[d]; ok {
		return n
	}
	return t.people / 30000
}

func city() town { return town{people: 1_000_000} }

func and(all ...fields) fields {
	out := fields{}
	for _, f := range all {
		maps.Copy(out, f)
	}
	return out
}

// household is what those who live together share.
func household() fields {
	return fields{
		"last": "Hathaway", "line1": "12 Elm Street", "city": "Salem", "state": "OR", "zip": "97301",
		"phone": "503-555-0142", "email": "hathaways@mail.example", "member": "W123456701",
	}
}

// Relatives are never certain, however much they share, and strangers' rarity of what they share cannot make them so.
func TestRelativesAreNotCertain(t *testing.T) {
	t.Parallel()
	home := household()
	for name, c := range map[string]struct {
		a, b fields
		veto string
		most float64 // of the score
	}{
		"twins": {
			and(home, fields{"first": "Kimberly", "dob": "2012-03-09", "sex": "female"}), and(home, fields{"first": "Vanessa", "dob": "2012-03-09", "sex": "female"}), "first_name", 0.97,
		},
		"twins of like names": {
			and(home, fields{"first": "Tara", "dob": "2012-03-09", "sex": "female"}), and(home, fields{"first": "Tera", "dob": "2012-03-09", "sex": "female"}), "first_name", 1,
		},
		"twins of two sexes": {
			and(home, fields{"first": "Julia", "dob": "2012-03-09", "sex": "female"}), and(home, fields{"first": "Julian", "dob": "2012-03-09", "sex": "male"}), "first_name", 1,
		},
		"a twin who has no name yet": {
			and(home, fields{"first": "Baby Girl", "dob": "2024-03-09", "sex": "female"}), and(home, fields{"first": "Vanessa", "dob": "2024-03-09", "sex": "female"}), "first_name", 1,
		},
		"siblings": {
			and(home, fields{"first": "Kimberly", "dob": "2012-03-09", "sex": "female"}), and(home, fields{"first": "Vanessa", "dob": "2014-11-27", "sex": "female"}), "first_name", 0.05,
		},
		"couple": {
			and(home, fields{"first": "Kimberly", "dob": "1972-03-09", "sex": "female"}), and(home, fields{"first": "Robert", "dob": "1970-10-21", "sex": "male"}), "first_name", 0.01,
		},
		"father and son of one name": {
			and(home, fields{"first": "Robert", "dob": "1972-03-09", "sex": "male"}), and(home, fields{"first": "Robert", "dob": "2001-10-21", "sex": "male"}), "date_of_birth", 0.8,
		},
		"senior and junior": {
			and(home, fields{"first": "Robert", "dob": "1972-03-09", "sex": "male", "suffix": "Sr"}), and(home, fields{"first": "Robert", "dob": "2001-10-21", "sex": "male", "suffix": "Jr"}), "suffix", 0.3,
		},
		"junior and the third, of whom no day of birth is known": {
			and(home, fields{"first": "Robert", "sex": "male", "suffix": "Jr"}), and(home, fields{"first": "Robert", "sex": "male", "suffix": "III"}), "suffix", 0.9,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := made(c.a), made(c.b)
			model := linkage.Default()
			_, bits, veto := model.Ask(&a, city(), 0).Explain(&b)
			if veto != c.veto {
				t.Errorf("the veto is %q", veto)
			}
			if score := linkage.Likelihood(bits); score > c.most {
				t.Errorf("the score is %.4f", score)
			}
			if grade := model.Grade(bits, math.Inf(-1), veto, false); grade == linkage.Certain {
				t.Error("the other one is certain")
			}
		})
	}
}

// The same person is certain, with as much as those relatives have.
func TestThePersonIsCertain(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]fields{
		"the same":          {},
		"a married name":    {"last": "Okonkwo"},
		"another address":   {"line1": "7 Harbor Boulevard", "city": "Boise", "state": "ID", "zip": "83702"},
		"a day off":         {"dob": "1972-03-08"},
		"nothing but names": {"line1": "", "city": "", "state": "", "zip": "", "phone": "", "email": "", "member": ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kim := and(household(), fields{"first": "Kimberly", "middle": "Ann", "dob": "1972-03-09", "sex": "female"})
			a, b := made(kim), made(and(kim, more))
			model := linkage.Default()
			_, bits, veto := model.Ask(&a, city(), 0).Explain(&b)
			if grade := model.Grade(bits, math.Inf(-1), veto, false); grade != linkage.Certain {
				t.Errorf("%s of %.1f bits, veto %q", grade, bits, veto)
			}
		})
	}
}

// Each veto has its reason, and what identifies a record lifts those that it can.
func TestVetoes(t *testing.T) {
	t.Parallel()
	kim := fields{"first": "Kimberly", "middle": "Ann", "last": "Hathaway", "suffix": "Jr", "dob": "1972-03-09", "sex": "female"}
	for name, c := range map[string]struct {
		b    fields
		both fields
		veto string
	}{
		"none":                            {nil, nil, ""},
		"first_name":                      {fields{"first": "Zoltan"}, nil, "first_name"},
		"first_name, identified":          {fields{"first": "Zoltan"}, fields{"ssn": "4711"}, "first_name"},
		"first name alike":                {fields{"first": "Kimberlyn"}, nil, "first_name"},
		"first name alike, identified":    {fields{"first": "Kimberlyn"}, fields{"ssn": "4711"}, ""},
		"first name alike, numbered":      {fields{"first": "Kimberlyn"}, fields{"chart": "A4471102"}, ""},
		"first name missing":              {fields{"first": ""}, nil, "first_name"},
		"first name missing, identified":  {fields{"first": ""}, fields{"ssn": "4711"}, ""},
		"first name alike, member number": {fields{"first": "Kimberlyn"}, fields{"member": "W123456701"}, "first_name"},
		"middle_name":                     {fields{"middle": "Beth"}, nil, "middle_name"},
		"suffix":                          {fields{"suffix": "Sr"}, nil, "suffix"},
		"date_of_birth":                   {fields{"dob": "1951-11-27"}, nil, "date_of_birth"},
		"sex":                             {fields{"sex": "male"}, nil, "sex"},
		"ssn":                             {fields{"ssn": "8093"}, nil, "ssn"},
		"another last name":               {fields{"last": "Okonkwo"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, b := made(and(kim, fields{"ssn": "4711"}, c.both)), made(and(kim, c.both, c.b))
			if _, _, veto := linkage.Default().Ask(&a, city(), 0).Explain(&b); veto != c.veto {
				t.Errorf("the veto is %q, not %q", veto, c.veto)
			}
		})
	}
}

// Grades follow the score, the second candidate, the veto and whether all candidates were seen.
func TestGrade(t *testing.T) {
	t.Parallel()
	m := linkage.Default()
	none := math.Inf(-1)
	for _, c := range []struct {
		bits, second float64
		veto         string
		truncated    bool
		want         string
	}{
		{20, none, "", false, linkage.Certain},
		{20, 5, "", false, linkage.Certain},
		{20, 14, "", false, linkage.Probable},
		{20, 20, "", false, linkage.Probable},
		{20, none, "suffix", false, linkage.Probable},
		{20, none, "", true, linkage.Probable},
		{9.9, none, "", false, linkage.Probable},
		{10, none, "", false, linkage.Certain},
		{3.1, none, "", false, linkage.Possible},
		{3.2, none, "", false, linkage.Probable},
		{-5, none, "", false, linkage.Possible},
		{math.NaN(), none, "", false, linkage.Possible},
	} {
		if got := m.Grade(c.bits, c.second, c.veto, c.truncated); got != c.want {
			t.Errorf("%+v is %s", c, got)
		}
	}
}
