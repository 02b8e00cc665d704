// Package interest suggests items to people: what a person opens, stars, hides and passes over is learned by the model of
// package classify/interest, which ranks unread items. Nothing is recorded of a client before it switches this on.
//
// Learning happens in the background, in one goroutine a process, from a bounded queue: signals that exceed it, and those
// of a process that is killed, are lost. Agents that share a store may learn of the same client at once.
package interest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/wire"
	"feedmesh/classify/interest"
	"feedmesh/storage"
)

// A Store is the part of [storage.Store] that interests use.
type Store interface {
	storage.Marks
	storage.Records
	Items(ctx context.Context, ids ...string) ([]storage.Item, error)
	Feed(ctx context.Context, id string) (storage.Feed, error)
}

const (
	maxCandidates = 2000 // newest unread items
	candidateDays = 14

	maxQueue     = 1000             // signals
	learnTimeout = 10 * time.Second // of the signals of one client that are learned together
	drainTimeout = 2 * time.Second  // of the wait for the signals before a list

	maxPassed = 5 // items above an opened one that count as passed over
)

// Interests learns and suggests for all clients. Its methods act for the client of the context ([access.From]) and may
// be called concurrently.
type Interests struct {
	store Store
	lists *reading.Lists
	now   func() time.Time
	log   *slog.Logger

	features featureCache
	listed   listedCache

	mu      sync.Mutex
	queue   []signal      // oldest first, at most maxQueue
	dropped int           // since the queue was full
	drained chan struct{} // closed when the queue is empty; nil: it is
	closed  bool
	stop    context.CancelFunc // ends learning
	ctx     context.Context
}

// A signal waits to be learned.
type signal struct {
	client, item string
	kind         interest.Signal
	at           time.Time
}

// New returns the interests in a store. Stars that clients of lists give are signals. Close ends its background work.
func New(store Store, lists *reading.Lists, now func() time.Time, log *slog.Logger) *Interests {
	i := &Interests{store: store, lists: lists, now: now, log: log, listed: listedCache{byClient: map[string][]string{}}}
	i.ctx, i.stop = context.WithCancel(context.Background())
	lists.OnStar(func(ctx context.Context, ids []string) {
		for _, id := range ids {
			i.record(ctx, id, interest.Starred)
		}
	})
	return i
}

// Close drops the signals that wait, and waits for the one that is being stored.
func (i *Interests) Close() {
	i.mu.Lock()
	i.closed, i.queue = true, nil
	drained := i.drained
	i.mu.Unlock()
	i.stop()
	if drained != nil {
		<-drained
	}
}

// Opened records that the client opened an item, and which of its last list it passed over.
func (i *Interests) Opened(ctx context.Context, item string) {
	i.record(ctx, item, interest.Opened)
	for _, passed := range i.listed.above(access.From(ctx).ID, item) {
		i.record(ctx, passed, interest.Skipped)
	}
}

// Listed records what a client was shown last, in order, in the memory of this process.
func (i *Interests) Listed(ctx context.Context, items []string) {
	i.listed.put(access.From(ctx).ID, items)
}

// record queues a signal of the client. It does not block.
func (i *Interests) record(ctx context.Context, item string, kind interest.Signal) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.closed || len(i.queue) >= maxQueue {
		i.dropped++
		return
	}
	i.queue = append(i.queue, signal{access.From(ctx).ID, item, kind, i.now()})
	if i.drained == nil {
		i.drained = make(chan struct{})
		go i.learnAll()
	}
}

// learnAll learns until the queue is empty.
func (i *Interests) learnAll() {
	for {
		client, batch := i.next()
		if len(batch) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(i.ctx, learnTimeout)
		err := i.learn(ctx, client, batch)
		cancel()
		if err != nil && i.ctx.Err() == nil {
			i.log.Warn("signals for suggestions not learned", "signals", len(batch), "err", err)
		}
	}
}

// next takes the signals of the client that waits longest from the queue. An empty queue ends the goroutine.
func (i *Interests) next() (client string, batch []signal) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.dropped > 0 && !i.closed {
		i.log.Warn("signals for suggestions dropped: the queue was full", "signals", i.dropped)
	}
	i.dropped = 0
	if len(i.queue) == 0 {
		close(i.drained)
		i.drained = nil
		return "", nil
	}
	client = i.queue[0].client
	i.queue = slices.DeleteFunc(i.queue, func(s signal) bool {
		if s.client == client {
			batch = append(batch, s)
		}
		return s.client == client
	})
	return client, batch
}

