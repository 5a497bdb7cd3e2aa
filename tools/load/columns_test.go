package load

import (
	"strings"
	"testing"
)

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		name   string
		header string
		row    string
		own    map[string]string
		want   Person
		err    string // part of it
	}{
		{
			name: "Febrl", header: "rec_id,given_name,surname,date_of_birth,soc_sec_id", row: "r1,mara,okonkwo,19710305,5550101",
			want: Person{FirstName: "mara", LastName: "okonkwo", DOB: "1971-03-05", Last4SSN: "0101"},
		},
		{
			name:   "the interface's own names",
			header: "firstName,lastName,dob,middleName,gender,race,ethnicity,sexAtBirth,genderIdentity,preferredLanguage,last4Ssn",
			row:    "Mara,Okonkwo,1971-03-05,T,Female,White,Declined,F,woman,en,0101",
			want: Person{
				FirstName: "Mara", LastName: "Okonkwo", DOB: "1971-03-05", MiddleName: "T", Gender: "Female", Race: "White",
				Ethnicity: "Declined", SexAtBirth: "female", GenderIdentity: "woman", PreferredLanguage: "en", Last4SSN: "0101",
			},
		},
		{
			name: "named by hand", header: "vorname,surname,born", row: "mara,okonkwo,1971-03-05",
			own:  map[string]string{"firstName": "vorname", "dob": "born"},
			want: Person{FirstName: "mara", LastName: "okonkwo", DOB: "1971-03-05"},
		},
		{
			name: "by hand wins over known", header: "firstName,given_name,lastName,dob", row: "wrong,mara,okonkwo,1971-03-05",
			own:  map[string]string{"firstName": "given_name"},
			want: Person{FirstName: "mara", LastName: "okonkwo", DOB: "1971-03-05"},
		},
		{
			name: "a number too short for four digits stays here", header: "firstName,lastName,dob,ssn", row: "mara,okonkwo,1971-03-05,123",
			want: Person{FirstName: "mara", LastName: "okonkwo", DOB: "1971-03-05"},
		},
		{
			name: "what is no date is left to the interface", header: "firstName,lastName,dob", row: "mara,okonkwo,5 March",
			want: Person{FirstName: "mara", LastName: "okonkwo", DOB: "5 March"},
		},
		{name: "a needed column is missing", header: "firstName,lastName", row: "a,b", err: "dob"},
		{name: "two columns for one field", header: "firstName,given_name,lastName,dob", row: "a,b,c,d", err: "both mean firstName"},
		{name: "no such column", header: "firstName,lastName,dob", row: "a,b,c", own: map[string]string{"dob": "born"}, err: `no column "born"`},
		{name: "no such field", header: "firstName,lastName,dob", row: "a,b,c", own: map[string]string{"age": "dob"}, err: `no field "age"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cells, err := mapColumns(strings.Split(c.header, ","), c.own)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("want an error with %q, got %v", c.err, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := cells.person(strings.Split(c.row, ",")); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestStored(t *testing.T) {
	sent := Person{FirstName: "Zofie", LastName: "Nova\u0301k", DOB: "1955-12-24", MiddleName: "n/a", Gender: "female", Last4SSN: "0505"}
	want := Record{ID: 7, Person: Person{
		FirstName: "Zofie", LastName: "Nov\u00e1k", DOB: "1955-12-24", Gender: "Female", Race: "Unknown", Ethnicity: "Unknown",
		SexAtBirth: "Unknown", Last4SSN: "***-**-0505",
	}}
	if got := sent.Stored(7).Differences(want); len(got) > 0 {
		t.Errorf("differs in %v", got)
	}
}

func TestLinesAreListedAsRanges(t *testing.T) {
	if got := (&lines{first: []int{9, 3, 4, 5, 7}, total: 8}).String(); got != "lines 3–5, 7, 9 and 3 more" {
		t.Error(got)
	}
}
