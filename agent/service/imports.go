package service

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/opml"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Bounds of imports.
const (
	maxImport  = opml.MaxSize // bytes of a list
	maxListed  = 200_000      // feeds of a list
	maxWaiting = 20           // waiting imports
)

// The states of an import.
const (
	importRunning = "running"
	importDone    = "done"
	importEnded   = "cancelled"
)

func importOf(imp storage.Import) wire.Import {
	state := importRunning
	switch {
	case !imp.Finished.IsZero() && imp.Cancel && imp.Done < imp.Total:
		state = importEnded
	case !imp.Finished.IsZero():
		state = importDone
	}
	return wire.Import{
		ID: imp.ID, Name: imp.Name, State: state, Cancel: imp.Cancel, Started: imp.Started, Finished: imp.Finished,
		Total: imp.Total, Done: imp.Done, Added: imp.Added, Existing: imp.Existing, Invalid: imp.Invalid,
	}
}

func (s *Server) importRoutes(api huma.API) {
	begin := op("POST", "/api/feeds/import", "import-feeds", "Import a list of feeds: OPML, or an address a line", 400, 413, 422, 429, 503)
	begin.DefaultStatus = http.StatusAccepted
	begin.Description = "Stores the list and returns its import immediately; poll the import until its state is done. Sending the same list again during the import starts nothing; later it starts a new import that adds the missing feeds."
	huma.Register(api, begin, s.importFeeds)
	huma.Register(api, op("GET", "/api/imports", "list-imports", "The last hundred imports, newest first", 503), s.listImports)
	huma.Register(api, op("GET", "/api/imports/{id}", "get-import", "Progress or result of an import", 404, 503), s.getImport)
	cancel := op("POST", "/api/imports/{id}/cancel", "cancel-import", "Cancel an import within seconds; feeds added before stay", 404, 503)
	cancel.DefaultStatus = http.StatusAccepted
	huma.Register(api, cancel, func(ctx context.Context, in *byID) (*body[wire.Import], error) {
		imp, err := s.CancelImport(ctx, in.ID)
		if err != nil {
			return nil, s.problem(err)
		}
		return &body[wire.Import]{Body: imp}, nil
	})
	s.importLineRoutes(api)
}

func (s *Server) importFeeds(ctx context.Context, in *struct {
	Name    string `query:"name" maxLength:"255" doc:"Name of the list, such as its file name."`
	RawBody []byte `contentType:"application/xml"`
}) (*body[wire.Import], error) {
	imp, err := s.StartImport(ctx, in.Name, in.RawBody)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Import]{Body: imp}, nil
}

// An InvalidListError states why a list of feeds is rejected.
type InvalidListError struct{ Reason string }

func (w *InvalidListError) Error() string { return w.Reason }

// MaxImport is the maximum size of a list, in bytes.
const MaxImport = maxImport

// StartImport stores a list of feeds for RunImports. It returns an [*InvalidListError] if it can't be read or
// is too large, and [ErrTooManyRequests] if too many imports wait. A list that is being imported is not
// started again.
func (s *Server) StartImport(ctx context.Context, name string, text []byte) (wire.Import, error) {
	sum := sha256.Sum256(text)
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
	if waiting >= maxWaiting {
		return wire.Import{}, fmt.Errorf("%d imports are waiting already; retry when some are done: %w", waiting, ErrTooManyRequests)
	}
	feeds, err := opml.Read(bytes.NewReader(text))
	if err != nil {
		return wire.Import{}, &InvalidListError{err.Error()}
	}
	if len(feeds) > maxListed {
		return wire.Import{}, &InvalidListError{fmt.Sprintf("the list has %d feeds, more than %d: split it", len(feeds), maxListed)}
	}
	list, err := packList(feeds)
	if err != nil {
		return wire.Import{}, err
	}
	imp := storage.Import{ID: id, Name: name, Started: s.Now(), Total: len(feeds), Lines: list.lines()}
	if err := storage.Imports(s.Store).Put(ctx, imp); err != nil {
		return wire.Import{}, err
	}
	select {
	case s.importReady <- struct{}{}:
	default: // already notified
	}
	return importOf(imp), nil
}

func (s *Server) listImports(ctx context.Context, _ *struct{}) (*body[wire.Imports], error) {
	all, err := s.Imports(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Imports]{Body: all}, nil
}

// Imports returns the last hundred imports, newest first.
func (s *Server) Imports(ctx context.Context) (wire.Imports, error) {
	stored, err := storage.Imports(s.Store).List(ctx, storage.MaxImports)
	all := wire.Imports{Imports: make([]wire.Import, len(stored))}
	for i, imp := range stored {
		all.Imports[i] = importOf(imp)
	}
	return all, err
}

func (s *Server) getImport(ctx context.Context, in *byID) (*body[wire.Import], error) {
	imp, err := s.Import(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[wire.Import]{Body: imp}, nil
}

// Import returns the progress or result of an import, or [storage.ErrNotFound].
func (s *Server) Import(ctx context.Context, id string) (wire.Import, error) {
	imp, err := storage.Imports(s.Store).Read(ctx, id)
	if err != nil {
		return wire.Import{}, fmt.Errorf("import %s: %w", id, err)
	}
	return importOf(imp), nil
}

// CancelImport cancels an import. An ended import stays unchanged.
func (s *Server) CancelImport(ctx context.Context, id string) (wire.Import, error) {
	imp, err := storage.Imports(s.Store).Read(ctx, id)
	if err == nil && imp.Finished.IsZero() {
		imp.Cancel = true
		err = storage.Imports(s.Store).Cancel(ctx, id)
	}
	if err != nil {
		return wire.Import{}, fmt.Errorf("import %s: %w", id, err)
	}
	return importOf(imp), nil
}
