package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"
)

// schema contains the migrations from an empty database to the current version, one file each, in order of
// their names. A released migration never changes.
//
// Agents of an older version keep running after a migration. So a migration only adds parts that they can
// ignore: tables, indexes, and columns that are nullable or have a default. Unused parts are dropped one
// version later, in a migration that also raises store.needs, so that programs that still need them are
// rejected.
//
//go:embed schema/*.sql
var schema embed.FS

// migrate applies the missing migrations. A lock serializes concurrent agents, and each migration is one
// transaction, so that a crash leaves no partial migration.
func migrate(ctx context.Context, conn *pgx.Conn, files fs.FS) error {
	steps, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return err
	}
	for {
		applied, err := appliedMigrations(ctx, conn, len(steps))
		if err != nil || applied >= len(steps) {
			return err
		}
		if err := applyNextMigration(ctx, conn, files, steps); err != nil {
			return err
		}
	}
}

// appliedMigrations returns the number of applied migrations, which may exceed those of this program.
func appliedMigrations(ctx context.Context, conn interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, supported int) (applied int, err error) {
	// to_regclass would return a cached result from before the wait for the lock.
	const tableExists = `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'feedmesh_steps')`
	var exists bool
	if err := conn.QueryRow(ctx, tableExists).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	var needs int
	err = conn.QueryRow(ctx, `SELECT (SELECT max(number) FROM feedmesh_steps), needs FROM store`).Scan(&applied, &needs)
	if err == nil && needs > supported {
		err = fmt.Errorf("the store has schema version %d and this program supports only %d: "+
			"run the newer program, or restore a backup from before it ran", needs, supported)
	}
	return applied, err
}

// migrationLock is the number of the advisory lock for migrations: "feed" in ASCII.
const migrationLock = 0x66656564

// applyNextMigration takes the migration lock and applies the first migration that is still missing.
func applyNextMigration(ctx context.Context, conn *pgx.Conn, files fs.FS, steps []string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// A migration may take long, and the wait for it too. But waiting for a table lock would block all
		// later statements on that table, so that wait is short.
		_, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
			SELECT pg_advisory_xact_lock(%d); SET LOCAL lock_timeout = '5s'`, migrationLock))
		if err != nil {
			return err
		}
		applied, err := appliedMigrations(ctx, tx, len(steps))
		if err != nil || applied >= len(steps) {
			return err
		}
		name := steps[applied]
		step, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(step)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		_, err = tx.Exec(ctx, `INSERT INTO feedmesh_steps (number, name) VALUES ($1, $2)`, applied+1, path.Base(name))
		return err
	})
}
