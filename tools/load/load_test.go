package load

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

func begin(t *testing.T, o Options) *Load {
	t.Helper()
	l, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func send(t *testing.T, o Options) *Load {
	t.Helper()
	l := begin(t, o)
	if err := l.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

func written(t *testing.T, l *Load) string {
	t.Helper()
	var b bytes.Buffer
	if err := l.Report().Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryRecordReadsBackEqual(t *testing.T) {
	f, o := newFake(t)
	l := send(t, o)
	if err := l.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := l.Report()
	if r.Created() != 5 || r.Verified() != 5 || r.Skipped() != 2 || r.Failed() != 0 || r.Different() != 0 {
		t.Errorf("want 5 created and verified, 2 skipped, got:\n%s", written(t, l))
	}
	if len(f.records) != 5 {
		t.Errorf("%d patients are stored", len(f.records))
	}
	for _, line := range []string{"lacks firstName: line 4", "lacks dob: line 5"} {
		if !strings.Contains(written(t, l), line) {
			t.Errorf("the report does not say %q:\n%s", line, written(t, l))
		}
	}
}

func TestARecordThatReadsBackDifferentIsTold(t *testing.T) {
	f, o := newFake(t)
	l := send(t, o)
	f.change = func(r *Record) {
		if r.LastName == "brightwater" {
			r.LastName = "darkwater"
		}
	}
	if err := l.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := l.Report(); r.Different() != 1 || r.Verified() != 4 {
		t.Errorf("one record of five differs, told:\n%s", written(t, l))
	}
	if text := written(t, l); !strings.Contains(text, "lastName: line 8") || strings.Contains(text, "water") {
		t.Errorf("want the field and the line, and no value:\n%s", text)
	}
}

func TestASecondLoadCreatesNothingTwice(t *testing.T) {
	f, o := newFake(t)
	send(t, o)
	again := send(t, o)
	if len(f.records) != 5 || again.Report().Replayed() != 5 {
		t.Errorf("%d patients after two loads, told:\n%s", len(f.records), written(t, again))
	}
	if err := again.Verify(t.Context()); err != nil || again.Report().Verified() != 5 {
		t.Errorf("a repeated load does not know its patients: %v\n%s", err, written(t, again))
	}
	o.Label = "once-more"
	if send(t, o); len(f.records) != 10 {
		t.Errorf("%d patients after a load under a label", len(f.records))
	}
}

func TestRetriesPassingRefusals(t *testing.T) {
	f, o := newFake(t)
	o.Workers = 1
	f.before = func(call int, w http.ResponseWriter) bool {
		switch call {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			w.WriteHeader(http.StatusConflict)
		default:
			return false
		}
		return true
	}
	l := send(t, o)
	if r := l.Report(); r.Created() != 5 || r.Retries() != 3 {
		t.Errorf("want 5 created after 3 retries:\n%s", written(t, l))
	}
}

func TestStopsWhereEveryRowWouldFail(t *testing.T) {
	f, o := newFake(t)
	o.Workers = 1
	f.before = func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusPaymentRequired)
		return true
	}
	l := begin(t, o)
	if err := l.Send(t.Context()); err == nil || !strings.Contains(err.Error(), "402") {
		t.Errorf("want an error that says 402, got %v", err)
	}
	if f.calls > 2 { // one worker, and one row that it may hold already
		t.Errorf("asked %d times", f.calls)
	}
}

func TestARefusedRowIsToldWithoutItsValues(t *testing.T) {
	f, o := newFake(t)
	f.before = func(call int, w http.ResponseWriter) bool {
		if call > 1 {
			return false
		}
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]any{
			"code": "invalid", "detail": "okonkwo is no name", "errors": []map[string]string{{"field": "dob", "code": "invalid_date"}},
		})
		return true
	}
	o.Workers = 1
	l := send(t, o)
	text := written(t, l)
	if l.Report().Refused() != 1 || l.Report().Failed() != 0 {
		t.Errorf("want one row refused:\n%s", text)
	}
	if !strings.Contains(text, "400 invalid (dob: invalid_date): line 2") || strings.Contains(text, "okonkwo") {
		t.Errorf("want status, code, field and line, and no value:\n%s", text)
	}
}

func TestPlaceholdersFillWhatIsMissing(t *testing.T) {
	f, o := newFake(t)
	o.PlaceholderName, o.PlaceholderDOB = "Unknown", "1900-01-01"
	l := send(t, o)
	if err := l.Verify(t.Context()); err != nil || l.Report().Verified() != 7 || len(f.records) != 7 {
		t.Errorf("want 7 created and verified: %v\n%s", err, written(t, l))
	}
}

func TestRowsThatAreNoRowsAreTold(t *testing.T) {
	_, o := newFake(t)
	o.File = t.TempDir() + "/people.csv"
	content := "\xef\xbb\xbffirstName,lastName,dob\nana,ruiz,1990-01-02\nonly,two\nbad\"quote,x,1990-01-02\n\"two\nlines\",ruiz,1990-01-02\nlea,ruiz,1990-01-02"
	if err := os.WriteFile(o.File, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	l := send(t, o)
	text := written(t, l)
	for _, want := range []string{"another number of columns than the heading: line 3", "is no CSV: line 4", "created    3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0": 0, "Mon, 03 Feb 2031 04:05:16 GMT": 10 * time.Second, "Mon, 03 Feb 2031 04:00:00 GMT": 0,
	} {
		if got, ok := retryAfter(value, now); !ok || got != want {
			t.Errorf("%q is %s, %v; want %s", value, got, ok, want)
		}
	}
	for _, value := range []string{"", "-1", "soon"} {
		if got, ok := retryAfter(value, now); ok {
			t.Errorf("%q is %s", value, got)
		}
	}
}

// What is imported in one stream is what is sent row by row, though the stream breaks off on the way.
func TestAnImportIsSentUntilItIsWhole(t *testing.T) {
	for _, cut := range []int{0, 2} {
		f, o := newFake(t)
		f.cut = cut
		for again := range 2 {
			l := begin(t, o)
			if err := l.Import(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := l.Verify(t.Context()); err != nil {
				t.Fatal(err)
			}
			r, retries := l.Report(), int64(0)
			if again == 0 && cut > 0 {
				retries = 1
			}
			if r.Created() != 5 || r.Verified() != 5 || r.Skipped() != 2 || r.Failed()+r.Different() != 0 || len(f.records) != 5 || r.Retries() != retries {
				t.Errorf("cut after %d, %d patients are stored:\n%s", cut, len(f.records), written(t, l))
			}
		}
	}
}

func TestAnImportTellsWhatIsRefused(t *testing.T) {
	f, o := newFake(t)
	o.File = t.TempDir() + "/people.csv"
	if err := os.WriteFile(o.File, []byte("firstName,lastName,dob,gender\nana,ruiz,1990-01-02,\nlea,ruiz,1990-01-02,wrong\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := begin(t, o)
	if err := l.Import(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := written(t, l); !strings.Contains(text, "400 invalid (gender: invalid_value): line 3") || strings.Contains(text, "secret") || len(f.records) != 1 {
		t.Error(text)
	}
	f.before = func(_ int, w http.ResponseWriter) bool {
		w.WriteHeader(http.StatusForbidden)
		return true
	}
	if err := begin(t, o).Import(t.Context()); err == nil || !strings.Contains(err.Error(), "403") {
		t.Error(err)
	}
}
