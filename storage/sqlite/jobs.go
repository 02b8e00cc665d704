package sqlite

import (
	"context"

	"feedmesh/storage"
)

const (
	putJob = `
		INSERT INTO jobs (id, kind, note, started, finished, state, cancel, total, done, changed, err, result)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, x''))
		ON CONFLICT (id) DO UPDATE SET
			kind = excluded.kind, note = excluded.note, started = excluded.started, finished = excluded.finished,
			state = excluded.state, cancel = excluded.cancel OR jobs.cancel, total = excluded.total, done = excluded.done,
			changed = excluded.changed, err = excluded.err, result = excluded.result`
	deleteOldJobs = `DELETE FROM jobs WHERE id IN (SELECT id FROM jobs ORDER BY started DESC, id LIMIT -1 OFFSET ?) RETURNING id`
	cancelJob     = `UPDATE jobs SET cancel = 1 WHERE id = ? RETURNING id`
)

// PutJob implements [storage.Jobs].
func (s *Store) PutJob(ctx context.Context, j storage.Job) error {
	if err := storage.CheckJob(j); err != nil {
		return err
	}
	return s.transaction(ctx, "put job", func(w *writer) error {
		_, err := w.putJob.ExecContext(ctx, j.ID, j.Kind, j.Note, micros(j.Started), microsOrNull(j.Finished), j.State, j.Cancel,
			j.Total, j.Done, j.Changed, j.Err, j.Result)
		if err != nil {
			return err
		}
		old, err := collect(ctx, w.deleteOldJobs, scanText, storage.MaxJobs)
		if err != nil {
			return err
		}
		for _, id := range old {
			if _, err := w.deleteSavedLabels.ExecContext(ctx, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// CancelJob implements [storage.Jobs].
func (s *Store) CancelJob(ctx context.Context, id string) error {
	return s.transaction(ctx, "cancel job", func(w *writer) error {
		_, err := scanText(w.cancelJob.QueryRowContext(ctx, id))
		return err
	})
}

const (
	jobColumns = `id, kind, note, started, finished, state, cancel, total, done, changed, err`
	jobByID    = `SELECT ` + jobColumns + `, result FROM jobs WHERE id = ?`
	newestJobs = `SELECT ` + jobColumns + ` FROM jobs ORDER BY started DESC, id LIMIT ?`
)

// Job implements [storage.Jobs].
func (s *Store) Job(ctx context.Context, id string) (j storage.Job, err error) {
	err = s.read.jobByID.QueryRowContext(ctx, id).Scan(append(jobFields(&j), &j.Result)...)
	return j, s.wrap(ctx, "read job", err)
}

// ListJobs implements [storage.Jobs].
func (s *Store) ListJobs(ctx context.Context, limit int) ([]storage.Job, error) {
	page, err := collect(ctx, s.read.jobs, func(row scanner) (j storage.Job, err error) {
		err = row.Scan(jobFields(&j)...)
		return j, err
	}, max(limit, 0))
	return page, s.wrap(ctx, "list jobs", err)
}

// jobFields returns the destinations of jobColumns.
func jobFields(j *storage.Job) []any {
	return []any{&j.ID, &j.Kind, &j.Note, nullTime{&j.Started}, nullTime{&j.Finished}, &j.State, &j.Cancel,
		&j.Total, &j.Done, &j.Changed, &j.Err}
}