// await waits until the queue is empty, so that a list follows the signals before it, at most drainTimeout.
func (i *Interests) await(ctx context.Context) {
	i.mu.Lock()
	drained := i.drained
	i.mu.Unlock()
	if drained == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	select {
	case <-drained:
	case <-ctx.Done():
	}
}

// learn stores what signals of a client change. Signals of a client that did not switch this on are ignored.
func (i *Interests) learn(ctx context.Context, client string, batch []signal) error {
	records := storage.Interests(i.store)
	stored, err := records.Read(ctx, client)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !stored.On {
		return nil
	}
	if err != nil {
		return err
	}
	ids := make([]string, len(batch))
	for n, s := range batch {
		ids[n] = s.item
	}
	slices.Sort(ids)
	items, err := i.store.Items(ctx, slices.Compact(ids)...)
	if err != nil {
		return err
	}
	features, err := i.featuresOf(ctx, items)
	if err != nil {
		return err
	}
	sentiments := make(map[string]float64, len(items))
	for _, item := range items {
		sentiments[item.ID] = item.Sentiment
	}
	return records.Change(ctx, client, func(stored *storage.Interest) (*storage.Interest, error) {
		if stored == nil || !stored.On {
			return stored, nil
		}
		model, err := i.decode(stored)
		if err != nil {
			return nil, err
		}
		changed := false
		for _, s := range batch {
			f, exists := features[s.item]
			if !exists || !model.Learn(s.item, f, s.kind, s.at) {
				continue
			}
			if changed = true; s.kind == interest.Opened {
				model.CountSentiment(sentiments[s.item], s.at)
			}
		}
		if changed {
			stored.Learned = model.Encode()
		}
		return stored, nil
	})
}

