package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What each kind looks like, byte for byte: given everything, and given the least.
func TestShapes(t *testing.T) {
	t.Parallel()
	const at = `"createdAt":"2026-03-14T09:26:53.589Z"`
	const both = `"active":true,` + at + `,"updatedAt":"2026-03-14T09:26:53.589Z"}`
	const of = `{"id":"ID","patientId":"` + someone + `",`
	all := bodies()
	for name, c := range map[string]struct{ target, body, want string }{
		"v3 address, all":   {"/v3/address", all["address"]["v3"], `{"id":"ID","line1":"12 Harbour Street","line2":"Apt 4","city":"Portland","state":"ME","postalCode":"04101","country":"US","use":"home",` + both},
		"v2 address, all":   {"/v2/address", all["address"]["v2"], of + `"line1":"12 Harbour Street","line2":"Apt 4","city":"Portland","state":"ME","postalCode":"04101","country":"US","use":"home","active":true,` + at + `}`},
		"v3 address, least": {"/v3/address", `{"line1":" a ","city":"b","state":"c","postalCode":"d"}`, `{"id":"ID","line1":"a","line2":"","city":"b","state":"c","postalCode":"d","country":"US","use":"Unknown",` + both},
		"v2 address, least": {"/v2/address", `{"line1":" a ","city":"b","state":"c","postalCode":"d"}`, of + `"line1":"a","line2":"","city":"b","state":"c","postalCode":"d","country":"US","use":"","active":true,` + at + `}`},
		"v3 address, null":  {"/v3/address", `{"line1":"a","city":"b","state":"c","postalCode":"d","line2":null,"country":null,"use":null}`, `{"id":"ID","line1":"a","line2":"","city":"b","state":"c","postalCode":"d","country":"US","use":"Unknown",` + both},
		"v2 address, n/a":   {"/v2/address", `{"line1":"a","city":"b","state":"c","postalCode":"d","line2":"n/a","country":"N/A","use":"n/a"}`, of + `"line1":"a","line2":"","city":"b","state":"c","postalCode":"d","country":"US","use":"","active":true,` + at + `}`},

		"v3 contact, all":   {"/v3/contact", all["contact"]["v3"], `{"id":"ID","system":"phone","value":"(207) 555-0142","e164":"+12075550142","use":"mobile",` + both},
		"v2 contact, all":   {"/v2/contact", all["contact"]["v2"], of + `"system":"phone","value":"(207) 555-0142","e164":"+12075550142","use":"mobile","active":true,` + at + `}`},
		"v3 contact, least": {"/v3/contact", `{"value":"207-555-0142"}`, `{"id":"ID","system":"phone","value":"207-555-0142","e164":"+12075550142","use":"Unknown",` + both},
		"v2 contact, least": {"/v2/contact", `{"value":"207-555-0142"}`, of + `"system":"phone","value":"207-555-0142","e164":"+12075550142","use":"","active":true,` + at + `}`},
		"v3 contact, mail":  {"/v3/contact", `{"system":"EMAIL","value":"ana@example.org","use":null}`, `{"id":"ID","system":"email","value":"ana@example.org","e164":"","use":"Unknown",` + both},
		"v2 contact, null":  {"/v2/contact", `{"system":null,"value":"+44 20 7946 0018"}`, of + `"system":"phone","value":"+44 20 7946 0018","e164":"+442079460018","use":"","active":true,` + at + `}`},

		"v3 alias, all":    {"/v3/alias", all["alias"]["v3"], `{"id":"ID","type":"maiden","alias":"Nana","firstName":"Ana","lastName":"Reis","fullName":"Ana Reis","effectiveFrom":"1980-02-29","effectiveTo":"2031-06-30T21:00:00.000Z",` + both},
		"v2 alias, all":    {"/v2/alias", all["alias"]["v2"], of + `"type":"maiden","alias":"Nana","firstName":"Ana","lastName":"Reis","fullName":"Ana Reis","effectiveFrom":"1980-02-29","effectiveTo":"2031-06-30T21:00:00.000Z","active":true,` + at + `}`},
		"v3 alias, least":  {"/v3/alias", `{"lastName":"Reis"}`, `{"id":"ID","type":"alias","alias":"","firstName":"","lastName":"Reis","fullName":"","effectiveFrom":"","effectiveTo":"",` + both},
		"v2 alias, least":  {"/v2/alias", `{"alias":"Nana","type":null,"firstName":"n/a"}`, of + `"type":"alias","alias":"Nana","firstName":"","lastName":"","fullName":"","effectiveFrom":"","effectiveTo":"","active":true,` + at + `}`},
		"v3 alias, of old": {"/v3/alias", `{"fullName":"Ana Reis","effectiveTo":"2004-06-30"}`, `{"id":"ID","type":"alias","alias":"","firstName":"","lastName":"","fullName":"Ana Reis","effectiveFrom":"","effectiveTo":"2004-06-30","active":false,` + at + `,"updatedAt":"2026-03-14T09:26:53.589Z"}`},

		"v3 identifier, all": {"/v3/identifier", all["identifier"]["v3"], `{"id":"ID","type":"MRN","value":"00412967","authorityOrganizationId":"o","authorityOrganizationName":"O","authorityExternalSystemId":"s",` +
			`"authorityExternalSystemName":"S","sourceName":"Desk","activeFrom":"2019-05-01","activeUntil":"2031-01-01T00:00:00.000Z",` + both},
		"v2 identifier, all": {"/v2/identifier", all["identifier"]["v2"], of + `"type":"MRN","value":"00412967","authority_organization_id":"o","authority_organization_name":"O","authority_external_system_id":"s",` +
			`"authority_external_system_name":"S","source_name":"Desk","active_from":"2019-05-01","active_until":"2031-01-01T00:00:00.000Z","active":true,` + at + `}`},
		"v3 identifier, least": {"/v3/identifier", `{"value":"7"}`, `{"id":"ID","type":"Unknown","value":"7","authorityOrganizationId":"tenant","authorityOrganizationName":"Harbour Clinic","authorityExternalSystemId":"",` +
			`"authorityExternalSystemName":"","sourceName":"Unknown","activeFrom":"","activeUntil":"",` + both},
		"v2 identifier, least": {"/v2/identifier", `{"value":"7","active_from":null}`, of + `"type":"Unknown","value":"7","authority_organization_id":"tenant","authority_organization_name":"Harbour Clinic","authority_external_system_id":"",` +
			`"authority_external_system_name":"","source_name":"Unknown","active_from":"","active_until":"","active":true,` + at + `}`},
		"v2 identifier, not begun": {"/v2/identifier", `{"value":"7","authority_external_system_id":"s","active_from":"2026-03-14T09:26:54Z"}`, of + `"type":"Unknown","value":"7","authority_organization_id":"","authority_organization_name":"","authority_external_system_id":"s",` +
			`"authority_external_system_name":"","source_name":"Unknown","active_from":"2026-03-14T09:26:54.000Z","active_until":"","active":false,` + at + `}`},
		"v2 identifier, in the names of v3": {"/v2/identifier", `{"value":"7","authorityOrganizationId":"o","sourceName":"Desk","activeFrom":"x"}`, of + `"type":"Unknown","value":"7","authority_organization_id":"tenant","authority_organization_name":"Harbour Clinic","authority_external_system_id":"",` +
			`"authority_external_system_name":"","source_name":"Unknown","active_from":"","active_until":"","active":true,` + at + `}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			version, kind := c.target[1:3], c.target[4:]
			serve(t).post("/"+version+"/patient/"+someone+"/"+kind, c.body).is(status(version)).shows(c.want)
		})
	}
}

// All that a body gets wrong is told at once, in the names of the request, and nothing that follows from it alone.
func TestFaultsOfBodies(t *testing.T) {
	t.Parallel()
	name, text := strings.Repeat("é", 201), strings.Repeat("x", 501)
	for rule, c := range map[string]struct {
		targets, body string
		want          []string
	}{
		"an address needs four members": {"/v3/address /v2/address", `{}`, []string{"line1 required", "city required", "state required", "postalCode required"}},
		"null is not given":             {"/v3/address /v2/address", `{"line1":null,"city":null,"state":"s","postalCode":"p"}`, []string{"line1 required", "city required"}},
		"blank and n/a are no address": {
			"/v3/address /v2/address", `{"line1":"","city":" ","state":"n/a","postalCode":"N/A"}`,
			[]string{"line1 blank", "city blank", "state blank", "postalCode blank"},
		},
		"an address of wrong types": {
			"/v3/address /v2/address", `{"line1":1,"line2":[],"city":{},"state":true,"postalCode":4101,"country":1,"use":0}`,
			[]string{"line1 invalid_type", "line2 invalid_type", "city invalid_type", "state invalid_type", "postalCode invalid_type", "country invalid_type", "use invalid_type"},
		},
		"an address's values": {
			"/v3/address /v2/address", `{"line1":"` + text + `","city":"b\u0007","state":"c","postalCode":"d","country":"USA","use":"office"}`,
			[]string{"line1 too_long", "city control_character", "country invalid_value", "use invalid_value"},
		},
		"a contact needs a value": {"/v3/contact /v2/contact", `{"use":"beach"}`, []string{"value required", "use invalid_value"}},
		"a contact of wrong types, of which the value cannot be judged": {
			"/v3/contact /v2/contact", `{"system":7,"value":"ana@example.org","use":{}}`, []string{"system invalid_type", "use invalid_type"},
		},
		"a contact of no system":      {"/v3/contact /v2/contact", `{"system":"fax","value":7}`, []string{"value invalid_type", "system invalid_value"}},
		"a phone that cannot be one":  {"/v3/contact /v2/contact", `{"value":"ana@example.org"}`, []string{"value invalid_phone"}},
		"a mail that cannot be one":   {"/v3/contact /v2/contact", `{"system":"email","value":"Ana <ana@example.org>"}`, []string{"value invalid_email"}},
		"an alias needs a name":       {"/v3/alias /v2/alias", `{"type":"maiden","lastName":"n/a","fullName":""}`, []string{"alias required"}},
		"an alias whose name is none": {"/v3/alias /v2/alias", `{"lastName":7,"type":7}`, []string{"type invalid_type", "lastName invalid_type"}},
		"an alias's values": {
			"/v3/alias /v2/alias", `{"type":"pet","firstName":"` + name + `","effectiveFrom":"yesterday","effectiveTo":"2026-02-30"}`,
			[]string{"firstName too_long", "type invalid_value", "effectiveFrom invalid_date", "effectiveTo invalid_date"},
		},
		"an alias that ends first":     {"/v3/alias /v2/alias", `{"alias":"Nana","effectiveFrom":"2020-01-02","effectiveTo":"2020-01-01T23:59:59Z"}`, []string{"effectiveTo before_start"}},
		"an identifier needs a value":  {"/v3/identifier /v2/identifier", `{"type":"` + text + `"}`, []string{"type too_long", "value required"}},
		"an identifier's value, blank": {"/v3/identifier /v2/identifier", `{"value":"n/a"}`, []string{"value blank"}},
		"an identifier of wrong types in v3": {
			"/v3/identifier", `{"type":1,"value":1,"authorityOrganizationId":1,"authorityOrganizationName":1,"authorityExternalSystemId":1,"authorityExternalSystemName":1,"sourceName":1,"activeFrom":1,"activeUntil":1}`,
			[]string{
				"type invalid_type", "value invalid_type", "sourceName invalid_type", "authorityOrganizationId invalid_type", "authorityOrganizationName invalid_type",
				"authorityExternalSystemId invalid_type", "authorityExternalSystemName invalid_type", "activeFrom invalid_type", "activeUntil invalid_type",
			},
		},
		"an identifier of wrong types in v2": {
			"/v2/identifier", `{"type":1,"value":1,"authority_organization_id":1,"authority_organization_name":1,"authority_external_system_id":1,"authority_external_system_name":1,"source_name":1,"active_from":1,"active_until":1}`,
			[]string{
				"type invalid_type", "value invalid_type", "source_name invalid_type", "authority_organization_id invalid_type", "authority_organization_name invalid_type",
				"authority_external_system_id invalid_type", "authority_external_system_name invalid_type", "active_from invalid_type", "active_until invalid_type",
			},
		},
		"an identifier's days in v3":        {"/v3/identifier", `{"activeFrom":"x","activeUntil":"y"}`, []string{"value required", "activeFrom invalid_date", "activeUntil invalid_date"}},
		"an identifier's days in v2":        {"/v2/identifier", `{"active_from":"x","active_until":"y"}`, []string{"value required", "active_from invalid_date", "active_until invalid_date"}},
		"an identifier that ends, in v3":    {"/v3/identifier", `{"value":"7","activeFrom":"2020-01-02","activeUntil":"2020-01-01"}`, []string{"activeUntil before_start"}},
		"an identifier that ends, in v2":    {"/v2/identifier", `{"value":"7","active_from":"2020-01-02","active_until":"2020-01-01"}`, []string{"active_until before_start"}},
		"what is given twice":               {"/v3/identifier /v2/identifier", `{"value":"7","value":"8"}`, []string{"value duplicate_member"}},
		"a rule goes with what was no text": {"/v2/identifier", `{"value":"7","source_name":7,"active_from":"2020-01-02","active_until":"2020-01-01"}`, []string{"source_name invalid_type", "active_until before_start"}},
	} {
		for target := range strings.FieldsSeq(c.targets) {
			t.Run(target+" "+rule, func(t *testing.T) {
				t.Parallel()
				s := serve(t)
				a := s.post(target[:4]+"patient/"+someone+"/"+target[4:], c.body)
				if diff := cmp.Diff(c.want, a.faults()); diff != "" {
					t.Errorf("%s: %s", a.body, diff)
				}
				if len(*s.trail) > 0 {
					t.Errorf("told: %v", *s.trail)
				}
			})
		}
	}
}

func TestFaultsOfChanges(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct {
		kind, body string
		want       []string
	}{
		"an address keeps what it needs": {
			"address", `{"line1":"n/a","city":"","state":" ","postalCode":"N/A","country":"XX","use":7}`,
			[]string{"use invalid_type", "line1 blank", "city blank", "state blank", "postalCode blank", "country invalid_value"},
		},
		"a contact keeps its value":      {"contact", `{"value":"n/a","use":"beach"}`, []string{"value blank", "use invalid_value"}},
		"a contact's value fits another": {"contact", `{"system":"email"}`, []string{"value invalid_email"}},
		"an alias keeps a name":          {"alias", `{"alias":"n/a","firstName":"n/a","lastName":"n/a","fullName":"n/a"}`, []string{"alias required"}},
		"an alias's end":                 {"alias", `{"effectiveTo":"1980-02-28"}`, []string{"effectiveTo before_start"}},
		"an alias's types":               {"alias", `{"type":"n/a","firstName":7,"effectiveTo":"x"}`, []string{"firstName invalid_type", "type blank", "effectiveTo invalid_date"}},
		"an identifier's value":          {"identifier", `{"value":"","sourceName":7,"activeUntil":"x"}`, []string{"sourceName invalid_type", "value blank", "activeUntil invalid_date"}},
		"an identifier's start":          {"identifier", `{"activeFrom":"2031-01-02"}`, []string{"activeUntil before_start"}},
	} {
		t.Run(c.kind+": "+rule, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			at := "/v3/patient/" + someone + "/" + c.kind
			one := at + "/" + s.post(at, bodies()[c.kind]["v3"]).is(http.StatusOK).id()
			before := s.get(one)
			a := s.patch(one, c.body)
			if diff := cmp.Diff(c.want, a.faults()); diff != "" {
				t.Errorf("%s: %s", a.body, diff)
			}
			if after := s.get(one); after.body != before.body || after.header.Get("ETag") != before.header.Get("ETag") {
				t.Errorf("refused, and changed to %s", after.body)
			}
		})
	}
}
