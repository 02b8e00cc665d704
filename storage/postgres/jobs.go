package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	putJob = `
		INSERT INTO jobs (id, kind, note, started, finished, state, cancel, total, done, changed, err, result)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (id) DO UPDATE SET
			kind = excluded.kind, note = excluded.note, started = excluded.started, finished = excluded.finished,
			state = excluded.state, cancel = excluded.cancel OR jobs.cancel, total = excluded.total, done = excluded.done,
			changed = excluded.changed, err = excluded.err, result = excluded.result`
	deleteOldJobs = `
		WITH old AS (DELETE FROM jobs WHERE id IN (SELECT id FROM jobs ORDER BY started DESC, id OFFSET $1) RETURNING id)
		DELETE FROM kept_labels WHERE job IN (SELECT id FROM old)`
	cancelJob = `UPDATE jobs SET cancel = true WHERE id = $1 RETURNING id`
)

// PutJob implements [storage.Jobs].
func (s *Store) PutJob(ctx context.Context, j storage.Job) error {
	if err := storage.CheckJob(j); err != nil {
		return err
	}
	return s.transaction(ctx, "put job", func(ctx context.Context, tx pgx.Tx) error {
		statements := &pgx.Batch{}
		statements.Queue(putJob, clean(j.ID, j.Kind, j.Note, j.Started, timeOrNull(j.Finished), j.State, j.Cancel,
			j.Total, j.Done, j.Changed, j.Err, j.Result)...)
		statements.Queue(deleteOldJobs, storage.MaxJobs)
		return tx.SendBatch(ctx, statements).Close()
	})
}

// CancelJob implements [storage.Jobs].
func (s *Store) CancelJob(ctx context.Context, id string) error {
	return s.do(ctx, "cancel job", func(ctx context.Context) error {
		_, err := one(ctx, s.pool, pgx.RowTo[string], cancelJob, id)
		return err
	})
}

const (
	jobColumns = `id, kind, note, started, finished, state, cancel, total, done, changed, err`
	jobByID    = `SELECT ` + jobColumns + `, result FROM jobs WHERE id = $1`
	newestJobs = `SELECT ` + jobColumns + ` FROM jobs ORDER BY started DESC, id LIMIT $1`
)

// Job implements [storage.Jobs].
func (s *Store) Job(ctx context.Context, id string) (j storage.Job, err error) {
	err = s.do(ctx, "read job", func(ctx context.Context) (err error) {
		j, err = one(ctx, s.pool, func(row pgx.CollectableRow) (j storage.Job, err error) {
			err = row.Scan(append(jobFields(&j), &j.Result)...)
			return j, err
		}, jobByID, id)
		return err
	})
	return j, err
}

// ListJobs implements [storage.Jobs].
func (s *Store) ListJobs(ctx context.Context, limit int) ([]storage.Job, error) {
	return read(ctx, s, "list jobs", func(row pgx.CollectableRow) (j storage.Job, err error) {
		err = row.Scan(jobFields(&j)...)
		return j, err
	}, newestJobs, max(limit, 0))
}

// jobFields returns the destinations of jobColumns.
func jobFields(j *storage.Job) []any {
	return []any{&j.ID, &j.Kind, &j.Note, nullTime{&j.Started}, nullTime{&j.Finished}, &j.State, &j.Cancel,
		&j.Total, &j.Done, &j.Changed, &j.Err}
}
