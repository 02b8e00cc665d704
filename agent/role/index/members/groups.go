package members

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"feedmesh/classify/view"
	"feedmesh/storage"
)

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

func (a *admission) group(key groupKey) map[string]groupMember {
	if a.groups[key] == nil {
		a.groups[key] = map[string]groupMember{}
	}
	return a.groups[key]
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
		if id != item.ID && other.order < own && v.isInWindow(other.published, a.now) {
			return false
		}
	}
	return true
}

// firstOrder is the order of the first member that an admission adds: after all serials.
const firstOrder = math.MaxInt64 / 2

// orderOf returns the serial of a member, or the number that stands for the one it will get.
func (a *admission) orderOf(m *storage.Member) int64 { return cmp.Or(m.Serial, a.orders[m]) }

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
