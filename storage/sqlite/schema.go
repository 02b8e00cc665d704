package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// schema has the steps from an empty file to the current version, one file each,
// in order of their names. A step that has been released is never changed.
//
//go:embed schema/*.sql
var schema embed.FS

// applicationID marks a file as ours: "feed" in ASCII.
const applicationID = 0x66656564

// migrate applies the steps that the file lacks, all in one transaction.
func migrate(ctx context.Context, conn *sql.Conn) error {
	steps, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
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

func applySteps(ctx context.Context, conn *sql.Conn, steps []string) error {
	version, err := schemaVersion(ctx, conn)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("the store has version %d and this program knows only %d: "+
			"run the newer program, or restore a backup from before it ran", version, len(steps))
	}
	if version == len(steps) {
		return nil
	}
	for _, name := range steps[version:] {
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

// schemaVersion returns how many steps the file has, 0 if it is empty.
func schemaVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var app, version, tables int
	err := conn.QueryRowContext(ctx, `
		SELECT (SELECT application_id FROM pragma_application_id),
		       (SELECT user_version FROM pragma_user_version),
		       (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &version, &tables)
	if err == nil && app != applicationID && tables > 0 {
		err = errors.New("this is the database of another program: move it away, or name another")
	}
	return version, err
}
