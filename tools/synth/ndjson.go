package synth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Writer writes records somewhere. What it wrote has arrived once Flush was answered without an error.
type Writer interface {
	Write(r *Record) error
	Flush() error
}

// Ref is a name for a record that tells nobody who is not told whose it is.
func (r *Record) Ref(seed uint64) string {
	n := dice.Mix(dice.Mix(seed) ^ (uint64(r.Person)*(mostCopies+1) + uint64(r.Copy))) //nolint:gosec // not negative
	return fmt.Sprintf("%016x", n)
}

// ndjson writes what POST /v3/patient/import takes.
type ndjson struct {
	seed  uint64
	out   *bufio.Writer
	json  *json.Encoder
	truth *bufio.Writer
	line  []byte
}

// NewNDJSON writes lines for the import of patients to out, and to truth, unless it is nil, the person of each: a heading
// and then lines of ref and person with a tab between. The interface has no suffix: it is left out.
func NewNDJSON(out, truth io.Writer, seed uint64) (Writer, error) {
	w := &ndjson{seed: seed, out: bufio.NewWriterSize(out, 1<<16)}
	w.json = json.NewEncoder(w.out)
	w.json.SetEscapeHTML(false)
	if truth == nil {
		return w, nil
	}
	w.truth = bufio.NewWriterSize(truth, 1<<16)
	_, err := w.truth.WriteString("ref\tperson\n")
	return w, err
}

// dto is a PatientRequestDTO with what the import takes beside it.
type dto struct {
	Ref               string       `json:"ref"`
	FirstName         string       `json:"firstName"`
	MiddleName        string       `json:"middleName,omitempty"`
	LastName          string       `json:"lastName"`
	DOB               string       `json:"dob"`
	SexAtBirth        string       `json:"sexAtBirth,omitempty"`
	Gender            string       `json:"gender,omitempty"`
	Race              string       `json:"race,omitempty"`
	Ethnicity         string       `json:"ethnicity,omitempty"`
	PreferredLanguage string       `json:"preferredLanguage,omitempty"`
	Last4SSN          string       `json:"last4Ssn,omitempty"`
	Addresses         []Address    `json:"addresses,omitempty"`
	Contacts          []Contact    `json:"contacts,omitempty"`
	Aliases           []Alias      `json:"aliases,omitempty"`
	Identifiers       []Identifier `json:"identifiers,omitempty"`
}

func (w *ndjson) Write(r *Record) error {
	ref := r.Ref(w.seed)
	err := w.json.Encode(&dto{
		Ref: ref, FirstName: r.FirstName, MiddleName: r.MiddleName, LastName: r.LastName, DOB: r.DOB, SexAtBirth: r.SexAtBirth,
		Gender: r.Gender, Race: r.Race, Ethnicity: r.Ethnicity, PreferredLanguage: r.PreferredLanguage, Last4SSN: r.Last4SSN,
		Addresses: r.Addresses, Contacts: r.Contacts, Aliases: r.Aliases, Identifiers: r.Identifiers,
	})
	if err != nil || w.truth == nil {
		return err
	}
	w.line = append(append(w.line[:0], ref...), '\t')
	w.line = append(strconv.AppendInt(w.line, r.Person, 10), '\n')
	_, err = w.truth.Write(w.line)
	return err
}

func (w *ndjson) Flush() error {
	if err := w.out.Flush(); err != nil || w.truth == nil {
		return err
	}
	return w.truth.Flush()
}
