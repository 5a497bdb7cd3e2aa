package e2e

import (
	"bytes"
	"testing"

	"github.com/patient-mesh/patient-mesh/tools/load"
)

// What make load put into the mesh reads back equal, and a second load of the same file creates nothing twice.
func TestWhatIsLoadedReadsBackEqual(t *testing.T) {
	options := load.Options{
		Gateway: world.Demo().Gateway, APIKey: world.Demo().Tenants[0].APIKey, File: "../load/testdata/people.csv", Workers: 4,
		PlaceholderName: "Unknown", PlaceholderDOB: "1900-01-01", Label: t.Name(),
	}
	for again, replayed := range []int64{0, 7} {
		l, err := load.New(options)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := l.Report()
		if r.Created() != 7 || r.Verified() != 7 || r.Replayed() != replayed || r.Refused()+r.Failed()+r.Different() != 0 {
			var told bytes.Buffer
			_ = r.Write(&told)
			t.Errorf("load %d:\n%s", again+1, &told)
		}
	}
}

// So does what it imports in one stream.
func TestWhatIsLoadedByImportReadsBackEqual(t *testing.T) {
	options := load.Options{
		Gateway: world.Demo().Gateway, APIKey: world.Demo().Tenants[0].APIKey, File: "../load/testdata/people.csv", Workers: 4,
		PlaceholderName: "Unknown", PlaceholderDOB: "1900-01-01", Label: key(t),
	}
	for range 2 {
		l, err := load.New(options)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if err := l.Import(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		if r := l.Report(); r.Created() != 7 || r.Verified() != 7 || r.Refused()+r.Failed()+r.Different() != 0 {
			var told bytes.Buffer
			_ = r.Write(&told)
			t.Error(&told)
		}
	}
}
