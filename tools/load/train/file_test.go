package train_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load/train"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACSVAsFebrlWritesIt(t *testing.T) {
	t.Parallel()
	f := train.File{
		Path: file(t, "a.CSV", "\xef\xbb\xbfrec_id, given_name, surname, street_number, address_1, address_2, suburb, postcode, state, date_of_birth, soc_sec_id\n"+
			"rec-1-org, mitchell, green, 7, wallaby place, delmar, cleveland, 2119, sa, 19560409, 1804974\nrec-1-dup-0, , green, , , , , , , , \n"),
		Truth: "rec_id", Part: regexp.MustCompile(`^rec-\d+`), Columns: map[string]string{"ssn": "soc_sec_id"},
	}
	got, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []train.Record{
		{Truth: "rec-1", Demographics: linkage.Demographics{
			ID: 1, FirstName: "mitchell", LastName: "green", DOB: "1956-04-09", SSNLast4: "4974",
			Addresses: []linkage.Address{{Line1: "7 wallaby place", Line2: "delmar", City: "cleveland", State: "sa", PostalCode: "2119"}},
		}},
		{Truth: "rec-1", Demographics: linkage.Demographics{ID: 2, LastName: "green"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestACSVOfOtherColumns(t *testing.T) {
	t.Parallel()
	f := train.File{
		Path:    file(t, "a.csv", "fname,lname,by,bm,bd,ent_id,sex,phone,phone2,email,formerLastName,memberId,x\nANNA,NA,1949,7,2,34,F,207-555-0134,555-0134,a@b.example,Reis,M1,y\n"),
		Columns: map[string]string{"firstName": "fname", "lastName": "lname", "birthYear": "by", "birthMonth": "bm", "birthDay": "bd"}, Truth: "ent_id",
	}
	got, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	want := []train.Record{{Truth: "34", Demographics: linkage.Demographics{
		ID: 1, FirstName: "ANNA", DOB: "1949-07-02", SexAtBirth: "female", Aliases: []linkage.Alias{{LastName: "Reis"}},
		Contacts: []linkage.Contact{
			{System: "phone", Value: "207-555-0134", E164: "+12075550134"}, {System: "phone", Value: "555-0134"}, {System: "email", Value: "a@b.example"},
		},
		Identifiers: []linkage.Identifier{{Type: "Unknown", Value: "M1"}},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const lineOfTheImport = `{"ref": "a", "person": 7, "firstName": "Ana", "middleName": "M", "lastName": "Lima", "dob": "1980-02-29", "sexAtBirth": "Female", "last4Ssn": "6789",
	"addresses": [{"line1": "12 Harbour Street", "city": "Portland", "state": "ME", "postalCode": "04101", "use": "home"}],
	"contacts": [{"system": "phone", "value": "(207) 555-0134"}], "aliases": [{"type": "maiden", "lastName": "Reis"}],
	"identifiers": [{"type": "MR", "value": "00412967", "authorityOrganizationId": "o", "authorityOrganizationName": "N"}]}`

func TestLinesOfTheImport(t *testing.T) {
	t.Parallel()
	lines := strings.ReplaceAll(lineOfTheImport, "\n\t", " ") + "\n{\"ref\": \"b\", \"lastName\": \"Lima\"}\n"
	truth := file(t, "truth.tsv", "ref\tperson\na\t12\nc\t13\n")
	for name, want := range map[string]string{"": "", "person": "7", truth: "12", "lastName": "Lima"} {
		got, err := (train.File{Path: file(t, "people.ndjson", lines), Truth: name}).Read()
		if err != nil {
			t.Fatal(err)
		}
		one := train.Record{Truth: want, Demographics: linkage.Demographics{
			ID: 1, FirstName: "Ana", MiddleName: "M", LastName: "Lima", DOB: "1980-02-29", SexAtBirth: "female", SSNLast4: "6789",
			Addresses:   []linkage.Address{{Line1: "12 Harbour Street", City: "Portland", State: "ME", PostalCode: "04101"}},
			Contacts:    []linkage.Contact{{System: "phone", Value: "(207) 555-0134", E164: "+12075550134"}},
			Aliases:     []linkage.Alias{{LastName: "Reis"}},
			Identifiers: []linkage.Identifier{{Type: "MR", Authority: "o\x1fN\x1f\x1f", Value: "00412967"}},
		}}
		if diff := cmp.Diff(one, got[0]); diff != "" || len(got) != 2 || got[1].ID != 2 {
			t.Errorf("truth %q: %s", name, diff)
		}
	}
}

// What is refused is told without a value of anybody's.
func TestFilesThatAreNone(t *testing.T) {
	t.Parallel()
	csv := "firstName,lastName,truth\nAna,Lima,1\n"
	for name, test := range map[string]struct {
		file train.File
		says string
	}{
		"no file":                 {train.File{Path: "/nowhere/at/all.csv"}, "no such file"},
		"no heading":              {train.File{Path: file(t, "a.csv", "")}, "heading"},
		"nothing known":           {train.File{Path: file(t, "a.csv", "x,y\n1,2\n")}, "no column of the file is known"},
		"no such field":           {train.File{Path: file(t, "a.csv", csv), Columns: map[string]string{"x": "truth"}}, `no field "x"`},
		"no such column":          {train.File{Path: file(t, "a.csv", csv), Columns: map[string]string{"dob": "x"}}, `no column "x"`},
		"no such truth":           {train.File{Path: file(t, "a.csv", csv), Truth: "x"}, `no column "x"`},
		"a truth that is nothing": {train.File{Path: file(t, "a.csv", csv), Truth: "truth", Part: regexp.MustCompile("rec")}, "no record says"},
		"no such member":          {train.File{Path: file(t, "a.ndjson", `{"lastName": "Lima"}`), Truth: "x"}, "no record says"},
		"a torn line":             {train.File{Path: file(t, "a.csv", "firstName,lastName\nLima\n")}, "line 2"},
		"no import":               {train.File{Path: file(t, "a.ndjson", `{"lastName": 7}`)}, "line 1"},
		"no JSON":                 {train.File{Path: file(t, "a.ndjson", "{}\nLima\n")}, "line 2"},
	} {
		if _, err := test.file.Read(); err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "Lima") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLabelsAreRead(t *testing.T) {
	t.Parallel()
	got, err := train.ReadLabels(file(t, "a.csv", "a,b,same\n1, 2, 1\n3,4,0\n5,6,TRUE\n"))
	if diff := cmp.Diff([]train.Label{{A: 1, B: 2, Same: true}, {A: 3, B: 4}, {A: 5, B: 6, Same: true}}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, text := range []string{"1,2,1\n3,4\n", "1,2,1\nx,4,0\n", "1,2,1\n3,4,maybe\n"} {
		if _, err := train.ReadLabels(file(t, "a.csv", text)); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
