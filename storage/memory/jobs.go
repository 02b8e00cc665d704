package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"feedmesh/storage"
)

// PutJob implements [storage.Jobs].
func (s *Store) PutJob(ctx context.Context, job storage.Job) error {
	if err := storage.CheckJob(job); err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	job = copyJob(job)
	job.Cancel = job.Cancel || s.jobs[job.ID].Cancel
	s.jobs[job.ID] = job
	all := s.newestJobs()
	for _, old := range all[min(len(all), storage.MaxJobs):] {
		delete(s.jobs, old.ID)
		delete(s.savedLabels, old.ID)
	}
	return nil
}

func (s *Store) newestJobs() []storage.Job {
	return slices.SortedFunc(maps.Values(s.jobs), func(a, b storage.Job) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(a.ID, b.ID))
	})
}

// CancelJob implements [storage.Jobs].
func (s *Store) CancelJob(ctx context.Context, id string) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	job, ok := s.jobs[id]
	if !ok {
		return storage.ErrNotFound
	}
	job.Cancel = true
	s.jobs[id] = job
	return nil
}

// Job implements [storage.Jobs].
func (s *Store) Job(ctx context.Context, id string) (storage.Job, error) {
	if err := s.lock(ctx); err != nil {
		return storage.Job{}, err
	}
	defer s.mu.Unlock()
	job, ok := s.jobs[id]
	if !ok {
		return storage.Job{}, storage.ErrNotFound
	}
	return copyJob(job), nil
}

// ListJobs implements [storage.Jobs].
func (s *Store) ListJobs(ctx context.Context, limit int) ([]storage.Job, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	page := first(s.newestJobs(), limit)
	for i := range page {
		page[i].Result = nil
	}
	return page, nil
}
