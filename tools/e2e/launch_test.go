package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/launch"
)

const (
	applications = "/v2/external-application"
	exchange     = "/v2/public/external-application/auth/oauth2/user/token"
)

func TestAdministratorsManageExternalApplications(t *testing.T) {
	c := admin(t)
	body := map[string]any{"name": "Ward Dashboard", "launchUrl": "https://dashboard.example/", "tenantId": world.Demo().Tenants[0].ID}
	once := c.with("Idempotency-Key", "ward dashboard")
	made := once.post(applications, body).is(http.StatusCreated).object()
	id, secret := fmt.Sprint(made["id"]), fmt.Sprint(made["sharedSecret"])
	if made["launchUrl"] != "https://dashboard.example" || made["tenantId"] != world.Demo().Tenants[0].ID {
		t.Errorf("made %v", made)
	}
	if again := once.post(applications, body); again.refused(http.StatusConflict, "already_created").Status == 0 || strings.Contains(string(again.raw), secret) {
		t.Errorf("again: %s", again.raw)
	}
	list := string(c.get(applications + "?size=500").is(ok).raw)
	if !strings.Contains(list, id) || !strings.Contains(list, world.Demo().ExternalApplication.ID) || strings.Contains(list, secret) {
		t.Errorf("list: %s", list)
	}
	c.post(applications, map[string]any{"name": "", "launchUrl": "http://dashboard.example", "tenantId": "x"}).is(bad)
	owner(t).post(applications, body).refused(http.StatusForbidden, "permission_denied")
	owner(t).get(applications).refused(http.StatusForbidden, "permission_denied")
	owner(t).delete(applications+"/"+id).refused(http.StatusForbidden, "permission_denied")
	anyone(t).get(applications).is(unauthorized)
	c.delete(applications + "/" + id).is(ok)
	c.delete(applications+"/"+id).refused(missing, "application_not_found")
}

// Who is no person cannot launch, and whatever is wrong with a code, the answer is the same.
func TestNobodyLaunchesAndNothingIsExchanged(t *testing.T) {
	app := world.Demo().ExternalApplication
	target := applications + "/" + app.ID + "/launch"
	owner(t).post(target, nil).refused(http.StatusForbidden, "no_user")
	admin(t).post(target, nil).refused(http.StatusForbidden, "no_user")
	anyone(t).post(target, nil).is(unauthorized)

	for name, body := range map[string]any{
		"unknown":       map[string]string{"securityCode": "unknown", "signature": launch.Sign(app.SharedSecret, "unknown")},
		"empty":         map[string]string{"securityCode": "", "signature": ""},
		"more than two": map[string]any{"securityCode": "a", "signature": "b", "userId": world.Demo().Tenants[0].User.ID},
	} {
		if p := anyone(t).post(exchange, body).refused(unauthorized, "launch_refused"); p.Detail != "The code does not hold, or not any more." {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, body := range []any{map[string]any{}, map[string]any{"securityCode": "a"}, map[string]any{"securityCode": 1, "signature": "b"}, "[]"} {
		anyone(t).post(exchange, body).is(bad)
	}
	anyone(t).with("Content-Type", "application/x-www-form-urlencoded").post(exchange, "signature=a&securityCode=b").is(http.StatusUnsupportedMediaType)
	anyone(t).get(exchange).is(http.StatusMethodNotAllowed)
}
