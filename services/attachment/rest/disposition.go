package rest

import (
	"mime"
	"strings"
	"unicode"
)

// disposition tells browsers to save a document rather than to show it, and under which name (RFC 6266): its filename,
// of which only the last part may stand, else its title, else its id.
func disposition(filename, title, id string) string {
	name := harmless(filename[strings.LastIndexAny(filename, `/\`)+1:])
	if name == "" {
		name = harmless(strings.NewReplacer("/", "_", `\`, "_").Replace(title))
	}
	if name == "" {
		name = id
	}
	return mime.FormatMediaType("attachment", map[string]string{"filename": name})
}

// harmless is a name without what does not print; one that is nothing but dots means a folder, and is none.
func harmless(name string) string {
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name))
	if strings.Trim(name, ".") == "" {
		return ""
	}
	return name
}
