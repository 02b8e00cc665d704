package api

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

// importLease is what an agent holds that takes in lists.
const importLease = "imports"

// importPause is how soon a list is taken in that another agent was given.
const importPause = 2 * time.Second

// RunImports takes in the lists that wait, one after the other, while this
// agent is the one in the mesh that does, until ctx ends. A list goes on where
// the agent before left it; a chunk done twice does nothing twice.
func (s *Server) RunImports(ctx context.Context) error {
	return s.Mesh.Single(ctx, importLease, func(ctx context.Context) error {
		for ctx.Err() == nil {
			if err := s.runImports(ctx); err != nil && ctx.Err() == nil {
				s.Log.Error("can't take in a list of feeds; trying again", "err", err)
			}
			select {
			case <-ctx.Done():
			case <-s.begun:
			case <-time.After(importPause):
			}
		}
		return nil
	})
}

// runImports takes in all lists that wait, those that came first first. A list
// that fails does not keep the others waiting.
func (s *Server) runImports(ctx context.Context) error {
	imports, err := s.Store.ListImports(ctx, storage.MaxImports)
	if err != nil {
		return err
	}
	var faults []error
	for i := len(imports) - 1; i >= 0 && ctx.Err() == nil; i-- {
		if !imports[i].Finished.IsZero() {
			continue
		}
		if err := s.runImport(ctx, imports[i].ID); err != nil {
			faults = append(faults, fmt.Errorf("import %s: %w", imports[i].ID, err))
		}
	}
	return errors.Join(faults...)
}

// runImport takes in the rest of a list.
func (s *Server) runImport(ctx context.Context, id string) error {
	imp, err := s.Store.Import(ctx, id)
	if err != nil {
		return err
	}
	list, err := listOf(imp)
	if err != nil {
		return err
	}
	t := taker{to: s.Store, out: s.Mesh, at: imp.Started, seen: map[string]bool{}, again: true}
	err = list.chunks(intakeSize, func(from int, feeds []opml.Feed) error {
		if from < imp.Done {
			for _, f := range feeds {
				intake, _ := read(f)
				t.seen[intake.FeedID] = true
			}
			return nil
		}
		if ended, err := s.isCancelled(ctx, id); ended || err != nil {
			imp.Cancel = ended
			return cmp.Or(err, errCancelled)
		}
		taken, err := t.take(ctx, feeds)
		if err != nil {
			return err
		}
		for i, intake := range taken {
			list.verdicts[from+i] = letters[intake.Outcome]
		}
		imp.Done, imp.Added, imp.Known, imp.Invalid = list.counts()
		imp.Lines = list.lines()
		return s.Store.PutImport(ctx, imp)
	})
	if err != nil && !errors.Is(err, errCancelled) {
		return err
	}
	imp.Finished = s.Now()
	return s.Store.PutImport(ctx, imp)
}

// errCancelled says that a person wants an import to end.
var errCancelled = errors.New("cancelled")

// isCancelled reports whether a person wants an import to end. It does not read
// its list.
func (s *Server) isCancelled(ctx context.Context, id string) (bool, error) {
	imports, err := s.Store.ListImports(ctx, storage.MaxImports)
	at := slices.IndexFunc(imports, func(imp storage.Import) bool { return imp.ID == id })
	return at >= 0 && imports[at].Cancel, err
}
