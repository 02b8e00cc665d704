package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/agent/opml"
	"feedmesh/storage"
)

// Bounds of imports.
const (
	maxImport  = opml.MaxSize // bytes of a list
	maxListed  = 200_000      // feeds of a list
	maxWaiting = 20           // lists that wait to be taken in
)

// The states of an import.
const (
	importRunning = "running"
	importDone    = "done"
	importEnded   = "cancelled"
)

// An Import is a list of feeds that is being taken in, or was. It is worked on
// by one process of the mesh at a time, and goes on where it was if that ends.
type Import struct {
	ID       string    `json:"id" doc:"Of the list: the same for the same bytes."`
	Name     string    `json:"name,omitempty" doc:"What the client called the list."`
	State    string    `json:"state" enum:"running,done,cancelled"`
	Cancel   bool      `json:"cancel,omitempty" doc:"Whether a person wanted it to end."`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished,omitzero"`
	Total    int       `json:"total" doc:"Feeds listed."`
	Done     int       `json:"done" doc:"Of these, how many were looked at so far."`
	Added    int       `json:"added"`
	Known    int       `json:"known" doc:"Those that were in the store, or came twice."`
	Invalid  int       `json:"invalid" doc:"Those whose address is none; see its lines."`
}

// Imports are the last hundred imports, newest first.
type Imports struct {
	Imports []Import `json:"imports"`
}

func importOf(imp storage.Import) Import {
	state := importRunning
	switch {
	case !imp.Finished.IsZero() && imp.Cancel && imp.Done < imp.Total:
		state = importEnded
	case !imp.Finished.IsZero():
		state = importDone
	}
	return Import{
		ID: imp.ID, Name: imp.Name, State: state, Cancel: imp.Cancel, Started: imp.Started, Finished: imp.Finished,
		Total: imp.Total, Done: imp.Done, Added: imp.Added, Known: imp.Known, Invalid: imp.Invalid,
	}
}

func (s *Server) importRoutes(api huma.API) {
	begin := op("POST", "/api/feeds/import", "import-feeds", "Have the feeds of a list added: OPML, or an address a line", 400, 413, 422, 429, 503)
	begin.DefaultStatus = http.StatusAccepted
	begin.Description = "Answers as soon as the list was read and is kept, with the import that takes it in: ask for that until its state is done. Sending a list again while it is taken in begins nothing; later, it begins anew and adds what is missing."
	huma.Register(api, begin, s.importFeeds)
	huma.Register(api, op("GET", "/api/imports", "list-imports", "The last hundred imports, newest first", 503), s.listImports)
	huma.Register(api, op("GET", "/api/imports/{id}", "get-import", "How an import is getting on, or what came of it", 404, 503), s.getImport)
	cancel := op("POST", "/api/imports/{id}/cancel", "cancel-import", "Have an import end within seconds; what it added by then stays", 404, 503)
	cancel.DefaultStatus = http.StatusAccepted
	huma.Register(api, cancel, func(ctx context.Context, in *byID) (*body[Import], error) {
		imp, err := s.CancelImport(ctx, in.ID)
		if err != nil {
			return nil, s.problem(err)
		}
		return &body[Import]{Body: imp}, nil
	})
	s.importLineRoutes(api)
}

func (s *Server) importFeeds(ctx context.Context, in *struct {
	Name    string `query:"name" maxLength:"255" doc:"What to call the list, as its file's name."`
	RawBody []byte `contentType:"application/xml"`
}) (*body[Import], error) {
	imp, err := s.BeginImport(ctx, in.Name, in.RawBody)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Import]{Body: imp}, nil
}

// A WrongList says why a list of feeds can't be taken in.
type WrongList struct{ Why string }

func (w *WrongList) Error() string { return w.Why }

// MaxImport is the size of the largest list that is taken in, in bytes.
const MaxImport = maxImport

// BeginImport has the feeds of a list added. It returns a [*WrongList] for what is
// none.
func (s *Server) BeginImport(ctx context.Context, name string, text []byte) (Import, error) {
	sum := sha256.Sum256(text)
	id := hex.EncodeToString(sum[:8])
	imports, err := s.Store.ListImports(ctx, storage.MaxImports)
	if err != nil {
		return Import{}, err
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
		return Import{}, fmt.Errorf("%d lists wait to be taken in already; send this one again when some are done: %w", waiting, ErrTooMuch)
	}
	feeds, err := opml.Read(bytes.NewReader(text))
	if err != nil {
		return Import{}, &WrongList{err.Error()}
	}
	if len(feeds) > maxListed {
		return Import{}, &WrongList{fmt.Sprintf("the list has %d feeds, more than %d: split it", len(feeds), maxListed)}
	}
	list, err := packList(feeds)
	if err != nil {
		return Import{}, err
	}
	imp := storage.Import{ID: id, Name: name, Started: s.Now(), Total: len(feeds), Lines: list.lines()}
	if err := s.Store.PutImport(ctx, imp); err != nil {
		return Import{}, err
	}
	select {
	case s.begun <- struct{}{}:
	default: // it was told already
	}
	return importOf(imp), nil
}

func (s *Server) listImports(ctx context.Context, _ *struct{}) (*body[Imports], error) {
	all, err := s.Imports(ctx)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Imports]{Body: all}, nil
}

// Imports returns the last hundred imports, newest first.
func (s *Server) Imports(ctx context.Context) (Imports, error) {
	stored, err := s.Store.ListImports(ctx, storage.MaxImports)
	all := Imports{Imports: make([]Import, len(stored))}
	for i, imp := range stored {
		all.Imports[i] = importOf(imp)
	}
	return all, err
}

func (s *Server) getImport(ctx context.Context, in *byID) (*body[Import], error) {
	imp, err := s.Import(ctx, in.ID)
	if err != nil {
		return nil, s.problem(err)
	}
	return &body[Import]{Body: imp}, nil
}

// Import returns how an import is getting on, or [storage.ErrNotFound].
func (s *Server) Import(ctx context.Context, id string) (Import, error) {
	imp, err := s.Store.Import(ctx, id)
	if err != nil {
		return Import{}, fmt.Errorf("import %s: %w", id, err)
	}
	return importOf(imp), nil
}

// CancelImport has an import end. One that has ended stays as it is.
func (s *Server) CancelImport(ctx context.Context, id string) (Import, error) {
	imp, err := s.Store.Import(ctx, id)
	if err == nil && imp.Finished.IsZero() {
		imp.Cancel = true
		err = s.Store.CancelImport(ctx, id)
	}
	if err != nil {
		return Import{}, fmt.Errorf("import %s: %w", id, err)
	}
	return importOf(imp), nil
}
