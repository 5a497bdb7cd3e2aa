package rest

import (
	"mime"
	"strings"
	"testing"
)

func TestDisposition(t *testing.T) {
	t.Parallel()
	const id = "0199c1f0-0000-7000-8000-000000000001"
	for _, c := range []struct{ filename, title, want string }{
		{"report.pdf", "Report", `attachment; filename=report.pdf`},
		{"two words.pdf", "", `attachment; filename="two words.pdf"`},
		{"../../etc/passwd", "", `attachment; filename=passwd`},
		{`..\..\windows\system32\cmd.exe`, "", `attachment; filename=cmd.exe`},
		{`C:\a/b\c.txt`, "", `attachment; filename=c.txt`},
		{`say "hi".txt`, "", `attachment; filename="say \"hi\".txt"`},
		{"a\r\nSet-Cookie: b=c.txt", "", `attachment; filename="aSet-Cookie: b=c.txt"`},
		{"a\x00b.txt", "", `attachment; filename=ab.txt`},
		{"gpj\u202egnp.exe", "", `attachment; filename=gpjgnp.exe`},
		{"Befund Müller.pdf", "", `attachment; filename*=utf-8''Befund%20M%C3%BCller.pdf`},
		{"結果.pdf", "", `attachment; filename*=utf-8''%E7%B5%90%E6%9E%9C.pdf`},
		{"50%.txt", "", `attachment; filename=50%.txt`},
		{"a;b=c.txt", "", `attachment; filename="a;b=c.txt"`},
		{".profile", "", `attachment; filename=.profile`},
		{"", "Scan of a letter", `attachment; filename="Scan of a letter"`},
		{"", "Blood count 3/4", `attachment; filename="Blood count 3_4"`},
		{"folder/", "Title", `attachment; filename=Title`},
		{"..", "..", `attachment; filename=` + id},
		{`../..`, "", `attachment; filename=` + id},
		{" ", "\t", `attachment; filename=` + id},
		{"", "", `attachment; filename=` + id},
	} {
		got := disposition(c.filename, c.title, id)
		if got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.filename, c.title, got, c.want)
		}
		kind, params, err := mime.ParseMediaType(got)
		if err != nil || kind != "attachment" || params["filename"] == "" || strings.ContainsAny(params["filename"], "/\\\r\n") {
			t.Errorf("%q is read as %s %v, %v", got, kind, params, err)
		}
	}
}
