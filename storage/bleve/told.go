package bleve

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	upstream "github.com/blevesearch/bleve/v2"
	bleveindex "github.com/blevesearch/bleve_index_api"

	"feedmesh/storage"
)

// Told is by how much stories raise the prominence of their items, see
// [storage.Indexed.Prominence]. It is kept by story, in a small document of each,
// and not in the items' documents: a story that grows changes it for all its items,
// and to put them all again costs hundreds of times as much.
type told struct {
	mu      sync.RWMutex
	steps   map[uint64]uint8 // by hash of the story's ID; 0 has no entry
	changed []string         // the stories that changed last, the oldest first
	forgot  uint64           // how many changed before those
}

// maxChanged is how many changes are remembered, so that what a search reads of
// each document is set right and not made anew.
const maxChanged = 4096

const (
	fieldTold = "told" // ID of the story, and the number of steps as one digit
	kindTold  = "told" // in [fieldKind]: a document that is no item
)

// raisedBy returns by how much the story of an item raises its prominence.
func raisedBy(it *storage.Indexed) uint8 { return uint8(it.Prominence() - standing(it)) }

// standing returns the prominence that the item has whatever its story.
func standing(it *storage.Indexed) int {
	if it.StoryID == "" {
		return it.Prominence()
	}
	return storage.Indexed{Item: storage.Item{Score: it.Score}}.Prominence()
}

// changes returns the steps of the items' stories that are not what they were.
func (t *told) changes(items []storage.Indexed) map[string]uint8 {
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

// set remembers the steps of stories.
func (t *told) set(steps map[string]uint8) {
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
	if over := len(t.changed) - maxChanged; over > 0 {
		t.changed = slices.Delete(t.changed, 0, over)
		t.forgot += uint64(over)
	}
}

// version returns a number that is another when steps have changed.
func (t *told) version() uint64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.forgot + uint64(len(t.changed))
}

// write adds to the batch what makes the index remember steps.
func write(batch *upstream.Batch, steps map[string]uint8) error {
	for story, n := range steps {
		id := "\x00" + story // which no item has
		if n == 0 {
			batch.Delete(id)
			continue
		}
		told := storage.Indexed{Item: storage.Item{ID: id}}
		doc := newDocument(&told, map[string][]string{
			fieldKind: {kindTold}, fieldTold: {story + string('0'+rune(n))},
			// Zapx reads and merges no segment where none has a value of a field that has
			// document values: it panics (v17.2.3).
			fieldPublished: {sortable(time.Time{})},
		})
		if err := batch.IndexAdvanced(doc); err != nil {
			return err
		}
	}
	return nil
}

// stepsIn returns the steps that an index remembers.
func stepsIn(now bleveindex.IndexReader) (map[string]uint8, error) {
	snapshot, err := snapshotOf(now)
	if err != nil {
		return nil, err
	}
	steps := make(map[string]uint8)
	for _, seg := range snapshot.Segments() {
		live := seg.DocNumbersLive()
		err := eachValue(seg.Segment(), fieldTold, func(value string, docs []uint32) {
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

// forgetLone forgets the steps of stories that no longer have items. Should one get
// an item just then, it counts as told again when it has grown.
func (x *Index) forgetLone(ctx context.Context, steps map[string]uint8) error {
	lone := make(map[string]uint8)
	err := x.view(ctx, func(now *ready) error {
		segs, err := x.segmentsOf(now)
		if err != nil {
			return err
		}
		for story := range steps {
			items, err := countIn(segs, fieldStory, story)
			if err != nil {
				return err
			}
			if items == 0 {
				lone[story] = 0
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.put(ctx, nil, nil, lone); err != nil {
		return err
	}
	x.told.set(lone)
	return nil
}

// A prominence is how much the documents of a segment stand out.
type prominence struct {
	mu      sync.Mutex
	version uint64 // of told, that all is as of
	all     []uint8
}

// prominenceOf returns how much the documents of a segment stand out by now.
func (t *told) prominenceOf(s *segment) ([]uint8, error) {
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
		p.all = make([]uint8, len(s.standing))
		for doc, story := range s.story {
			p.all[doc] = s.standing[doc] + t.steps[story]
		}
	default:
		if err := t.update(s, p); err != nil {
			return nil, err
		}
	}
	p.version = version
	return p.all, nil
}

// update sets right what has changed since p was made, in a copy, since searches
// may have the one before.
func (t *told) update(s *segment, p *prominence) error {
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
		p.all[doc] = s.standing[doc] + t.steps[s.story[doc]]
	}
	return nil
}
