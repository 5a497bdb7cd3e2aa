package bench

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// budgetToken is the CPU of an access token by client_credentials, PostgreSQL included.
const budgetToken = 300 * time.Microsecond

const credentials = "grant_type=client_credentials"

// tokenConnections are the numbers of connections that tokens are asked for with.
func tokenConnections() []int { return []int{64, 8} }

// endpoint is one thing that the authorization server does, asked at the identity service alone and through the gateway.
type endpoint struct {
	name string
	plan func(ctx context.Context, connections int) (traffic.Plan, error)
}

// token measures the authorization server, which has nothing beside it here.
func (b *Bench) token(ctx context.Context) error {
	full := table{
		title:  "Access tokens",
		header: []string{"Connections", "What", "Who", "Rate", "Our programs' CPU a request", "PostgreSQL's", "p50", "p99"},
	}
	for _, connections := range tokenConnections() {
		for _, e := range b.endpoints() {
			alone, through := b.authorizing(e, connections, "service alone", "identity"), b.authorizing(e, connections, "through the gateway", mesh.Gateway, "identity")
			found, err := b.interleave(ctx, fmt.Sprintf("%s, %d connections", e.name, connections), []subject{alone, through})
			if err != nil {
				return err
			}
			for _, s := range []subject{alone, through} {
				f := found[s.name]
				full.rows = append(full.rows, append([]string{strconv.Itoa(connections), e.name, s.name, rate(f.Rate), duration(f.CPU), duration(f.Database)}, figures(f)[1:]...))
				if e.name == "client_credentials" {
					b.report.tokenCost(fmt.Sprintf("CPU of a token by client_credentials, %s and PostgreSQL, %d connections", s.name, connections), f)
				}
			}
		}
	}
	b.report.table(full)
	return nil
}

func (r *report) tokenCost(what string, f sample) {
	whole := f.CPU + f.Database
	h := headline{what: what, found: duration(whole), budget: "< " + duration(budgetToken), met: verdictOf(whole < budgetToken)}
	if f.Database == 0 {
		h.met = noBudget // PostgreSQL runs where it cannot be measured
	}
	r.headline(h)
}

func (b *Bench) endpoints() []endpoint {
	return []endpoint{
		{"client_credentials", func(_ context.Context, connections int) (traffic.Plan, error) {
			return b.form("/oauth2/token", credentials, connections), nil
		}},
		{"introspection", func(ctx context.Context, connections int) (traffic.Plan, error) {
			token, err := b.accessToken(ctx)
			return b.form("/oauth2/introspect", "token="+url.QueryEscape(token), connections), err
		}},
		{"refresh_token", func(ctx context.Context, connections int) (traffic.Plan, error) {
			// What a run has spent is of no use to the next.
			first, err := b.refreshTokens(ctx, connections)
			plan := b.form("/auth/oauth2/token", "", connections)
			delete(plan.Header, "Authorization") // the public client has no secret
			plan.Chain = &traffic.Chain{
				Prefix: "grant_type=refresh_token&client_id=" + b.mesh.Demo().PublicClientID + "&refresh_token=",
				Member: "refresh_token", First: first,
			}
			return plan, err
		}},
	}
}

// authorizing is an endpoint as a subject; the first of the programs is the one that is asked.
func (b *Bench) authorizing(e endpoint, connections int, who string, programs ...string) subject {
	plan := func(ctx context.Context) (traffic.Plan, error) {
		p, err := e.plan(ctx, connections)
		p.Address = b.mesh.Address(programs[0])
		return p, err
	}
	return b.measured(who, plan, "", b.clock(programs...))
}

// form is a form that the first demo tenant's client sends.
func (b *Bench) form(target, body string, connections int) traffic.Plan {
	return traffic.Plan{
		Method: http.MethodPost, Targets: []string{target}, Connections: connections, Body: body,
		Header: map[string]string{"Authorization": b.basic(), "Content-Type": formType},
	}
}

const formType = "application/x-www-form-urlencoded"

func (b *Bench) basic() string {
	t := b.mesh.Demo().Tenants[0]
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(t.ClientID)+":"+url.QueryEscape(t.ClientSecret)))
}

// accessToken is a fresh one of the first demo tenant's client.
func (b *Bench) accessToken(ctx context.Context) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.mesh.URL()+"/oauth2/token", strings.NewReader(credentials))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", b.basic())
	request.Header.Set("Content-Type", formType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(response.Body).Decode(&issued); err != nil || issued.AccessToken == "" {
		return "", fmt.Errorf("no token is issued (%s): %w", response.Status, err)
	}
	return issued.AccessToken, nil
}
