package patient_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func some[T any](v T) *T { return &v }

// ana is an input that breaks no rule.
func ana() patient.Input {
	return patient.Input{FirstName: some("Ana"), LastName: some("Lima"), DOB: some("1980-02-29")}
}

func codes(faults []fault.Field) []string {
	list := []string{}
	for _, f := range faults {
		list = append(list, f.Field+" "+f.Code)
	}
	return list
}

func TestNewAppliesUnknownToOmittedCodedFields(t *testing.T) {
	p, faults := patient.New(ana(), now)
	if len(faults) != 0 {
		t.Fatal(faults)
	}
	want := patient.Patient{
		FirstName: "Ana", LastName: "Lima", DOB: time.Date(1980, 2, 29, 0, 0, 0, 0, time.UTC),
		SexAtBirth: "unknown", Gender: "Unknown", Race: "Unknown", Ethnicity: "Unknown",
		Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestNewTellsEveryRule(t *testing.T) {
	tests := map[string]struct {
		change func(*patient.Input)
		want   []string
	}{
		"nothing given": {func(in *patient.Input) { *in = patient.Input{} }, []string{"firstName required", "lastName required", "dob required"}},
		"all at once": {func(in *patient.Input) {
			*in = patient.Input{FirstName: some(""), LastName: some("N/A"), DOB: some("1980-02-30"), Gender: some("x"), Last4SSN: some("123")}
		}, []string{"firstName blank", "lastName blank", "dob invalid_date", "gender invalid_value", "last4Ssn invalid_last4"}},
		"dob n/a":              {func(in *patient.Input) { in.DOB = some("n/a") }, []string{"dob blank"}},
		"dob in the future":    {func(in *patient.Input) { in.DOB = some("2026-03-15") }, []string{"dob in_future"}},
		"dob today":            {func(in *patient.Input) { in.DOB = some("2026-03-14") }, []string{}},
		"dob before 1800":      {func(in *patient.Input) { in.DOB = some("1799-12-31") }, []string{"dob invalid_date"}},
		"dob no leap day":      {func(in *patient.Input) { in.DOB = some("1900-02-29") }, []string{"dob invalid_date"}},
		"dob with a time":      {func(in *patient.Input) { in.DOB = some("1980-02-29T00:00:00Z") }, []string{"dob invalid_date"}},
		"dob without zeros":    {func(in *patient.Input) { in.DOB = some("1980-2-9") }, []string{"dob invalid_date"}},
		"nine-digit ssn":       {func(in *patient.Input) { in.Last4SSN = some("123456789") }, []string{"last4Ssn invalid_last4"}},
		"masked ssn on create": {func(in *patient.Input) { in.Last4SSN = some("***-**-1234") }, []string{"last4Ssn invalid_last4"}},
		"digits of elsewhere":  {func(in *patient.Input) { in.Last4SSN = some("١٢٣٤") }, []string{"last4Ssn invalid_last4"}},
		"deceased true":        {func(in *patient.Input) { in.Deceased = some(true) }, []string{"deceased read_only"}},
		"deceased false":       {func(in *patient.Input) { in.Deceased = some(false) }, []string{}},
		"sex at birth":         {func(in *patient.Input) { in.SexAtBirth = some("f") }, []string{"sexAtBirth invalid_value"}},
		"race":                 {func(in *patient.Input) { in.Race = some("martian") }, []string{"race invalid_value"}},
		"ethnicity":            {func(in *patient.Input) { in.Ethnicity = some("martian") }, []string{"ethnicity invalid_value"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := ana()
			test.change(&in)
			_, faults := patient.New(in, now)
			if diff := cmp.Diff(test.want, codes(faults)); diff != "" {
				t.Error(diff)
			}
			for _, f := range faults {
				if f.Field == "last4Ssn" && strings.Contains(f.Message, *in.Last4SSN) {
					t.Error("the message repeats the number")
				}
			}
		})
	}
}

func TestWithClearsAndKeeps(t *testing.T) {
	before, _ := patient.New(patient.Input{
		FirstName: some("Ana"), LastName: some("Lima"), DOB: some("1980-02-29"), MiddleName: some("Maria"),
		GenderIdentity: some("woman"), PreferredLanguage: some("pt"), Gender: some("female"), Race: some("WHITE"),
		Ethnicity: some("hispanic or latino"), SexAtBirth: some("Female"), Last4SSN: some("6789"),
	}, now)
	if before.Gender != "Female" || before.Race != "White" || before.Ethnicity != "Hispanic or Latino" || before.SexAtBirth != "female" {
		t.Errorf("coded values are not in their canonical spelling: %+v", before)
	}
	tests := map[string]struct {
		in     patient.Input
		fields []string
		faults []string
	}{
		"nothing given":              {patient.Input{}, []string{}, []string{}},
		"n/a clears text":            {patient.Input{MiddleName: some("n/a"), GenderIdentity: some("N/A"), PreferredLanguage: some("n/a")}, []string{"middleName", "genderIdentity", "preferredLanguage"}, []string{}},
		"n/a resets coded":           {patient.Input{Gender: some("n/a"), Race: some("Unknown"), Ethnicity: some("unknown"), SexAtBirth: some("n/a")}, []string{"sexAtBirth", "gender", "race", "ethnicity"}, []string{}},
		"names cannot be cleared":    {patient.Input{FirstName: some("n/a"), LastName: some("")}, []string{}, []string{"firstName blank", "lastName blank"}},
		"dob cannot be cleared":      {patient.Input{DOB: some("n/a")}, []string{}, []string{"dob blank"}},
		"ssn cannot be cleared":      {patient.Input{Last4SSN: some("n/a")}, []string{}, []string{"last4Ssn invalid_last4"}},
		"ssn emptied":                {patient.Input{Last4SSN: some("")}, []string{}, []string{"last4Ssn invalid_last4"}},
		"the mask just read":         {patient.Input{Last4SSN: some("***-**-6789")}, []string{}, []string{}},
		"another mask":               {patient.Input{Last4SSN: some("***-**-0000")}, []string{}, []string{"last4Ssn invalid_last4"}},
		"blank coded":                {patient.Input{Gender: some("")}, []string{}, []string{"gender invalid_value"}},
		"the same again":             {patient.Input{FirstName: some("Ana"), Gender: some("FEMALE")}, []string{}, []string{}},
		"deceased cannot be set":     {patient.Input{Deceased: some(true)}, []string{}, []string{"deceased read_only"}},
		"a new last four":            {patient.Input{Last4SSN: some("0000")}, []string{"last4Ssn"}, []string{}},
		"a new name and a wrong one": {patient.Input{FirstName: some("Eva"), LastName: some("n/a")}, []string{"firstName"}, []string{"lastName blank"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			after, faults := before.With(test.in, now)
			if diff := cmp.Diff(test.faults, codes(faults)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.fields, patient.Diff(before, after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDeathNotice(t *testing.T) {
	p, _ := patient.New(ana(), now)
	tests := map[string]struct {
		date *string
		want []string
	}{
		"no date":      {nil, []string{}},
		"on the birth": {some("1980-02-29"), []string{}},
		"before birth": {some("1980-02-28"), []string{"deceasedDate before_birth"}},
		"future":       {some("2026-03-15"), []string{"deceasedDate in_future"}},
		"no date text": {some("soon"), []string{"deceasedDate invalid_date"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			after, faults := p.Died(patient.DeathNotice{Date: test.date}, now)
			if diff := cmp.Diff(test.want, codes(faults)); diff != "" {
				t.Error(diff)
			}
			if len(faults) > 0 {
				return
			}
			again, _ := after.Died(patient.DeathNotice{Date: test.date}, now.Add(time.Hour))
			if diff := cmp.Diff(after, again); diff != "" {
				t.Errorf("marking twice is not idempotent: %s", diff)
			}
			alive := after.Alive(now)
			if alive.Deceased.Deceased || alive.Date != nil {
				t.Error("the mark is not undone")
			}
		})
	}
	dead, _ := p.Died(patient.DeathNotice{Date: some("2020-01-01")}, now)
	if _, faults := dead.With(patient.Input{DOB: some("2020-01-02")}, now); !slices.Equal(codes(faults), []string{"dob after_death"}) {
		t.Errorf("a birth after the death: %v", codes(faults))
	}
}

// What an input says is wrong whoever the patient is must be wrong for each patient, or the answer would depend on
// whether the id exists.
func TestValidateAgreesWithEveryPatient(t *testing.T) {
	texts := rapid.SampledFrom([]*string{nil, some(""), some("n/a"), some("Female"), some("x"), some("1234"), some("***-**-1234"), some("1980-02-29"), some("2999-01-01")})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *string { return texts.Draw(t, name) }
		in := patient.Input{
			FirstName: draw("first"), LastName: draw("last"), DOB: draw("dob"), MiddleName: draw("middle"), Gender: draw("gender"),
			Race: draw("race"), Ethnicity: draw("ethnicity"), SexAtBirth: draw("sex"), Last4SSN: draw("ssn"),
		}
		anyone, _ := patient.New(ana(), now)
		anyone.SSNLast4 = "1234"
		_, faults := anyone.With(in, now)
		for _, f := range codes(in.Validate(now)) {
			if !slices.Contains(codes(faults), f) && f != "last4Ssn invalid_last4" {
				t.Fatalf("%s is told of nobody, and not of a patient", f)
			}
		}
	})
}
