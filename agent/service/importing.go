package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"feedmesh/agent/opml"
	"feedmesh/storage"
)

// importLease is the lease of the agent that runs imports.
const importLease = "imports"

// importInterval is the interval of the check for imports that another agent accepted.
const importInterval = 2 * time.Second

// Run runs the waiting imports, one after the other, while this agent holds the lease, until ctx ends.
// An import resumes where the agent before stopped; repeating a batch is harmless.
func (s *Imports) Run(ctx context.Context) error {
	return s.Mesh.Single(ctx, importLease, func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := s.RunAll(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("import failed, will retry", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-s.ready:
			case <-time.After(importInterval):
			}
		}
		return nil
	})
}

// RunAll runs all waiting imports, oldest first. A failed import does not delay the others.
func (s *Imports) RunAll(ctx context.Context) error {
	imports, err := storage.Imports(s.Store).List(ctx, storage.MaxImports)
	if err != nil {
		return err
	}
	var errs []error
	for i := len(imports) - 1; i >= 0 && ctx.Err() == nil; i-- {
		if !imports[i].Finished.IsZero() {
			continue
		}
		if err := s.runOne(ctx, imports[i].ID); err != nil {
			errs = append(errs, fmt.Errorf("import %s: %w", imports[i].ID, err))
		}
	}
	return errors.Join(errs...)
}

// runOne adds the remaining feeds of an import.
func (s *Imports) runOne(ctx context.Context, id string) error {
	imp, err := storage.Imports(s.Store).Read(ctx, id)
	if err != nil {
		return err
	}
	list, err := listOf(imp)
	if err != nil {
		return err
	}
	t := importer{store: s.Store, out: s.Mesh, added: imp.Started, seen: map[string]bool{}, resumed: true}
	err = list.chunks(importBatchSize, func(from int, feeds []opml.Feed) error {
		if from < imp.Done {
			for _, f := range feeds {
				result, _ := read(f)
				t.seen[result.FeedID] = true
			}
			return nil
		}
		if ended, err := s.isCancelled(ctx, id); ended || err != nil {
			imp.Cancel = ended
			return cmp.Or(err, errCancelled)
		}
		batch, err := t.importBatch(ctx, feeds)
		if err != nil {
			return err
		}
		for i, result := range batch {
			list.verdicts[from+i] = outcomeLetters[result.Outcome]
		}
		imp.Done, imp.Added, imp.Existing, imp.Invalid = list.counts()
		imp.Lines = list.lines()
		return storage.Imports(s.Store).Put(ctx, imp)
	})
	if err != nil && !errors.Is(err, errCancelled) {
		return err
	}
	imp.Finished = s.Now()
	return storage.Imports(s.Store).Put(ctx, imp)
}

// errCancelled ends a cancelled import.
var errCancelled = errors.New("cancelled")

// isCancelled reports whether an import is cancelled, without reading its list.
func (s *Imports) isCancelled(ctx context.Context, id string) (bool, error) {
	imports, err := storage.Imports(s.Store).List(ctx, storage.MaxImports)
	at := slices.IndexFunc(imports, func(imp storage.Import) bool { return imp.ID == id })
	return at >= 0 && imports[at].Cancel, err
}
