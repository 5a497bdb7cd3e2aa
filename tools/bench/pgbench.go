package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// pgbench runs a script as the service's own role, with prepared statements.
type pgbench struct {
	path      string
	script    string // file
	variables []string
	env       []string
}

// newPgbench prepares a script. Options are the session's settings, as PGOPTIONS takes them.
func (b *Bench) newPgbench(name, text string, variables []string, options string) (*pgbench, error) {
	path, err := find("pgbench")
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(b.mesh.Database("patient").URL)
	if err != nil {
		return nil, errors.New("the database's address cannot be read")
	}
	p := &pgbench{path: path, script: filepath.Join(b.scratch, name+".sql"), variables: variables}
	p.env = append(os.Environ(),
		"PGHOST="+config.Host, "PGPORT="+strconv.Itoa(int(config.Port)), "PGUSER="+config.User, "PGPASSWORD="+config.Password,
		"PGDATABASE="+config.Database, "PGSSLMODE=disable", "PGOPTIONS="+options)
	return p, os.WriteFile(p.script, []byte(text), 0o600)
}

// subject is pgbench with so many clients, over as many connections.
func (p *pgbench) subject(b *Bench, name string, clients int) subject {
	seconds := strconv.Itoa(max(1, int(b.options.Duration.Seconds())))
	args := []string{"-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", strconv.Itoa(min(clients, 2)), "-T", seconds, "-f", p.script}
	for _, v := range p.variables {
		args = append(args, "-D", v)
	}
	return subject{name: name, run: func(ctx context.Context) (sample, error) {
		cmd := exec.CommandContext(ctx, p.path, args...)
		cmd.Env = p.env
		var out, faults bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &faults
		b.settle(ctx)
		before, err := b.spent()
		if err != nil {
			return sample{}, err
		}
		if err := cmd.Run(); err != nil {
			return sample{}, fmt.Errorf("pgbench: %w: %s", err, strings.TrimSpace(faults.String()))
		}
		s, err := pgbenchSays(out.String())
		if err != nil {
			return sample{}, err
		}
		b.settle(ctx) // a create's own statements leave entries too
		after, err := b.spent()
		s.Database = after.minus(before).each(s.Rate * float64(max(1, int(b.options.Duration.Seconds())))).database
		return s, err
	}}
}

// pgbenchSays reads the end of a run. It tells an average latency, which is no percentile and is left out.
func pgbenchSays(text string) (sample, error) {
	rate := regexp.MustCompile(`tps = ([0-9.]+)`).FindStringSubmatch(text)
	if rate == nil {
		return sample{}, errors.New("pgbench tells no rate")
	}
	perSecond, err := strconv.ParseFloat(rate[1], 64)
	if err != nil {
		return sample{}, err
	}
	s := sample{Rate: perSecond}
	if failed := regexp.MustCompile(`failed transactions: (\d+)`).FindStringSubmatch(text); failed != nil {
		s.Failed, err = strconv.ParseInt(failed[1], 10, 64)
	}
	return s, err
}
