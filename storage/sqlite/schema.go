package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// schema has the steps from an empty file to the current version, one file each,
// in order of their names. A step that has been released is never changed.
//
//go:embed schema/*.sql
var schema embed.FS

// applicationID marks a file as ours: "feed" in ASCII.
const applicationID = 0x66656564

// setUp makes the file a store of the current version. A file that is none of
// ours, or newer, is left as it is.
func setUp(ctx context.Context, conn *sql.Conn) error {
	steps, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return err
	}
	if _, err := missingSteps(ctx, conn, steps); err != nil {
		return err
	}
	if err := useLog(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := applySteps(ctx, conn, steps); err != nil {
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return errors.Join(err, undo)
	}
	_, err = conn.ExecContext(ctx, `COMMIT`)
	return err
}

// useLog has the file use a write-ahead log, as it does from then on.
func useLog(ctx context.Context, conn *sql.Conn) error {
	var mode string
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := conn.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		if err == nil {
			break
		}
		// busy_timeout does not cover two processes that do this at once.
		if !errors.Is(err, sqlite3.BUSY) || ctx.Err() != nil || time.Since(start) > 10*time.Second {
			return err
		}
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot share memory, which a write-ahead log needs "+
			"(the journal mode is %s): use a local disk", mode)
	}
	return nil
}

// applySteps applies the steps that the file lacks, in the caller's transaction.
func applySteps(ctx context.Context, conn *sql.Conn, steps []string) error {
	missing, err := missingSteps(ctx, conn, steps)
	if err != nil || len(missing) == 0 {
		return err
	}
	for _, name := range missing {
		step, err := schema.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, string(step)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	// A PRAGMA takes no parameters.
	_, err = conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`,
		applicationID, len(steps)))
	return err
}

// missingSteps returns the steps that the file lacks, all of them if it is empty.
func missingSteps(ctx context.Context, conn *sql.Conn, steps []string) ([]string, error) {
	var app, version, tables int
	err := conn.QueryRowContext(ctx, `
		SELECT (SELECT application_id FROM pragma_application_id),
		       (SELECT user_version FROM pragma_user_version),
		       (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &version, &tables)
	switch {
	case err != nil:
		return nil, err
	case app != applicationID && tables > 0, version < 0:
		return nil, errors.New("this is the database of another program: move it away, or name another")
	case version > len(steps):
		return nil, fmt.Errorf("the store has version %d and this program knows only %d: "+
			"run the newer program, or restore a backup from before it ran", version, len(steps))
	}
	return steps[version:], nil
}
