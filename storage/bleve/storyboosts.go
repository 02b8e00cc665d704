package bleve

import (
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	upstream "github.com/blevesearch/bleve/v2"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/storage"
)

// storyBoosts contains the steps by which stories raise the prominence of their items, see
// [storage.IndexItem.Prominence]. Each story has a small document of its own: a growing story changes the
// prominence of all its items, and putting them all again costs hundreds of times as much.
type storyBoosts struct {
	mu      sync.RWMutex
	steps   map[uint64]uint8 // by hash of the story's ID; 0 has no entry
	changed []string         // recently changed stories, the oldest first
	forgot  uint64           // number of changes dropped from changed
}

// maxChanged bounds the stored changes, by which cached prominences are updated instead of recomputed.
const maxChanged = 4096

const (
	fieldBoost = "told" // ID of the story, and the number of steps as one digit
	kindStory  = "told" // in [fieldKind]: a document of a story
)

// StoriesApart implements [storage.Index].
func (x *Index) StoriesApart() bool { return true }

// raisedBy returns the steps by which the story of an item raises its prominence.
func raisedBy(it *storage.IndexItem) uint8 { return uint8(it.Prominence() - baseProminence(it)) }

// baseProminence returns the prominence of an item without its story.
func baseProminence(it *storage.IndexItem) int {
	base := *it
	if it.StoryID != "" {
		base.Sources = 0
	}
	return base.Prominence()
}

// changes returns the changed steps of the items' stories.
func (t *storyBoosts) changes(items []storage.IndexItem) map[string]uint8 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	steps := make(map[string]uint8)
	for i := range items {
		if story := items[i].StoryID; story != "" {
			steps[story] = raisedBy(&items[i])
		}
	}
	for story, n := range steps {
		if t.steps[hashOf(story)] == n {
			delete(steps, story)
		}
	}
	return steps
}

// set stores the steps of stories.
func (t *storyBoosts) set(steps map[string]uint8) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for story, n := range steps {
		if n == 0 {
			delete(t.steps, hashOf(story))
		} else {
			t.steps[hashOf(story)] = n
		}
		t.changed = append(t.changed, story)
	}
	if excess := len(t.changed) - maxChanged; excess > 0 {
		t.changed = slices.Delete(t.changed, 0, excess)
		t.forgot += uint64(excess)
	}
}

// clear removes the steps of all stories.
func (t *storyBoosts) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forgot += uint64(len(t.changed)) + 1 // computed prominences are outdated
	t.steps, t.changed = make(map[uint64]uint8), nil
}

// version returns a number that changes with the steps.
func (t *storyBoosts) version() uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.forgot + uint64(len(t.changed))
}

// write adds the documents of steps to the batch.
func write(batch *upstream.Batch, steps map[string]uint8) error {
	for story, n := range steps {
		id := "\x00" + story // no item has this ID
		if n == 0 {
			batch.Delete(id)
			continue
		}
		storyDoc := storage.IndexItem{Item: storage.Item{ID: id}}
		values := map[string][]string{
			fieldKind: {kindStory}, fieldBoost: {story + string('0'+rune(n))},
			// Zapx panics on a segment without a value of a field that has document values (v17.2.3).
			fieldPublished: {sortable(time.Time{})},
		}
		doc := newDocument(&storyDoc, func(f *keywordField) []string { return values[f.name] })
		if err := batch.IndexAdvanced(doc); err != nil {
			return err
		}
	}
	return nil
}

// stepsIn returns the steps stored in an index.
func stepsIn(now bleveindex.IndexReader) (map[string]uint8, error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	steps := make(map[string]uint8)
	for _, seg := range snapshot.Segments() {
		live := seg.DocNumbersLive()
		err := eachValue(seg.Segment(), fieldBoost, func(value string, docs []uint32) {
			if slices.ContainsFunc(docs, live.Contains) {
				end := len(value) - 1
				steps[value[:end]] = value[end] - '0'
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// prominence caches the current prominence of a segment's documents.
type prominence struct {
	mu      sync.Mutex
	version uint64 // version of storyBoosts at which all was computed
	all     []uint8
}

// prominenceOf returns the current prominence of a segment's documents.
func (t *storyBoosts) prominenceOf(s *segment) ([]uint8, error) {
	p := &s.columns.prominence
	p.mu.Lock()
	defer p.mu.Unlock()
	t.mu.RLock()
	defer t.mu.RUnlock()
	version := t.forgot + uint64(len(t.changed))
	switch {
	case p.all != nil && p.version == version:
		return p.all, nil
	case p.all == nil || p.version < t.forgot:
		p.all = make([]uint8, len(s.baseProminence))
		for doc, story := range s.story {
			p.all[doc] = s.baseProminence[doc] + t.steps[story]
		}
	default:
		if err := t.update(s, p); err != nil {
			return nil, err
		}
	}
	p.version = version
	return p.all, nil
}

// update applies the changes since p.version to a copy, since searches may still use the old slice.
func (t *storyBoosts) update(s *segment, p *prominence) error {
	docs := roaring.New()
	for _, story := range t.changed[p.version-t.forgot:] {
		if err := s.add(docs, fieldStory, story); err != nil {
			return err
		}
	}
	if docs.IsEmpty() {
		return nil
	}
	p.all = slices.Clone(p.all)
	for _, doc := range docs.ToArray() {
		p.all[doc] = s.baseProminence[doc] + t.steps[s.story[doc]]
	}
	return nil
}
