package mail_test

import (
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/mail"
)

func TestNoticesOfFactors(t *testing.T) {
	t.Parallel()
	w, err := mail.NewWriter()
	if err != nil {
		t.Fatal(err)
	}
	c := identity.Contents{To: "ada@example.org", Name: "Ada", Factor: "a passkey", Link: "https://mesh.example/account"}
	for _, name := range []string{identity.LetterFactorAdded, identity.LetterFactorRemoved, identity.LetterRecoveryCodes} {
		letter, err := w.Write(name, c)
		if err != nil || letter.Subject == "" || !strings.Contains(letter.Text, c.Link) || !strings.Contains(letter.HTML, c.Link) {
			t.Errorf("%s: %+v, %v", name, letter, err)
		}
		if named := strings.Contains(letter.Text, c.Factor); named != (name != identity.LetterRecoveryCodes) {
			t.Errorf("%s names the factor: %v", name, named)
		}
	}
}
