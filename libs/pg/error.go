package pg

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Error is what PostgreSQL refused, without the text in which it repeats the values it was given.
type Error struct {
	Code       string // SQLSTATE
	Table      string
	Constraint string
}

func (e *Error) Error() string {
	return strings.TrimSpace("postgres " + e.Code + " " + e.Table + " " + e.Constraint)
}

// SQLSTATEs that stores decide on.
const (
	UniqueViolation = "23505"
	DivisionByZero  = "22012"
)

// Violates reports whether err is the violation of the constraint named. That of a part of a table that is spread over
// nodes has the number of the part behind its name.
func Violates(err error, constraint string) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	part, ofPart := strings.CutPrefix(e.Constraint, constraint+"_")
	return e.Constraint == constraint || ofPart && strings.Trim(part, "0123456789") == ""
}

// constraintOf is the name of the constraint that was violated. Citus hands on what a node said, and leaves the field away.
func constraintOf(refused *pgconn.PgError) string {
	const before, after = `unique constraint "`, `"`
	if refused.ConstraintName != "" || refused.Code != UniqueViolation {
		return refused.ConstraintName
	}
	_, name, _ := strings.Cut(refused.Message, before)
	name, _, _ = strings.Cut(name, after)
	return name
}

// HasCode reports whether PostgreSQL refused with the SQLSTATE.
func HasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

const away = "The database cannot be reached just now; try again shortly."

// decided turns a driver's error into one that others can act on and that repeats no value.
func decided(err error) error {
	if err == nil {
		return nil
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		own := &Error{Code: refused.Code, Table: refused.TableName, Constraint: constraintOf(refused)}
		if passing(refused.Code) {
			return fault.Away(own, away)
		}
		return own
	}
	var network net.Error
	var connect *pgconn.ConnectError
	var scan pgx.ScanArgError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return fault.Away(errors.New("the deadline passed"), "The request took too long; try again shortly.")
	case errors.As(err, &connect):
		return fault.Away(errors.New("connect"), away)
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		pgconn.Timeout(err), pgconn.SafeToRetry(err), strings.Contains(err.Error(), "conn closed"), strings.Contains(err.Error(), "closed pool"):
		return fault.Away(errors.New("connection lost"), away)
	case strings.Contains(err.Error(), "failed to encode args"): // a defect of ours: the driver shows it with the value
		return errors.New("an argument does not fit its place in the statement")
	case errors.As(err, &scan):
		return fmt.Errorf("column %q does not fit its field", scan.FieldName)
	}
	return err
}

// passing reports an error that goes away by itself: connections (08), resources (53), an operator's intervention
// (57: shutdown, recovery, cancelled), serialization and deadlock (40), a failover's read-only server (25006).
func passing(code string) bool {
	switch code[:2] {
	case "08", "53", "57", "40":
		return true
	}
	return code == "25006"
}