// decode returns the model of a record. An unreadable one is replaced with an empty one, which learns again; the error
// is [storage.ErrConflict] for one that a newer version wrote.
func (i *Interests) decode(stored *storage.Interest) (*interest.Model, error) {
	model, err := interest.Decode(stored.Learned)
	if errors.Is(err, interest.ErrUnreadable) {
		i.log.Error("interests unreadable: suggestions are learned from the start again", "client", stored.Client, "err", err)
		return &interest.Model{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", storage.ErrConflict, err)
	}
	return model, nil
}

// featuresOf returns the features of items by ID, with their names.
func (i *Interests) featuresOf(ctx context.Context, items []storage.Item) (map[string][]interest.Feature, error) {
	feeds, err := i.lists.Feeds(ctx)
	if err != nil {
		return nil, err
	}
	features := make(map[string][]interest.Feature, len(items))
	for _, item := range items {
		features[item.ID] = interest.Features(documentOf(item, feeds[item.FeedID].Name))
	}
	return features, nil
}

func documentOf(item storage.Item, feedTitle string) interest.Document {
	return interest.Document{
		Title: item.Title, Language: item.Language, Categories: item.Categories, Topics: item.Topics, Feed: item.FeedID, FeedTitle: feedTitle,
	}
}

// read returns the model of the client, and whether it is switched on.
func (i *Interests) read(ctx context.Context) (*interest.Model, bool, error) {
	i.await(ctx)
	stored, err := storage.Interests(i.store).Read(ctx, access.From(ctx).ID)
	if errors.Is(err, storage.ErrNotFound) {
		return &interest.Model{}, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	model, err := i.decode(&stored)
	return model, stored.On, err
}

// Suggest returns unread items, those first that the client is most likely to open; none if it did not switch this on.
func (i *Interests) Suggest(ctx context.Context, in wire.SuggestionQuery) (wire.SuggestedItems, error) {
	out := wire.SuggestedItems{Items: []wire.Suggestion{}}
	model, on, err := i.read(ctx)
	if out.On = on; err != nil || !on {
		return out, err
	}
	ids, candidates, err := i.candidates(ctx, model)
	if err != nil {
		return out, err
	}
	ranked := model.Rank(candidates, in.Limit)
	listed := make([]string, len(ranked))
	for n, s := range ranked {
		listed[n] = ids[s.Index]
	}
	items, err := i.lists.Of(ctx, listed...)
	if err != nil {
		return out, err
	}
	byID := make(map[string]wire.ReadingItem, len(items))
	for _, item := range items {
		byID[item.ID] = item
	}
	for n, id := range listed {
		if item, exists := byID[id]; exists {
			out.Items = append(out.Items, wire.Suggestion{ReadingItem: item, Because: ranked[n].Because, New: ranked[n].New})
		}
	}
	return out, nil
}

// candidates returns the newest unread items, without those that were passed over.
func (i *Interests) candidates(ctx context.Context, model *interest.Model) (ids []string, candidates []interest.Candidate, err error) {
	now, unread := i.now(), false
	q := storage.MarkQuery{Read: &unread, From: now.AddDate(0, 0, -candidateDays), ByTime: true}
	marked, err := i.store.ListMarked(ctx, access.From(ctx).ID, q, storage.MarkedItem{}, maxCandidates)
	if err != nil {
		return nil, nil, err
	}
	passed := map[string]bool{}
	for _, s := range model.Signals() {
		if s.Signal == interest.Skipped || s.Signal == interest.Hidden {
			passed[s.Item] = true
		}
	}
	marked = slices.DeleteFunc(marked, func(m storage.MarkedItem) bool { return passed[m.ItemID] })
	known, err := i.known(ctx, marked)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range marked {
		if k, exists := known[m.ItemID]; exists {
			ids = append(ids, m.ItemID)
			candidates = append(candidates, interest.Candidate{Features: k.keys, Publisher: m.FeedID, Story: k.story, Age: now.Sub(m.Time)})
		}
	}
	return ids, candidates, nil
}

// On reports whether the client switched suggestions on; false if that is unknown at the moment.
func (i *Interests) On(ctx context.Context) bool {
	stored, err := storage.Interests(i.store).Read(ctx, access.From(ctx).ID)
	return err == nil && stored.On
}

// Signal records what the client did with an item. A hidden item is marked as read. Unknown signals and items that do not
// exist are ignored.
func (i *Interests) Signal(ctx context.Context, in wire.InterestSignalRequest) (wire.None, error) {
	kind, is := interest.ParseSignal(in.Body.Signal)
	if !is {
		return wire.None{}, nil
	}
	i.record(ctx, in.Body.ID, kind)
	if kind != interest.Hidden {
		return wire.None{}, nil
	}
	read := true
	return wire.None{}, i.lists.Mark(ctx, storage.MarkChange{Read: &read}, in.Body.ID)
}

// Switch starts or stops learning of the client. What was learned stays until it is forgotten.
func (i *Interests) Switch(ctx context.Context, in wire.SwitchInterestsRequest) (wire.None, error) {
	i.await(ctx)
	client := access.From(ctx).ID
	err := storage.Interests(i.store).Change(ctx, client, func(stored *storage.Interest) (*storage.Interest, error) {
		switch {
		case stored == nil && !in.Body.On, stored != nil && !in.Body.On && len(stored.Learned) == 0:
			return nil, nil
		case stored == nil:
			stored = &storage.Interest{Client: client}
		}
		stored.On = in.Body.On
		return stored, nil
	})
	if errors.Is(err, storage.ErrTooMany) {
		err = fmt.Errorf("%w: %d clients have suggestions, as many as there may be", storage.ErrConflict, storage.MaxInterests)
	}
	return wire.None{}, err
}

// Forget deletes what was learned of the client. Learning goes on from the start if it is switched on.
func (i *Interests) Forget(ctx context.Context, _ wire.None) (wire.None, error) {
	i.await(ctx)
	return wire.None{}, storage.Interests(i.store).Change(ctx, access.From(ctx).ID, func(stored *storage.Interest) (*storage.Interest, error) {
		if stored == nil || !stored.On {
			return nil, nil
		}
		stored.Learned = nil
		return stored, nil
	})
}

// Remove deletes all records of a client that was removed.
func (i *Interests) Remove(ctx context.Context, client string) error {
	err := storage.Interests(i.store).Remove(ctx, client)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// Export returns all that was learned of the client.
func (i *Interests) Export(ctx context.Context, _ wire.None) (wire.Interests, error) {
	model, on, err := i.read(ctx)
	out := wire.Interests{On: on, Features: []wire.InterestFeature{}, Days: []wire.InterestDay{}, Signals: []wire.InterestSignalAt{}}
	if err != nil {
		return out, err
	}
	for _, f := range model.Features(i.now()) {
		out.Features = append(out.Features, wire.InterestFeature{Kind: f.Kind.String(), Name: f.Name, Liked: rounded(f.Liked), Other: rounded(f.Other)})
	}
	for _, d := range model.Days() {
		out.Days = append(out.Days, wire.InterestDay{Day: d.Day.Format(time.DateOnly), Opened: d.Opened, Good: d.Good, Bad: d.Bad})
	}
	for _, s := range model.Signals() {
		out.Signals = append(out.Signals, wire.InterestSignalAt{InterestSignal: wire.InterestSignal{ID: s.Item, Signal: s.Signal.String()}, At: s.At})
	}
	return out, nil
}
