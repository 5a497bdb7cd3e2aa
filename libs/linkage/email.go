package linkage

import "strings"

// ParseEmail is an address as mail is delivered to it, folded: without the tag behind a plus sign and, at Google, without
// full stops. Empty: it is none, or one that nobody has.
func ParseEmail(s string) string {
	local, domain, found := strings.Cut(strings.ToLower(strings.TrimSpace(s)), "@")
	if !found || local == "" || domain == "" {
		return ""
	}
	if tag := strings.IndexByte(local, '+'); tag > 0 {
		local = local[:tag]
	}
	if domain == "googlemail.com" {
		domain = "gmail.com"
	}
	if domain == "gmail.com" {
		local = strings.ReplaceAll(local, ".", "")
	}
	if nobodysMail(local, domain) {
		return ""
	}
	if len(local)+1+len(domain) == len(s) && strings.HasPrefix(s, local) && strings.HasSuffix(s, domain) {
		return s
	}
	return local + "@" + domain
}

func nobodysMail(local, domain string) bool {
	switch local {
	case "none", "no", "na", "n/a", "noemail", "no-email", "no.email", "no_email", "nomail", "unknown", "test", "testing", "null", "noreply", "no-reply", "donotreply",
		"declined", "refused", "nobody", "noone", "notgiven", "notprovided", "none.none", "email", "example":
		return true
	}
	switch domain {
	case "none.com", "none.none", "noemail.com", "noemail.org", "nomail.com", "test.com", "unknown.com", "na.com", "no.com", "declined.com", "refused.com":
		return true
	}
	return false
}
