package members

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"feedmesh/classify/text"
	"feedmesh/classify/unique"
	"feedmesh/classify/view"
	"feedmesh/classify/view/network"
	"feedmesh/storage"
)

const (
	// batchItems is the size of a batch: items whose members are stored in one transaction.
	batchItems = 200

	// maxRelated is the number of items of a story that are evaluated again when one of them enters or leaves.
	maxRelated = 1000

	// Items published longer ago are no news when they enter a view, such as those of the first document of a feed.
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

// A groupKey identifies members of a view that belong to one story, or to one original.
type groupKey struct {
	view int64
	once view.Once
	of   string
}

// A groupMember is a present member. That with the smallest order entered first.
type groupMember struct {
	order     int64
	published time.Time
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
	tags, err := a.tagsOf(ctx, items)
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

// release removes an item from a story and an original of a view; empty ones are skipped. The other items of these are
// evaluated again.
func (a *admission) release(ctx context.Context, number int64, id, story, original string) error {
	if story != "" {
		delete(a.groups[groupKey{number, view.PerStory, story}], id)
		if err := a.evaluateStory(ctx, story, id); err != nil {
			return err
		}
	}
	if original != "" {
		delete(a.groups[groupKey{number, view.PerDuplicate, original}], id)
		return a.evaluateDuplicates(ctx, original, id)
	}
	return nil
}

// loadGroups reads the members of stories and originals, unless they are cached.
func (a *admission) loadGroups(ctx context.Context, stories, originals []string) error {
	for _, of := range []struct {
		once  view.Once
		views []int64
		ids   []string
		read  func(ctx context.Context, views []int64, ids ...string) ([]storage.RelatedMember, error)
	}{
		{view.PerStory, a.views.byStory, stories, a.evaluator.store.MembersOfStories},
		{view.PerDuplicate, a.views.byOriginal, originals, a.evaluator.store.MembersOfOriginals},
	} {
		slices.Sort(of.ids)
		ids := slices.DeleteFunc(slices.Compact(of.ids), func(id string) bool {
			_, is := a.groups[groupKey{0, of.once, id}]
			return is
		})
		if len(of.views) == 0 || len(ids) == 0 {
			continue
		}
		related, err := of.read(ctx, of.views, ids...)
		if err != nil {
			return err
		}
		for _, id := range ids {
			a.groups[groupKey{0, of.once, id}] = nil // cached; no view has the number 0
		}
		for _, m := range related {
			if a.isCurrent(m, of.once) {
				a.group(groupKey{m.View, of.once, m.Of})[m.ItemID] = groupMember{m.Serial, m.Published}
			}
		}
	}
	return nil
}

// isCurrent reports whether a stored member was not changed in this admission.
func (a *admission) isCurrent(m storage.RelatedMember, once view.Once) bool {
	item := a.items[m.ItemID]
	if item == nil {
		return true
	}
	own := item.members[m.View]
	if own == nil || own.Absent {
		return false
	}
	return once == view.PerStory && item.StoryID == m.Of || once == view.PerDuplicate && originalOf(item.Item) == m.Of
}

func (a *admission) group(key groupKey) map[string]groupMember {
	if a.groups[key] == nil {
		a.groups[key] = map[string]groupMember{}
	}
	return a.groups[key]
}

// tagsOf returns the tags of the items' feeds, by feed ID.
func (a *admission) tagsOf(ctx context.Context, items []storage.Item) (map[string][]string, error) {
	var ids []string
	for _, item := range items {
		ids = append(ids, item.FeedID)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	tags := map[string][]string{}
	for chunk := range slices.Chunk(ids, storage.MaxFeedIDs) {
		feeds, err := a.evaluator.store.FindFeeds(ctx, storage.FeedQuery{IDs: chunk, Limit: len(chunk)})
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

// originalOf returns the ID of the original of an item, its own if it is no duplicate.
func originalOf(item storage.Item) string { return cmp.Or(item.DuplicateOf, item.ID) }

// place decides which views have an item.
func (a *admission) place(ctx context.Context, item *evaluated) error {
	has := map[int64]bool{}
	for _, candidate := range item.views {
		v := &a.views.views[candidate.View]
		is := len(candidate.Through) == 0 || slices.ContainsFunc(candidate.Through, func(through int) bool { return has[a.views.views[through].stored.Number] })
		is = is && a.isInWindow(v, item.Time()) && a.isJoined(v, item, has)
		is = is && a.isFirst(v, item)
		if is {
			var err error
			if is, err = a.isUnique(ctx, v, item); err != nil {
				return err
			}
		}
		if is {
			has[v.stored.Number] = true
			if err := a.enter(ctx, v, item); err != nil {
				return err
			}
		}
	}
	for number, m := range item.members {
		v := a.views.byNumber(number)
		if v != nil && !m.Absent && !has[number] {
			if err := a.leave(ctx, v, item, m); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *admission) isInWindow(v *definition, published time.Time) bool {
	return v.Window == 0 || a.now.Sub(published) < time.Duration(v.Window)
}

// isJoined reports whether an item of the story is in the joined view.
func (a *admission) isJoined(v *definition, item *evaluated, has map[int64]bool) bool {
	if v.Join == nil {
		return true
	}
	other := &a.views.views[a.views.names[v.Join.View]]
	if has[other.stored.Number] {
		return true
	}
	if item.StoryID == "" {
		return false
	}
	for id, m := range a.groups[groupKey{other.stored.Number, view.PerStory, item.StoryID}] {
		distance := m.published.Sub(item.Time()).Abs()
		if id != item.ID && a.isInWindow(other, m.published) && (v.Join.Within == 0 || distance <= time.Duration(v.Join.Within)) {
			return true
		}
	}
	return false
}

// groupOf returns the group of an item in a view with Once; false if all items may enter.
func groupOf(v *definition, item storage.Item) (groupKey, bool) {
	switch {
	case v.Once == view.PerStory && item.StoryID != "":
		return groupKey{v.stored.Number, view.PerStory, item.StoryID}, true
	case v.Once == view.PerDuplicate:
		return groupKey{v.stored.Number, view.PerDuplicate, originalOf(item)}, true
	}
	return groupKey{}, false
}

// isFirst reports whether no other member of the item's group entered before.
func (a *admission) isFirst(v *definition, item *evaluated) bool {
	key, is := groupOf(v, item.Item)
	if !is {
		return true
	}
	own := int64(math.MaxInt64)
	if m := item.members[v.stored.Number]; m != nil {
		own = a.orderOf(m)
	}
	for id, other := range a.groups[key] {
		if id != item.ID && other.order < own && a.isInWindow(v, other.published) {
			return false
		}
	}
	return true
}

// firstOrder is the order of the first member that an admission adds: after all serials.
const firstOrder = math.MaxInt64 / 2

// orderOf returns the serial of a member, or the number that stands for the one it will get.
func (a *admission) orderOf(m *storage.Member) int64 { return cmp.Or(m.Serial, a.orders[m]) }

// isUnique reports whether an item repeats none of the latest members of a view. Members stay.
func (a *admission) isUnique(ctx context.Context, v *definition, item *evaluated) (bool, error) {
	if v.Unique == 0 || item.members[v.stored.Number] != nil {
		return true, nil
	}
	list := a.uniques[v.stored.Number]
	if list == nil || list.Len() >= maxUnique {
		var err error
		if list, err = a.latestTexts(ctx, v); err != nil {
			return false, err
		}
		a.uniques[v.stored.Number] = list
	}
	_, repeats := list.Add(item.ID, item.doc.Text, item.Language)
	return !repeats, nil
}

// latestTexts returns the texts of the latest members of a view.
func (a *admission) latestTexts(ctx context.Context, v *definition) (*unique.List, error) {
	list := &unique.List{Percent: float64(v.Unique)}
	members, err := a.evaluator.store.ListMembers(ctx, storage.MemberQuery{View: v.stored.Number}, storage.Member{}, uniqueMembers)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range members {
		ids = append(ids, m.ItemID)
	}
	for m := range a.changed { // those that enter in this admission
		if m.View == v.stored.Number && !m.Absent {
			ids = append(ids, m.ItemID)
		}
	}
	items, err := a.evaluator.store.Items(ctx, ids...)
	for _, item := range items {
		list.Add(item.ID, text.PlainText(item.HTML), item.Language)
	}
	return list, err
}

// enter makes an item a present member.
func (a *admission) enter(ctx context.Context, v *definition, item *evaluated) error {
	number := v.stored.Number
	m := item.members[number]
	var before storage.Member
	if m != nil {
		before = *m
	}
	switch {
	case m == nil:
		m = &storage.Member{View: number, ItemID: item.ID, Entered: a.now, Published: item.Time(), Past: a.past || a.now.Sub(item.Time()) > newsAge}
		item.members[number], a.changed[m], a.orders[m] = m, true, firstOrder+int64(len(a.orders))
	case m.Absent || !m.Published.Equal(item.Time()):
		m.Absent, m.Published, a.changed[m] = false, item.Time(), true
	}
	if err := a.relate(ctx, v, item, m); err != nil {
		return err
	}
	own := groupMember{a.orderOf(m), m.Published}
	if group, is := groupOf(v, item.Item); is {
		for id, other := range a.group(group) {
			if id != item.ID && other.order > own.order {
				a.waiting = append(a.waiting, id) // this one was first
			}
		}
		a.group(group)[item.ID] = own
	}
	if a.views.isJoined[number] && item.StoryID != "" {
		a.group(groupKey{number, view.PerStory, item.StoryID})[item.ID] = own
		if before.ItemID == "" || before.Absent || before.StoryID != m.StoryID || !before.Published.Equal(m.Published) {
			return a.evaluateStory(ctx, item.StoryID, item.ID)
		}
	}
	return nil
}

// relate records the story and the original of a member, where others depend on them. If they were others before, the
// members that depended on those are evaluated again.
func (a *admission) relate(ctx context.Context, v *definition, item *evaluated, m *storage.Member) error {
	story, original := "", ""
	if a.views.isJoined[m.View] || v.Once == view.PerStory {
		story = item.StoryID
	}
	if v.Once == view.PerDuplicate {
		original = originalOf(item.Item)
	}
	oldStory, oldOriginal := m.StoryID, m.OriginalID
	if story == oldStory {
		oldStory = ""
	} else {
		m.StoryID, a.changed[m] = story, true
	}
	if original == oldOriginal {
		oldOriginal = ""
	} else {
		m.OriginalID, a.changed[m] = original, true
	}
	return a.release(ctx, m.View, item.ID, oldStory, oldOriginal)
}

// leave makes a member absent. Then other items of its story or original may enter.
func (a *admission) leave(ctx context.Context, v *definition, item *evaluated, m *storage.Member) error {
	if err := a.relate(ctx, v, item, m); err != nil {
		return err
	}
	m.Absent, a.changed[m] = true, true
	return a.release(ctx, m.View, item.ID, m.StoryID, m.OriginalID)
}

// evaluateStory evaluates the items of a story but one after this item.
func (a *admission) evaluateStory(ctx context.Context, story, except string) error {
	if story == "" {
		return nil
	}
	stories, err := a.evaluator.store.ReadStories(ctx, maxRelated, story)
	a.wait(stories[story].Items, except)
	return err
}

// evaluateDuplicates evaluates an original and its duplicates but one after this item.
func (a *admission) evaluateDuplicates(ctx context.Context, original, except string) error {
	duplicates, err := a.evaluator.store.Duplicates(ctx, original, maxRelated)
	a.wait(append(duplicates, storage.Item{ID: original}), except)
	return err
}

func (a *admission) wait(items []storage.Item, except string) {
	for _, item := range items {
		if item.ID != except {
			a.waiting = append(a.waiting, item.ID)
		}
	}
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
	return nil
}
