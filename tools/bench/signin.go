package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// signInConnections are the numbers of people who sign in at a time. Of one account ten at most may try at once: beyond
// 16 the two demo users would not do.
func signInConnections() []int { return []int{2, 16} }

// signIn measures what signing in with a password costs, most of which is the hash, slow on purpose.
func (b *Bench) signIn(ctx context.Context) error {
	full := table{
		title:  "Signing in with a password on the page, through the gateway (argon2id: 19 MiB, two passes, one lane)",
		header: []string{"At a time", "Rate", "Our programs' CPU a sign-in", "PostgreSQL's", "p50", "p99", "Resident memory of identity afterwards"},
	}
	for _, people := range signInConnections() {
		name := fmt.Sprintf("%d at a time", people)
		plan := func(ctx context.Context) (traffic.Plan, error) { return b.signingIn(ctx, people) }
		found, err := b.interleave(ctx, "sign-in", []subject{b.measured(name, plan, "", b.clock(mesh.Gateway, "identity", "tenant"))})
		if err != nil {
			return err
		}
		memory, err := residentOf(b.mesh.Process("identity").Pid())
		if err != nil {
			return err
		}
		f := found[name]
		full.rows = append(full.rows, []string{
			strconv.Itoa(people), rate(f.Rate), duration(f.CPU), duration(f.Database), duration(f.P50), duration(f.P99), mebibytes(memory),
		})
	}
	b.report.table(full)
	return nil
}

// signingIn posts the form of the sign-in page, as one browser whose forms are open in many tabs.
func (b *Bench) signingIn(ctx context.Context, people int) (traffic.Plan, error) {
	cookie, token, err := b.openForm(ctx)
	if err != nil {
		return traffic.Plan{}, err
	}
	var bodies []string
	for _, t := range b.mesh.Demo().Tenants {
		bodies = append(bodies, url.Values{"csrf": {token}, "email": {t.User.Email}, "password": {t.User.Password}}.Encode())
	}
	return traffic.Plan{
		Address: b.mesh.Address(mesh.Gateway), Method: http.MethodPost, Targets: []string{"/sign-in"}, Connections: people, Bodies: bodies,
		Header: map[string]string{"Content-Type": formType, "Cookie": cookie}, Good: http.StatusSeeOther,
	}, nil
}

// openForm asks for the sign-in page and gives the cookie and the token that its form is sent with.
func (b *Bench) openForm(ctx context.Context) (cookie, token string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, b.mesh.URL()+"/sign-in", http.NoBody)
	if err != nil {
		return "", "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	page, err := io.ReadAll(response.Body)
	if err != nil {
		return "", "", err
	}
	field := regexp.MustCompile(`name="csrf" value="([^"]+)"`).FindSubmatch(page)
	if field == nil {
		return "", "", fmt.Errorf("the sign-in page (%s) has no form", response.Status)
	}
	var cookies []string
	for _, c := range response.Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	return strings.Join(cookies, "; "), string(field[1]), nil
}
