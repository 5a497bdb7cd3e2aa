package page

import (
	"context"
	"net/http"
)

// Route is one page. The gateway's table lists the same ones.
type Route struct {
	Method  string
	Pattern string // segments, of which {name} takes any text
	member  bool   // for who is signed in
	handle  func(ctx context.Context, v *visit) (reply, error)
	asset   func(r *http.Request) reply // in the place of handle: needs nothing of the visitor
}

// Routes are all pages.
func (s *Server) Routes() []Route {
	const get, post = http.MethodGet, http.MethodPost
	return []Route{
		{Method: get, Pattern: "/", handle: s.home},
		{Method: get, Pattern: "/assets/{name}", asset: s.asset},

		{Method: get, Pattern: "/sign-up", handle: s.signUpForm},
		{Method: post, Pattern: "/sign-up", handle: s.signUp},
		{Method: get, Pattern: "/user/public/verify-email/{userId}/{identifier}", handle: s.verifyEmailForm},
		{Method: post, Pattern: "/verify-email", handle: s.verifyEmail},

		{Method: get, Pattern: "/sign-in", handle: s.signInForm},
		{Method: post, Pattern: "/sign-in", handle: s.signInWith},
		{Method: post, Pattern: "/sign-in/passkey/begin", handle: s.beginPasskeySignIn},
		{Method: post, Pattern: "/sign-in/passkey/finish", handle: s.finishPasskeySignIn},
		{Method: get, Pattern: "/sign-in/second-factor", handle: s.secondFactorForm},
		{Method: post, Pattern: "/sign-in/second-factor", handle: s.secondFactor},
		{Method: post, Pattern: "/sign-in/second-factor/send", handle: s.sendCode},
		{Method: post, Pattern: "/sign-in/second-factor/passkey/begin", handle: s.beginPasskeyAnswer},
		{Method: post, Pattern: "/sign-in/second-factor/passkey/finish", handle: s.finishPasskeyAnswer},
		{Method: get, Pattern: federatedPath, handle: s.federated},
		{Method: get, Pattern: federatedPath + "/callback/{tenantId}", handle: s.federatedBack},
		{Method: get, Pattern: linkPath, member: true, handle: s.linkForm},
		{Method: post, Pattern: linkPath, member: true, handle: s.link},
		{Method: get, Pattern: "/sign-out", handle: s.signOutForm},
		{Method: post, Pattern: "/sign-out", handle: s.signOut},

		{Method: get, Pattern: "/forgot-password", handle: s.forgotForm},
		{Method: post, Pattern: "/forgot-password", handle: s.forgot},
		{Method: get, Pattern: "/user/public/verify-password-update/{userId}/{identifier}", handle: s.resetForm},
		{Method: post, Pattern: "/reset-password", handle: s.reset},

		{Method: get, Pattern: "/choose-organization", member: true, handle: s.chooseForm},
		{Method: post, Pattern: "/choose-organization", member: true, handle: s.choose},
		{Method: get, Pattern: authorizePath, handle: s.authorize},
		{Method: post, Pattern: authorizePath, handle: s.decide},

		{Method: get, Pattern: accountPath, member: true, handle: s.account},
		{Method: post, Pattern: "/account/profile", member: true, handle: s.updateProfile},
		{Method: post, Pattern: "/account/password", member: true, handle: s.changePassword},
		{Method: post, Pattern: "/account/organization", member: true, handle: s.switchOrganization},
		{Method: post, Pattern: "/account/step-up", member: true, handle: s.stepUp},
		{Method: post, Pattern: "/account/session/end", member: true, handle: s.endSession},
		{Method: post, Pattern: "/account/session/end-all", member: true, handle: s.endAllSessions},
		{Method: post, Pattern: "/account/launch", member: true, handle: s.launch},
		{Method: post, Pattern: "/account/key", member: true, handle: s.mintKey},
		{Method: post, Pattern: "/account/key/revoke", member: true, handle: s.revokeKey},
		{Method: post, Pattern: "/account/totp", member: true, handle: s.beginTOTP},
		{Method: post, Pattern: "/account/totp/confirm", member: true, handle: s.confirmTOTP},
		{Method: post, Pattern: "/account/totp/remove", member: true, handle: s.removeTOTP},
		{Method: post, Pattern: "/account/recovery", member: true, handle: s.newRecoveryCodes},
		{Method: post, Pattern: "/account/passkey/begin", member: true, handle: s.beginPasskey},
		{Method: post, Pattern: "/account/passkey/finish", member: true, handle: s.finishPasskey},
		{Method: post, Pattern: "/account/passkey/remove", member: true, handle: s.removePasskey},

		{Method: get, Pattern: "/agreement", member: true, handle: s.agreement},
		{Method: post, Pattern: "/agreement", member: true, handle: s.acceptAgreement},
		{Method: get, Pattern: "/invitation/{id}/{identifier}", handle: s.invitation},
		{Method: post, Pattern: "/invitation", handle: s.acceptInvitation},
	}
}
