package members

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/classify/text"
	"feedmesh/classify/unique"
	"feedmesh/classify/view/network"
	"feedmesh/storage"
	"feedmesh/subjects"
)

const (
	// batchItems is the size of a batch: items whose members are stored in one transaction.
	batchItems = 200

	// maxRelated is the number of items of a story that are evaluated again when one of them enters or leaves.
	maxRelated = 1000

	// Items published longer ago enter a view without notifications, such as those of the first document of a feed.
	newsAge = 3 * 24 * time.Hour

	// uniqueMembers is the number of a view's latest members that new items are compared with, and maxUnique the size of
	// their cache at which it is read again.
	uniqueMembers, maxUnique = 100, 200
)

// evaluate stores in batches which views have the items, in order of their time. past is that of [subjects.View].
func (e *evaluator) evaluate(ctx context.Context, ids []string, past bool) error {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	for batch := range slices.Chunk(slices.Compact(ids), batchItems) {
		if err := e.evaluateBatch(ctx, batch, past); err != nil {
			return err
		}
	}
	return nil
}

// evaluateBatch evaluates a batch of items, and those that depend on them, in one transaction. The lock also excludes a reload
// of the views meanwhile.
func (e *evaluator) evaluateBatch(ctx context.Context, ids []string, past bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.views.views) == 0 {
		return nil
	}
	a := &admission{
		evaluator: e, now: e.clock.Now(), past: past,
		items: map[string]*evaluated{}, orders: map[*storage.Member]int64{}, changed: map[*storage.Member]bool{},
		groups: map[groupKey]map[string]groupMember{},
	}
	if err := a.run(ctx, ids); err != nil {
		e.uniques = map[int64]*unique.List{} // the cache has texts of members that are not stored; a retry would find itself in it
		return fmt.Errorf("evaluate views of %d items: %w", len(ids), err)
	}
	return nil
}

// An admission decides which views have the items of a batch. It reads what it needs of the store into caches, changes it
// there, and stores the changes at its end. A retry begins with empty caches.
type admission struct {
	*evaluator
	now  time.Time
	past bool

	waiting []string // IDs of items to evaluate
	items   map[string]*evaluated
	gone    []string // IDs of items that are not stored
	changed map[*storage.Member]bool
	orders  map[*storage.Member]int64           // of new members, in the order in which they enter
	groups  map[groupKey]map[string]groupMember // cache of present members by item ID
}

// An evaluated item was read for an [admission].
type evaluated struct {
	storage.Item
	doc     *network.Document
	views   []network.Candidate
	members map[int64]*storage.Member // by view: where it is a member, present or absent
	turns   int                       // how often it was evaluated
}

// maxTurns bounds how often an item is evaluated in one admission. Views depend on each other in one direction, and of a
// group the member that entered first stays, so evaluation ends: usually after one turn for each view that another one reads
// or joins.
const maxTurns = 50

// since returns the smallest serial of an item, by which it may be the first of a group; items that were in no view come last.
func (e *evaluated) since() int64 {
	first := int64(math.MaxInt64)
	for _, m := range e.members {
		first = min(first, cmp.Or(m.Serial, first))
	}
	return first
}

func (a *admission) run(ctx context.Context, ids []string) error {
	a.waiting = ids
	for len(a.waiting) > 0 {
		next := a.waiting
		a.waiting = nil
		if err := a.load(ctx, next); err != nil {
			return err
		}
		for _, item := range a.inOrder(next) {
			if item.turns++; item.turns > maxTurns {
				a.log.Warn("view members are unsettled", "item_id", item.ID)
				continue
			}
			if err := a.place(ctx, item); err != nil {
				return err
			}
		}
	}
	return a.store(ctx)
}

// inOrder returns the items that are stored, each once: former members first, then by time.
func (a *admission) inOrder(ids []string) []*evaluated {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	var items []*evaluated
	for _, id := range slices.Compact(ids) {
		if item := a.items[id]; item != nil {
			items = append(items, item)
		}
	}
	slices.SortStableFunc(items, func(x, y *evaluated) int {
		return cmp.Or(cmp.Compare(x.since(), y.since()), x.Time().Compare(y.Time()))
	})
	return items
}

