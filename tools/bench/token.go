package bench

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
)

const tokenConnections = 8

// token measures client_credentials, which has nothing beside it here.
func (b *Bench) token(ctx context.Context) error {
	t := b.mesh.Demo().Tenants[0]
	secret := base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(t.ClientID) + ":" + url.QueryEscape(t.ClientSecret)))
	plan := b.through(traffic.Plan{
		Method: http.MethodPost, Targets: []string{"/oauth2/token"}, Connections: tokenConnections, Body: "grant_type=client_credentials",
	})
	plan.Header = map[string]string{"Authorization": "Basic " + secret, "Content-Type": "application/x-www-form-urlencoded"}
	found, err := b.interleave(ctx, "token", []subject{b.asking("through the gateway", plan)})
	if err != nil {
		return err
	}
	row := append([]string{"client_credentials through the gateway, 8 connections"}, figures(found["through the gateway"])...)
	b.report.table(table{title: "Access tokens", header: []string{"What", "Rate", "p50", "p99"}, rows: [][]string{row}})
	return nil
}
