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
)

// An Import is a list of feeds that is being taken in, or was. It is worked on
// by one process of the mesh at a time, and goes on where it was if that ends.
type Import struct {
	ID       string    `json:"id" doc:"Of the list: the same for the same bytes."`
	Name     string    `json:"name,omitempty" doc:"What the client called the list."`
	State    string    `json:"state" enum:"running,done"`
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

// An ImportPage is a page of what became of a list's feeds.
type ImportPage struct {
	Lines []Intake `json:"lines" doc:"One for each feed, in the list's order."`
	Next  int      `json:"next,omitempty" doc:"What to give as after for the next page; absent on the last."`
}

func importOf(imp storage.Import) Import {
	state := importRunning
	if !imp.Finished.IsZero() {
		state = importDone
	}
	return Import{
		ID: imp.ID, Name: imp.Name, State: state, Started: imp.Started, Finished: imp.Finished,
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
	huma.Register(api, op("GET", "/api/imports/{id}/lines", "list-import-lines", "What became of each feed of an import", 404, 503), s.importLines)
}

func (s *Server) importFeeds(ctx context.Context, in *struct {
	Name    string `query:"name" maxLength:"255" doc:"What to call the list, as its file's name."`
	RawBody []byte `contentType:"application/xml"`
}) (*body[Import], error) {
	sum := sha256.Sum256(in.RawBody)
	id := hex.EncodeToString(sum[:8])
	imports, err := s.Store.ListImports(ctx, storage.MaxImports)
	if err != nil {
		return nil, s.problem(err)
	}
	waiting := 0
	for _, imp := range imports {
		if !imp.Finished.IsZero() {
			continue
		}
		if waiting++; imp.ID == id {
			return &body[Import]{Body: importOf(imp)}, nil
		}
	}
	if waiting >= maxWaiting {
		return nil, huma.Error429TooManyRequests(fmt.Sprintf("%d lists wait to be taken in already; send this one again when some are done", waiting))
	}
	feeds, err := opml.Read(bytes.NewReader(in.RawBody))
	if err != nil {
		return nil, huma.Error422UnprocessableEntity(err.Error())
	}
	if len(feeds) > maxListed {
		return nil, huma.Error422UnprocessableEntity(fmt.Sprintf("the list has %d feeds, more than %d: split it", len(feeds), maxListed))
	}
	list, err := packList(feeds)
	if err != nil {
		return nil, s.problem(err)
	}
	imp := storage.Import{ID: id, Name: in.Name, Started: s.Now(), Total: len(feeds), Lines: list.lines()}
	if err := s.Store.PutImport(ctx, imp); err != nil {
		return nil, s.problem(err)
	}
	select {
	case s.begun <- struct{}{}:
	default: // it was told already
	}
	return &body[Import]{Body: importOf(imp)}, nil
}

func (s *Server) listImports(ctx context.Context, _ *struct{}) (*body[Imports], error) {
	stored, err := s.Store.ListImports(ctx, storage.MaxImports)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[Imports]{Body: Imports{Imports: make([]Import, len(stored))}}
	for i, imp := range stored {
		out.Body.Imports[i] = importOf(imp)
	}
	return out, nil
}

func (s *Server) getImport(ctx context.Context, in *byID) (*body[Import], error) {
	imp, err := s.Store.Import(ctx, in.ID)
	if err != nil {
		return nil, s.problem(fmt.Errorf("import %s: %w", in.ID, err))
	}
	return &body[Import]{Body: importOf(imp)}, nil
}

func (s *Server) importLines(ctx context.Context, in *struct {
	ID      string `path:"id" maxLength:"64"`
	After   int    `query:"after" minimum:"0" doc:"Next of the page before."`
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Outcome string `query:"outcome" enum:"added,known,invalid,waiting" doc:"Only feeds with it."`
}) (*body[ImportPage], error) {
	imp, err := s.Store.Import(ctx, in.ID)
	if err != nil {
		return nil, s.problem(fmt.Errorf("import %s: %w", in.ID, err))
	}
	list, err := listOf(imp)
	if err != nil {
		return nil, s.problem(err)
	}
	out := &body[ImportPage]{}
	out.Body.Lines, out.Body.Next, err = list.page(in.After, in.Limit, in.Outcome)
	if err != nil {
		return nil, s.problem(fmt.Errorf("import %s: %w", in.ID, err))
	}
	return out, nil
}
