package members

import (
	"cmp"
	"context"
	"slices"
	"time"

	"feedmesh/classify/text"
	"feedmesh/classify/unique"
	"feedmesh/classify/view"
	"feedmesh/storage"
)

// place decides which views have an item.
func (a *admission) place(ctx context.Context, item *evaluated) error {
	has := map[int64]bool{}
	for _, candidate := range item.views {
		v := &a.views.views[candidate.View]
		is := len(candidate.Through) == 0 || slices.ContainsFunc(candidate.Through, func(through int) bool { return has[a.views.views[through].stored.Number] })
		is = is && v.isInWindow(item.Time(), a.now) && a.isJoined(v, item, has)
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

func (v *definition) isInWindow(published, now time.Time) bool {
	return v.Window == 0 || now.Sub(published) < time.Duration(v.Window)
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
		if id != item.ID && other.isInWindow(m.published, a.now) && (v.Join.Within == 0 || distance <= time.Duration(v.Join.Within)) {
			return true
		}
	}
	return false
}

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

// leave makes a member absent. Then other items of its story or original may enter.
func (a *admission) leave(ctx context.Context, v *definition, item *evaluated, m *storage.Member) error {
	if err := a.relate(ctx, v, item, m); err != nil {
		return err
	}
	m.Absent, a.changed[m] = true, true
	return a.release(ctx, m.View, item.ID, m.StoryID, m.OriginalID)
}

// originalOf returns the ID of the original of an item, its own if it is no duplicate.
func originalOf(item storage.Item) string { return cmp.Or(item.DuplicateOf, item.ID) }
