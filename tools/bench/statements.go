package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// statement is one that the service sent, with what it bound to $1, $2, …; nil is NULL.
type statement struct {
	sql    string
	params []*string
}

// watched learns what the patient service sends for one request, from the database server's log: pgbench then runs the
// very same, whatever the service has become since this was written. Only invented people pass meanwhile.
func (b *Bench) watched(ctx context.Context, request func() error) ([]statement, error) {
	log, err := os.Open(b.mesh.Path("log", "postgres.log"))
	if err != nil {
		return nil, errors.New("the database server's log cannot be read: it is not the mesh's own server")
	}
	defer log.Close() //nolint:errcheck // it was only read
	access := b.mesh.Database("patient")
	conn, err := b.admin(ctx, access.MigrateURL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	worker, err := pgx.ParseConfig(access.URL)
	if err != nil {
		return nil, err
	}
	role := pgx.Identifier{worker.User}.Sanitize()
	settings := func(verb string, values ...string) error {
		for i, name := range []string{"log_statement", "log_error_verbosity"} {
			text := "ALTER ROLE " + role + " " + verb + " " + name
			if len(values) > 0 {
				text += " = " + values[i]
			}
			if _, err := conn.Exec(ctx, text); err != nil {
				return err
			}
		}
		// A session has the settings that its role had when it began.
		_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1`, worker.User)
		return err
	}
	if err := settings("SET", "'all'", "'default'"); err != nil {
		return nil, err
	}
	if _, err := log.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	asked := patiently(ctx, request)
	found, err := awaitBatch(ctx, log, b.principal().TenantID)
	return found, errors.Join(asked, err, settings("RESET"))
}

// patiently asks again where the service has yet to notice that its sessions ended.
func patiently(ctx context.Context, request func() error) error {
	var err error
	for range 40 {
		if err = request(); err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

// awaitBatch reads the log until it shows a whole batch of the tenant: its end is known by a moment of silence.
func awaitBatch(ctx context.Context, log io.Reader, tenant string) ([]statement, error) {
	var text strings.Builder
	for range 40 {
		before := text.Len()
		if _, err := io.Copy(&text, log); err != nil {
			return nil, err
		}
		if found := own(batchIn(text.String(), tenant)); len(found) > 1 && text.Len() == before {
			return found, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, errors.New("the statements do not show in the database server's log")
}

// batchIn finds the last batch of a tenant in a log: the statements of one session, from the one that names the tenant.
func batchIn(log, tenant string) []statement {
	sessions := map[string][]statement{}
	var last string
	for _, e := range entries(log) {
		_, sql, executes := strings.Cut(e.text, ": ")
		kind, _, _ := strings.Cut(e.text, " ")
		switch {
		case e.level == "LOG" && kind == "execute" && executes:
			sessions[e.pid] = append(sessions[e.pid], statement{sql: sql})
		case e.level == "DETAIL" && len(sessions[e.pid]) > 0:
			list := sessions[e.pid]
			s := &list[len(list)-1]
			s.params = paramsIn(e.text)
			if strings.Contains(s.sql, "set_config") && len(s.params) == 1 && s.params[0] != nil && *s.params[0] == tenant {
				sessions[e.pid] = slices.Clone(list[len(list)-1:])
				last = e.pid
			}
		}
	}
	return sessions[last]
}

// own cuts a batch off where the session goes on with what belongs to nobody's request: the relay of audit entries, and
// the commit of them that reads share.
func own(batch []statement) []statement {
	if len(batch) == 0 {
		return batch
	}
	reads := len(batch) > 1 && strings.HasPrefix(strings.TrimSpace(batch[1].sql), "SELECT")
	end := slices.IndexFunc(batch, func(s statement) bool {
		return strings.Contains(s.sql, "audit_") && (reads || !strings.Contains(s.sql, "INSERT INTO audit_entry"))
	})
	if end < 0 {
		return batch
	}
	return batch[:end]
}

// entry is one of a log; its text goes over as many lines as it needs.
type entry struct{ pid, level, text string }

func entries(log string) []entry {
	head := regexp.MustCompile(`^\S+ \S+ \S+ \[(\d+)\] (LOG|DETAIL|ERROR|FATAL|STATEMENT|HINT|CONTEXT):  (.*)$`)
	var list []entry
	for line := range strings.SplitSeq(log, "\n") {
		if m := head.FindStringSubmatch(line); m != nil {
			list = append(list, entry{pid: m[1], level: m[2], text: m[3]})
		} else if more, ok := strings.CutPrefix(line, "\t"); ok && len(list) > 0 {
			list[len(list)-1].text += "\n" + more
		}
	}
	return list
}

// paramsIn reads "parameters: $1 = 'a', $2 = NULL", where quotes inside are doubled.
func paramsIn(detail string) []*string {
	one := regexp.MustCompile(`\$\d+ = (NULL|'((?:[^']|'')*)')`)
	var params []*string
	for _, m := range one.FindAllStringSubmatch(detail, -1) {
		if m[1] == "NULL" {
			params = append(params, nil)
			continue
		}
		value := strings.ReplaceAll(m[2], "''", "'")
		params = append(params, &value)
	}
	return params
}

// script writes statements for pgbench, as one pipeline and so one implicit transaction, and the variables that it
// needs. Each is bound as a parameter, as the service does it.
func script(statements []statement) (text string, variables []string) {
	lines := []string{`\startpipeline`}
	for i, s := range statements {
		line, more := scriptLine(s, i)
		lines = append(lines, line)
		variables = append(variables, more...)
	}
	return strings.Join(append(lines, `\endpipeline`), "\n") + "\n", variables
}

func scriptLine(s statement, number int) (line string, variables []string) {
	placeholder := regexp.MustCompile(`\$(\d+)`)
	line = placeholder.ReplaceAllStringFunc(s.sql, func(found string) string {
		var n int
		if _, err := fmt.Sscanf(found, "$%d", &n); err != nil || n < 1 || n > len(s.params) {
			return found
		}
		switch value := s.params[n-1]; {
		case value == nil:
			return "NULL"
		case *value == "": // no variable of pgbench's can be empty
			return "''"
		}
		return fmt.Sprintf(":s%dp%d", number, n)
	})
	for n, value := range s.params {
		if value != nil && *value != "" {
			variables = append(variables, fmt.Sprintf("s%dp%d=%s", number, n+1, *value))
		}
	}
	return strings.Join(strings.Fields(line), " ") + ";", variables
}
