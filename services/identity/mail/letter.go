// Package mail writes the letters of the identity service and hands them to an SMTP server, or to a folder. It knows no
// rule of a sign-in, and logs neither addresses nor links.
package mail

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"
	text "text/template"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Each letter is a subject, an empty line, and paragraphs. A link and a code are paragraphs of their own.
//
//go:embed letters/*.txt
var letters embed.FS

//go:embed layout/letter.html
var layout string

// Writer turns what is to be said into the texts of a mail. It is safe for concurrent use.
type Writer struct {
	letters *text.Template
	layout  *template.Template
}

// NewWriter reads the letters.
func NewWriter() (*Writer, error) {
	parsed, err := text.ParseFS(letters, "letters/*.txt")
	if err != nil {
		return nil, fmt.Errorf("letters: %w", err)
	}
	html, err := template.New("letter").Parse(layout)
	if err != nil {
		return nil, fmt.Errorf("layout of letters: %w", err)
	}
	return &Writer{letters: parsed, layout: html}, nil
}

// Written is a letter as it is read.
type Written struct {
	Subject string
	Text    string
	HTML    string
}

// Write fills a letter in.
func (w *Writer) Write(name string, c identity.Contents) (Written, error) {
	var filled bytes.Buffer
	if err := w.letters.ExecuteTemplate(&filled, name+".txt", c); err != nil {
		return Written{}, fmt.Errorf("write a letter: %w", err)
	}
	subject, plain, _ := strings.Cut(filled.String(), "\n\n")
	var html bytes.Buffer
	err := w.layout.Execute(&html, map[string]any{
		"Subject": subject, "Contents": c, "Paragraphs": strings.Split(strings.TrimSpace(plain), "\n\n"),
	})
	if err != nil {
		return Written{}, fmt.Errorf("lay a letter out: %w", err)
	}
	return Written{Subject: subject, Text: plain, HTML: html.String()}, nil
}
