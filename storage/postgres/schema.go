package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"path"

	"github.com/jackc/pgx/v5"
)

// schema has the steps from an empty database to the current version, one file
// each, in order of their names. A step that has been released is never changed.
//
// Agents of an older version work on beside those that have applied a step. So
// a step only adds what they can do without: tables, indexes, columns that may be
// NULL or have a default. What nobody uses any more goes one version later, in a
// step that also raises store.needs, so that programs which would miss it are
// refused.
//
//go:embed schema/*.sql
var schema embed.FS

// setUp applies the steps that the database lacks. Agents that do so at the same
// time take turns, and one that dies leaves nothing of its step.
func setUp(ctx context.Context, conn *pgx.Conn, files fs.FS) error {
	steps, err := fs.Glob(files, "schema/*.sql")
	if err != nil {
		return err
	}
	for {
		applied, err := appliedSteps(ctx, conn, len(steps))
		if err != nil || applied >= len(steps) {
			return err
		}
		if err := applyNext(ctx, conn, files, steps); err != nil {
			return err
		}
	}
}

// appliedSteps returns how many steps the database has, perhaps more than the
// program knows.
func appliedSteps(ctx context.Context, conn interface {
	QueryRow(context.Context, string, ...any) pgx.Row
}, known int) (applied int, err error) {
	// Not to_regclass, which remembers from before the wait for our turn.
	const isThere = `SELECT EXISTS (SELECT FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'feedmesh_steps')`
	var there bool
	if err := conn.QueryRow(ctx, isThere).Scan(&there); err != nil || !there {
		return 0, err
	}
	var needs int
	err = conn.QueryRow(ctx, `SELECT (SELECT max(number) FROM feedmesh_steps), needs FROM store`).Scan(&applied, &needs)
	if err == nil && needs > known {
		err = fmt.Errorf("the store has version %d and this program knows only %d: "+
			"run the newer program, or restore a backup from before it ran", needs, known)
	}
	return applied, err
}

// turn is the number of the lock that those who change the schema take: "feed"
// in ASCII.
const turn = 0x66656564

// applyNext applies the first step that the database lacks, if there still is
// one when it is our turn.
func applyNext(ctx context.Context, conn *pgx.Conn, files fs.FS, steps []string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		// A step may take long, and those who wait for it as long; but to wait
		// for a table's lock would hold up all who come after us.
		_, err := tx.Exec(ctx, fmt.Sprintf(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0;
			SELECT pg_advisory_xact_lock(%d); SET LOCAL lock_timeout = '5s'`, turn))
		if err != nil {
			return err
		}
		applied, err := appliedSteps(ctx, tx, len(steps))
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
