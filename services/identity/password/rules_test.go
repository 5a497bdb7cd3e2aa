package password_test

import (
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity/password"
)

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	common, err := password.NewCommon()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ password, want string }{
		{"plum tree at noon", ""},
		{"Zx9#kQw2!mLp", ""},
		{"пароль-и-груша-7", ""},
		{strings.Repeat("ab1!x", 25), ""},
		{"elevenchars", "invalid_length"},
		{strings.Repeat("é", 11), "invalid_length"},
		{"e\u0301" + "e\u0301", "invalid_length"},
		{strings.Repeat("x y z!", 22), "invalid_length"},
		{"bad\xffutf8 text here", "invalid_text"},
		{"password1234", "common_password"},
		{"PassWord1234", "common_password"},
		{"password1234!!!", "common_password"},
		{"Password123!", "common_password"},
		{"ｐａｓｓｗｏｒｄ１２３４", "common_password"},
		{"aaaaaaaaaaaaa", "common_password"},
		{"abcabcabcabc", "common_password"},
		{"correcthorsebatterystaple", "common_password"},
		{"ADA.LOVELACE.1815", "personal_password"},
		{"General Hospital", "personal_password"},
	} {
		if got, _ := common.Fault(c.password, "ada.lovelace.1815", "general hospital", ""); got != c.want {
			t.Errorf("%q: %q, want %q", c.password, got, c.want)
		}
	}
}

func TestPasswordsThatLookAlikeAreOne(t *testing.T) {
	t.Parallel()
	if password.Normal("ﬁne wine e\u0301") != password.Normal("fine wine é") {
		t.Error("two spellings of one password differ")
	}
}
