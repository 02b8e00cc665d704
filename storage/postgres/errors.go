package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// code returns the SQLSTATE that the server gave, or "".
func code(err error) string {
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		return fault.Code
	}
	return ""
}

// conflicts reports whether concurrent transactions got in the way of this one:
// serialization_failure, deadlock_detected.
func conflicts(err error) bool { return code(err) == "40001" || code(err) == "40P01" }

// readOnly reports whether the server can't write, as one that has been replaced.
func readOnly(err error) bool { return code(err) == "25006" }

// unavailable reports whether the server can do nothing now, whatever it is asked.
func unavailable(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &connecting):
		return true
	case code(err) != "":
		return unavailableCode(code(err))
	}
	return errors.As(err, &network) || pgconn.SafeToRetry(err) || errors.Is(err, pgconn.ErrConnClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, context.DeadlineExceeded) // of our patience
}

func unavailableCode(code string) bool {
	switch code[:2] {
	case "08", // connection lost
		"53", // out of disk, memory or connections
		"57", // shutting down, starting, too slow
		"58": // errors of its disk
		return true
	}
	switch code {
	case "25006", // read-only
		"25P03",          // the transaction was idle for too long
		"40001", "40P01", // others get in the way, again and again
		"55P03": // others hold a lock for too long
		return true
	}
	return false
}

// oldest is the oldest version that we work with.
const oldest = 14

// checkServer returns why the server that conn is to can't be used, if so.
func checkServer(conn interface{ ParameterStatus(string) string }) error {
	version := conn.ParameterStatus("server_version")
	major, _, _ := strings.Cut(version, ".")
	if number, err := strconv.Atoi(major); err == nil && number < oldest {
		return fmt.Errorf("the server is PostgreSQL %s: install %d or newer", version, oldest)
	}
	if encoding := conn.ParameterStatus("server_encoding"); encoding != "UTF8" {
		return fmt.Errorf("the database keeps text as %s, which can't hold every language: "+
			"make one with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	return nil
}

// explain tells the user what to do about an error at open.
func explain(err error, config *pgx.ConnConfig) error {
	var say string
	switch code(err) {
	case "28P01", "28000":
		say = "the server does not let this user in: check name and password, and the server's pg_hba.conf"
	case "3D000":
		say = fmt.Sprintf("there is no such database: make it with CREATE DATABASE %q OWNER %q", config.Database, config.User)
	case "42501":
		say = fmt.Sprintf("the user may not make tables in it: ALTER DATABASE %q OWNER TO %q", config.Database, config.User)
	case "42P07":
		say = "it has tables of another program: give feedmesh a database of its own"
	case "":
		var connecting *pgconn.ConnectError
		if errors.As(err, &connecting) {
			return fmt.Errorf("the server can't be reached: check that it runs, and the address: %w", err)
		}
		return err
	default:
		return err
	}
	// Waiting does not help, so that it is not [storage.ErrUnavailable].
	var fault *pgconn.PgError
	errors.As(err, &fault)
	return fmt.Errorf("%s: %w", say, fault)
}
