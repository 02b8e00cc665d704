package service

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/opml"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
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

// read returns the initial result of an address, existing or invalid, and its canonical URL.
func read(f opml.Feed) (result wire.ImportResult, url string) {
	result = wire.ImportResult{Line: f.Line, URL: f.URL, Outcome: wire.ImportInvalid}
	url, err := storage.CanonicalURL(f.URL)
	if err != nil {
		result.Reason = err.Error()
		return result, ""
	}
	result.FeedID, result.Outcome = storage.FeedID(url), wire.ImportExisting
	return result, url
}

// importBatchSize is the number of feeds that are stored and published together.
const importBatchSize = 1000

// ImportFeeds stores feeds and publishes them to the schedule. It returns the result of each, in order.
// Repeating a call adds nothing, and completes a call that failed midway; after an error the earlier batches
// are stored.
func ImportFeeds(ctx context.Context, to storage.Feeds, out subjects.Publisher, feeds []opml.Feed, now time.Time) ([]wire.ImportResult, error) {
	t := importer{store: to, out: out, added: now, seen: map[string]bool{}, notifyStored: true}
	results := make([]wire.ImportResult, 0, len(feeds))
	for chunk := range slices.Chunk(feeds, importBatchSize) {
		batch, err := t.importBatch(ctx, chunk)
		if err != nil {
			return nil, err
		}
		results = append(results, batch...)
	}
	return results, nil
}

// An importer adds the feeds of one list, batch by batch.
type importer struct {
	store storage.Feeds
	out   subjects.Publisher
	added time.Time       // Added time of the feeds
	seen  map[string]bool // IDs of earlier feeds of the list

	// resumed states that a process that exited may have stored the next batch already. Feeds with this
	// import's time count as added.
	resumed bool

	// notifyStored also publishes feeds that were stored before: the request may be a retry after a process
	// exited before it published them. A resumed import does not need this.
	notifyStored bool
}

// importBatch adds at most [importBatchSize] feeds.
func (t *importer) importBatch(ctx context.Context, feeds []opml.Feed) ([]wire.ImportResult, error) {
	results := make([]wire.ImportResult, len(feeds))
	var fresh []storage.Feed
	urls, at := map[string]string{}, map[string]int{} // of the new feeds, by ID: canonical URL, and index in results
	for i, f := range feeds {
		var url string
		results[i], url = read(f)
		id := results[i].FeedID
		if id == "" || t.seen[id] {
			continue
		}
		t.seen[id], urls[id], at[id] = true, url, i
		fresh = append(fresh, storage.Feed{ID: id, URL: url, Title: f.Title, Site: f.Site, Tags: f.Tags, Added: t.added})
	}
	ids, err := t.store.AddFeeds(ctx, fresh...)
	if err != nil {
		return nil, fmt.Errorf("add %d feeds: %w", len(fresh), err)
	}
	if t.resumed { // the time of adding identifies the feeds of this list
		if ids, err = t.stored(ctx, fresh, func(f storage.Feed) bool { return f.Added.Equal(t.added) }); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		results[at[id]].Outcome = wire.ImportAdded
	}
	if t.notifyStored {
		existing := slices.DeleteFunc(fresh, func(f storage.Feed) bool { return results[at[f.ID]].Outcome == wire.ImportAdded })
		others, err := t.stored(ctx, existing, func(storage.Feed) bool { return true })
		if err != nil {
			return nil, err
		}
		ids = append(ids, others...)
	}
	var news []subjects.Observation
	for _, id := range ids {
		news = append(news, observation(id, urls[id], subjects.Added))
	}
	if len(news) > 0 {
		if err := publishObservations(ctx, t.out, news...); err != nil {
			return nil, err
		}
	}
	t.resumed = false
	return results, nil
}

// stored returns the IDs of the stored feeds that satisfy is.
func (t *importer) stored(ctx context.Context, feeds []storage.Feed, is func(storage.Feed) bool) ([]string, error) {
	var ids []string
	for _, f := range feeds {
		stored, err := t.store.Feed(ctx, f.ID)
		switch {
		case errors.Is(err, storage.ErrNotFound): // stored under the URL it moved to
		case err != nil:
			return nil, fmt.Errorf("feed %s: %w", f.ID, err)
		case is(stored):
			ids = append(ids, f.ID)
		}
	}
	return ids, nil
}

// importLease is the lease of the agent that runs imports.
const importLease = "imports"

// Run runs the waiting imports, one after the other, while this agent holds the lease, until ctx ends.
// An import resumes where the agent before stopped; repeating a batch is harmless.
func (s *Imports) Run(ctx context.Context) error {
	return runWaiting(ctx, s.core, importLease, s.ready, "import failed, will retry", s.RunAll)
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

// publishObservations publishes observations of a request to the schedule.
func publishObservations(ctx context.Context, out subjects.Publisher, o ...subjects.Observation) error {
	return subjects.Publish(ctx, out, subjects.ObserveQueue, subjects.Observe{Source: "api/" + nuid.Next(), Observations: o})
}

func observation(feedID, url string, outcome subjects.Outcome) subjects.Observation {
	return subjects.Observation{Receipt: subjects.Receipt{FeedID: feedID}, URL: url, Outcome: outcome}
}
