package bench

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// attached is what the echoed patient has: about what a person gathers in a few years.
func attached() map[string][]string {
	return map[string][]string{
		"address": {
			`{"line1":"1 Harbour Way","city":"Portland","state":"ME","postalCode":"04101","use":"home"}`,
			`{"line1":"PO Box 9","city":"Portland","state":"ME","postalCode":"04112","use":"work"}`,
		},
		"contact": {
			`{"system":"phone","value":"+1 207 555 0134","use":"mobile"}`,
			`{"system":"email","value":"ingeborg@example.org","use":"home"}`,
		},
		"alias":      {`{"type":"maiden","lastName":"Holm"}`},
		"identifier": {`{"type":"MRN","value":"70-1177"}`, `{"type":"Insurance","value":"X-20031","authority_organization_name":"Northern Mutual"}`},
		"document": {
			`{"type":"document","filename":"discharge.pdf","title":"Discharge letter"}`,
			`{"type":"observation","contentType":"application/json","payload":{"code":"8867-4","value":72,"unit":"/min"}}`,
			`{"type":"wearable","contentType":"application/json","payload":{"steps":[4211,9120,7703]}}`,
		},
	}
}

// echo compares reading the whole record with reading the patient alone.
func (b *Bench) echo(ctx context.Context) error {
	id, err := b.newPatient(ctx)
	if err != nil {
		return err
	}
	record := "/v2/patient/" + strconv.FormatInt(id, 10)
	for kind, list := range attached() {
		for _, body := range list {
			if err := b.call(ctx, http.MethodPost, record+"/"+kind, body, &struct{}{}); err != nil {
				return err
			}
		}
	}
	full := table{
		title:  "Echo of a whole record (two addresses, contacts and identifiers, an alias, three documents) beside a v3 read",
		header: []string{"Connections", "What", "p50 to the v3 read's", "Rate", "Our programs' CPU a request", "PostgreSQL's", "p50", "p99"},
	}
	for _, clients := range concurrencies() {
		read := traffic.Plan{Method: http.MethodGet, Targets: []string{"/v3/patient/" + strconv.FormatInt(id, 10)}, Connections: clients}
		echo := traffic.Plan{Method: http.MethodGet, Targets: []string{record}, Connections: clients}
		subjects := []subject{
			b.asking("v3 read through the gateway", b.through(read), mesh.Gateway, "patient", "tenant"),
			b.asking("echo through the gateway", b.through(echo), mesh.Gateway, "patient", "attachment", "tenant"),
			b.asking("echo by the patient service", b.direct(echo), "patient", "attachment", "tenant"),
		}
		found, err := b.interleave(ctx, fmt.Sprintf("echo, %d connections", clients), subjects)
		if err != nil {
			return err
		}
		base := found[subjects[0].name]
		for _, s := range subjects {
			f := found[s.name]
			slower := float64(f.P50) / float64(max(base.P50, 1))
			full.rows = append(full.rows, append([]string{
				strconv.Itoa(clients), s.name, fmt.Sprintf("%.2f×", slower), rate(f.Rate), duration(f.CPU), duration(f.Database),
			}, figures(f)[1:]...))
		}
		f := found[subjects[1].name]
		b.report.headline(headline{
			what:  fmt.Sprintf("p50 of an echo to a v3 read's, through the gateway, %d connections", clients),
			found: fmt.Sprintf("%.2f×", float64(f.P50)/float64(max(base.P50, 1))), budget: "–", met: noBudget,
		})
	}
	b.report.table(full)
	return nil
}
