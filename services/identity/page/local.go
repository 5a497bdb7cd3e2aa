package page

import (
	"net/url"
	"strings"
)

// longestContinue bounds an address to come back to, which an application's request makes long.
const longestContinue = 8 << 10

const (
	accountPath   = "/account"
	authorizePath = "/oauth2/authorize"
)

// local is the address itself if it is one of our own pages that may be come back to, else the account page. It takes
// only what every reader understands alike: a path that begins as one of ours does, in plain printable characters, and
// without the backslashes and dot segments that browsers mend.
func local(address string) string {
	path, _, _ := strings.Cut(address, "?")
	ours := strings.HasPrefix(address, authorizePath+"?") || path == accountPath || path == "/agreement" || address == linkPath ||
		strings.HasPrefix(path, "/invitation/")
	if !ours || len(address) > longestContinue || strings.ContainsAny(path, `\%`) || strings.Contains(address, "#") {
		return accountPath
	}
	for i := range len(address) {
		if address[i] <= ' ' || address[i] > '~' || address[i] == '\\' {
			return accountPath
		}
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if segment == "" || segment == "." || segment == ".." {
			return accountPath
		}
	}
	if u, err := url.ParseRequestURI(address); err != nil || u.Host != "" || u.Scheme != "" {
		return accountPath
	}
	return address
}

// withContinue is a page's address that leads on to another one.
func withContinue(page, onward string, more ...string) string {
	q := url.Values{}
	if onward != "" && onward != accountPath {
		q.Set("continue", onward)
	}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] != "" {
			q.Set(more[i], more[i+1])
		}
	}
	if len(q) == 0 {
		return page
	}
	return page + "?" + q.Encode()
}
