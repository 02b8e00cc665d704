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

// code returns the SQLSTATE of a server error, or "".
func code(err error) string {
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		return fault.Code
	}
	return ""
}

// conflicts reports whether the transaction failed because of concurrent ones and a retry may succeed:
// serialization_failure, deadlock_detected.
func conflicts(err error) bool { return code(err) == "40001" || code(err) == "40P01" }

// readOnly reports whether the server rejects writes, as a former primary does.
func readOnly(err error) bool { return code(err) == "25006" }

// unavailable reports whether the server currently fails every call.
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
		errors.Is(err, context.DeadlineExceeded) // the timeout of the call
}

func unavailableCode(code string) bool {
	switch code[:2] {
	case "08", // connection failed
		"53", // out of disk, memory or connections
		"57", // shutting down, starting, or timed out
		"58": // disk errors
		return true
	}
	switch code {
	case "25006", // read-only
		"25P03",          // idle timeout of the transaction
		"40001", "40P01", // conflicts after all retries
		"55P03": // lock timeout
		return true
	}
	return false
}

// minVersion is the oldest supported major version.
const minVersion = 14

// checkServer returns an error if the connected server is not supported.
func checkServer(conn interface{ ParameterStatus(string) string }) error {
	version := conn.ParameterStatus("server_version")
	major, _, _ := strings.Cut(version, ".")
	if number, err := strconv.Atoi(major); err == nil && number < minVersion {
		return fmt.Errorf("the server is PostgreSQL %s: install %d or newer", version, minVersion)
	}
	if encoding := conn.ParameterStatus("server_encoding"); encoding != "UTF8" {
		return fmt.Errorf("the database encoding is %s, which cannot store every language: "+
			"create a database with CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0", encoding)
	}
	return nil
}

// withRemedy adds a remedy to an error of Open.
func withRemedy(err error, config *pgx.ConnConfig) error {
	var remedy string
	switch code(err) {
	case "28P01", "28000":
		remedy = "the server rejects this user: check name and password, and the server's pg_hba.conf"
	case "3D000":
		remedy = fmt.Sprintf("the database does not exist: create it with CREATE DATABASE %q OWNER %q", config.Database, config.User)
	case "42501":
		remedy = fmt.Sprintf("the user may not create tables in it: ALTER DATABASE %q OWNER TO %q", config.Database, config.User)
	case "42P07":
		remedy = "it contains tables of another program: use a separate database for feedmesh"
	case "":
		var connecting *pgconn.ConnectError
		if errors.As(err, &connecting) {
			return fmt.Errorf("the server can't be reached: check that it runs, and the address: %w", err)
		}
		return err
	default:
		return err
	}
	// A retry cannot succeed, so this is not [storage.ErrUnavailable].
	var fault *pgconn.PgError
	errors.As(err, &fault)
	return fmt.Errorf("%s: %w", remedy, fault)
}
