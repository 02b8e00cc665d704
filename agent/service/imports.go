package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"feedmesh/agent/opml"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// MaxImport is the maximum size of a list, in bytes. It also bounds the body of requests without a bound of
// their own.
const MaxImport = opml.MaxSize

// Bounds of imports.
const (
	MaxListed  = 200_000 // feeds of a list
	MaxWaiting = 20      // waiting imports
)

// Imports imports lists of feeds in the background.
type Imports struct {
	*core
	ready chan struct{} // notifies Run of a new import
}

func importOf(imp storage.Import) wire.Import {
	state := wire.ImportRunning
	switch {
	case !imp.Finished.IsZero() && imp.Cancel && imp.Done < imp.Total:
		state = wire.ImportEnded
	case !imp.Finished.IsZero():
		state = wire.ImportDone
	}
	return wire.Import{
		ID: imp.ID, Name: imp.Name, State: state, Cancel: imp.Cancel, Started: imp.Started, Finished: imp.Finished,
		Total: imp.Total, Done: imp.Done, Added: imp.Added, Existing: imp.Existing, Invalid: imp.Invalid,
	}
}

// Start stores a list of feeds for [Imports.Run]. It returns an error of [KindInvalid] if the list can't be
// read or is too large, and of [KindBusy] if too many imports wait. A list that is being imported is not
// started again.
func (s *Imports) Start(ctx context.Context, in wire.ImportFeedsRequest) (wire.Import, error) {
	sum := sha256.Sum256(in.RawBody)
	id := hex.EncodeToString(sum[:8])
	imports, err := storage.Imports(s.Store).List(ctx, storage.MaxImports)
	if err != nil {
		return wire.Import{}, err
	}
	waiting := 0
	for _, imp := range imports {
		if !imp.Finished.IsZero() {
			continue
		}
		if waiting++; imp.ID == id {
			return importOf(imp), nil
		}
	}
	if waiting >= MaxWaiting {
		return wire.Import{}, errorf(KindBusy, "%d imports are waiting already; retry when some are done: too many requests at once", waiting)
	}
	feeds, err := opml.Read(bytes.NewReader(in.RawBody))
	if err != nil {
		return wire.Import{}, errorf(KindInvalid, "%v", err)
	}
	if len(feeds) > MaxListed {
		return wire.Import{}, errorf(KindInvalid, "the list has %d feeds, more than %d: split it", len(feeds), MaxListed)
	}
	list, err := packList(feeds)
	if err != nil {
		return wire.Import{}, err
	}
	imp := storage.Import{ID: id, Name: in.Name, Started: s.Now(), Total: len(feeds), Lines: list.lines()}
	if err := storage.Imports(s.Store).Put(ctx, imp); err != nil {
		return wire.Import{}, err
	}
	notify(s.ready)
	return importOf(imp), nil
}

// List returns the last hundred imports, newest first.
func (s *Imports) List(ctx context.Context, _ wire.None) (wire.Imports, error) {
	stored, err := storage.Imports(s.Store).List(ctx, storage.MaxImports)
	return wire.Imports{Imports: convert(stored, importOf)}, err
}

// Get returns the progress or result of an import, or [storage.ErrNotFound].
func (s *Imports) Get(ctx context.Context, in wire.ByID) (wire.Import, error) {
	imp, err := storage.Imports(s.Store).Read(ctx, in.ID)
	if err != nil {
		return wire.Import{}, fmt.Errorf("import %s: %w", in.ID, err)
	}
	return importOf(imp), nil
}

// Cancel cancels an import, or returns [storage.ErrNotFound]. An ended import stays unchanged.
func (s *Imports) Cancel(ctx context.Context, in wire.ByID) (wire.Import, error) {
	imp, err := storage.Imports(s.Store).Read(ctx, in.ID)
	if err == nil && imp.Finished.IsZero() {
		imp.Cancel = true
		err = storage.Imports(s.Store).Cancel(ctx, in.ID)
	}
	if err != nil {
		return wire.Import{}, fmt.Errorf("import %s: %w", in.ID, err)
	}
	return importOf(imp), nil
}