// load reads a batch of items that are not cached, with their members and the members of their stories and originals.
func (a *admission) load(ctx context.Context, ids []string) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return a.items[id] != nil })
	items, err := a.evaluator.store.Items(ctx, ids...)
	if err != nil {
		return err
	}
	tags, err := tagsOf(ctx, a.evaluator.store, items)
	if err != nil {
		return err
	}
	var stories, originals []string
	for _, item := range items {
		doc := &network.Document{Document: storage.IndexItem{Item: item, Text: text.PlainText(item.HTML)}.Document(), FeedTags: tags[item.FeedID], Now: a.now}
		a.items[item.ID] = &evaluated{Item: item, doc: doc, views: a.views.network.Match(doc), members: map[int64]*storage.Member{}}
		a.keepSample(doc)
		originals = append(originals, originalOf(item))
		if item.StoryID != "" {
			stories = append(stories, item.StoryID)
		}
	}
	members, err := a.evaluator.store.MembersOfItems(ctx, ids...)
	if err != nil {
		return err
	}
	var ofGone []storage.Member
	for _, m := range members {
		if item := a.items[m.ItemID]; item != nil {
			item.members[m.View] = &m
		} else {
			ofGone = append(ofGone, m)
		}
	}
	if err := a.loadGroups(ctx, stories, originals); err != nil {
		return err
	}
	for _, m := range ofGone {
		if err := a.delete(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes a member whose item is not stored.
func (a *admission) delete(ctx context.Context, m storage.Member) error {
	a.gone = append(a.gone, m.ItemID)
	if m.Absent {
		return nil
	}
	return a.release(ctx, m.View, m.ItemID, m.StoryID, m.OriginalID)
}

// tagsOf returns the tags of the items' feeds, by feed ID.
func tagsOf(ctx context.Context, from storage.Feeds, items []storage.Item) (map[string][]string, error) {
	var ids []string
	for _, item := range items {
		ids = append(ids, item.FeedID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	tags := map[string][]string{}
	for chunk := range slices.Chunk(ids, storage.MaxFeedIDs) {
		feeds, err := from.FindFeeds(ctx, storage.FeedQuery{IDs: chunk, Limit: len(chunk)})
		if err != nil {
			return nil, err
		}
		for _, f := range feeds {
			tags[f.ID] = f.Tags
		}
	}
	return tags, nil
}

// keepSample replaces the oldest item of the sample.
func (e *evaluator) keepSample(doc *network.Document) {
	if len(e.sample) < sampleSize {
		e.sample = append(e.sample, doc)
		return
	}
	e.sample[e.next%sampleSize] = doc
	e.next++
}

// store stores the changes in one transaction.
func (a *admission) store(ctx context.Context) error {
	if len(a.changed) == 0 && len(a.gone) == 0 {
		return nil
	}
	inOrder := slices.SortedFunc(maps.Keys(a.changed), func(x, y *storage.Member) int { return cmp.Compare(a.orderOf(x), a.orderOf(y)) })
	changed := make([]storage.Member, len(inOrder))
	for i, m := range inOrder {
		changed[i] = *m
	}
	if err := a.evaluator.store.ChangeMembers(ctx, a.fence, changed, a.gone); err != nil {
		return err
	}
	a.entered.Add(float64(len(a.orders)))
	if slices.ContainsFunc(changed, func(m storage.Member) bool { return m.Serial == 0 && !m.Past }) {
		// Roles that miss the event look themselves, later.
		event := subjects.Event{Kind: subjects.ViewsGrew, At: a.now, Text: nuid.Next()}
		if err := a.out.Publish(ctx, event.Message()); err != nil {
			a.log.Warn("event not published", "kind", event.Kind, "err", err)
		}
	}
	return nil
}
