package route

import "github.com/patient-mesh/patient-mesh/libs/mesh"

// pages are what people see in a browser: all of it the identity service's, which knows its visitors by cookie. No form is
// sent on twice.
func pages() []Route {
	page := Traits{Public: true, Page: true, Repeat: mesh.RepeatNever, BodyLimit: 64 << 10}
	list := []Route{}
	for _, at := range []string{
		"/", "/sign-up", "/sign-in", "/sign-in/second-factor", "/sign-in/federated", "/sign-in/federated/callback/{tenantId}", "/sign-in/federated/link",
		"/sign-out", "/forgot-password", "/choose-organization", "/oauth2/authorize",
		"/account", "/agreement", "/invitation/{id}/{identifier}", "/assets/{name}",
		"/user/public/verify-email/{userId}/{identifier}", "/user/public/verify-password-update/{userId}/{identifier}",
	} {
		list = append(list, Route{"GET", at, "identity", 0, page})
	}
	for _, at := range []string{
		"/sign-up", "/verify-email", "/sign-in", "/sign-in/passkey/begin", "/sign-in/passkey/finish", "/sign-in/second-factor",
		"/sign-in/second-factor/send", "/sign-in/second-factor/passkey/begin", "/sign-in/second-factor/passkey/finish", "/sign-in/federated/link",
		"/sign-out", "/forgot-password", "/reset-password", "/choose-organization", "/oauth2/authorize",
		"/account/profile", "/account/password", "/account/organization", "/account/step-up", "/account/session/end", "/account/session/end-all",
		"/account/launch", "/account/key", "/account/key/revoke", "/account/totp", "/account/totp/confirm", "/account/totp/remove", "/account/recovery",
		"/account/passkey/begin", "/account/passkey/finish", "/account/passkey/remove", "/agreement", "/invitation",
	} {
		list = append(list, Route{"POST", at, "identity", 0, page})
	}
	return list
}
