package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver"
	"feedmesh/agent/role/index/members"
	"feedmesh/agent/wire"
	"feedmesh/classify/expression"
	"feedmesh/classify/query"
	"feedmesh/classify/view"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Views answers requests about views. A view that a client may not read does not exist for it.
type Views struct {
	*core
	search *Search
	events *Events
	cache  viewCache
}

// A readView is a stored view with its definition. Of an unreadable definition it has only the name, and the error.
type readView struct {
	view.View
	stored storage.View
	err    error
}

func readViewOf(stored storage.View) readView {
	v, err := view.Parse(stored.Definition)
	if err != nil {
		v = view.View{Name: stored.Name}
	}
	return readView{v, stored, err}
}

// isOwn reports whether a client made the view.
func (v readView) isOwn(c access.Client) bool {
	return access.IsSame(v.stored.Owner, c.ID)
}

// mayRead reports whether a client may read the view.
func (v readView) mayRead(c access.Client) bool { return mayRead(c, v.stored.Owner, v.Readers) }

// mayRead reports whether a client may read the view of an owner for these readers.
func mayRead(c access.Client, owner string, readers view.Readers) bool {
	return access.IsSame(owner, c.ID) || c.May(access.Admin) || readers == view.Everyone || readers == view.People && c.May(access.Read)
}

// List returns the views that the client may read, ordered by name.
func (s *Views) List(ctx context.Context, _ wire.None) (wire.Views, error) {
	stored, err := storage.Views(s.Store).List(ctx)
	if err != nil {
		return wire.Views{}, err
	}
	client := access.From(ctx)
	var readable []readView
	for _, one := range stored {
		if v := readViewOf(one); v.mayRead(client) {
			readable = append(readable, v)
		}
	}
	counts, err := s.count(ctx, readable)
	if err != nil {
		return wire.Views{}, err
	}
	return wire.Views{Views: convert(readable, func(v readView) wire.ViewState { return viewOf(v, client, counts) })}, nil
}

// count returns the number of members of views, by their number.
func (s *Views) count(ctx context.Context, views []readView) (map[int64]int64, error) {
	counts := map[int64]int64{}
	byWindow := map[view.Duration][]int64{}
	for _, v := range views {
		byWindow[v.Window] = append(byWindow[v.Window], v.stored.Number)
	}
	for window, numbers := range byWindow {
		some, err := s.Store.CountMembers(ctx, s.since(window), numbers...)
		if err != nil {
			return nil, err
		}
		for number, n := range some {
			counts[number] = n
		}
	}
	return counts, nil
}

// since returns the start of a window, the zero time without one.
func (s *Views) since(window view.Duration) time.Time {
	if window == 0 {
		return time.Time{}
	}
	return s.Now().Add(-time.Duration(window))
}

func viewOf(v readView, c access.Client, counts map[int64]int64) wire.ViewState {
	out := wire.ViewState{
		View: v.View, Definition: v.stored.Definition, Mine: v.isOwn(c), Changed: v.stored.Changed,
		Members: counts[v.stored.Number], Filled: v.stored.IsFilled(),
	}
	if v.err != nil {
		out.Problem = v.err.Error()
	}
	return out
}

// read returns a view that the client may read, or [storage.ErrNotFound].
func (s *Views) read(ctx context.Context, name string) (readView, error) {
	stored, err := storage.Views(s.Store).Get(ctx, name)
	v := readViewOf(stored)
	if err == nil && !v.mayRead(access.From(ctx)) {
		err = storage.ErrNotFound
	}
	if err != nil {
		return readView{}, fmt.Errorf("view %s: %w", name, err)
	}
	return v, nil
}

// Get returns one view.
func (s *Views) Get(ctx context.Context, in wire.ViewName) (wire.ViewState, error) {
	v, err := s.read(ctx, in.Name)
	if err != nil {
		return wire.ViewState{}, err
	}
	counts, err := s.count(ctx, []readView{v})
	return viewOf(v, access.From(ctx), counts), err
}

// Save adds or changes a view. A definition that can't be evaluated is a conflict.
func (s *Views) Save(ctx context.Context, in wire.SaveViewRequest) (wire.ViewState, error) {
	v, err := parsedView(in.Body, in.Name)
	if err != nil {
		return wire.ViewState{}, err
	}
	if v.Name != in.Name {
		return wire.ViewState{}, errorf(KindConflict, "the definition is that of view %s, not of %s", v.Name, in.Name)
	}
	if _, err := s.check(ctx, v); err != nil {
		return wire.ViewState{}, err
	}
	if err := s.checkSubscriptions(ctx, v); err != nil {
		return wire.ViewState{}, err
	}
	number, err := newNumber()
	if err != nil {
		return wire.ViewState{}, err
	}
	client := access.From(ctx)
	err = storage.Views(s.Store).Change(ctx, v.Name, func(stored *storage.View) (*storage.View, error) {
		next := storage.View{Name: v.Name, Number: number, Owner: client.ID}
		if stored != nil {
			if old := readViewOf(*stored); !old.isOwn(client) && !client.May(access.Admin) {
				return nil, errorf(KindConflict, "there is a view %s of someone else already: choose another name", v.Name)
			}
			next = *stored
		}
		if next.Definition != v.String() {
			next.Definition = v.String()
			// A clock that was set back must not make the change look like the one before.
			next.Changed = later(s.Now(), next.Changed)
		}
		return &next, nil
	})
	if errors.Is(err, storage.ErrTooMany) {
		err = errorf(KindConflict, "there are %d views, which is all there may be: remove one first", storage.MaxViews)
	}
	if err != nil {
		return wire.ViewState{}, err
	}
	if err := s.announce(ctx); err != nil {
		return wire.ViewState{}, err
	}
	return s.Get(ctx, wire.ViewName{Name: v.Name})
}

// checkSubscriptions returns a conflict if a stored view would be for its owner only while others subscribe to it.
func (s *Views) checkSubscriptions(ctx context.Context, v view.View) error {
	stored, err := storage.Views(s.Store).Get(ctx, v.Name)
	if errors.Is(err, storage.ErrNotFound) || v.Readers != view.Owner {
		return nil
	} else if err != nil {
		return err
	}
	isOthers := func(one storage.Subscription) bool { return !access.IsSame(one.Owner, stored.Owner) }
	others, err := s.subscribed(ctx, stored.Number, isOthers)
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return errorf(KindConflict, "%d subscriptions of others send the items of view %s: it can't be for you alone until these are removed", len(others), v.Name)
	}
	return s.endPushes(ctx, stored.Number, isOthers)
}

// endPushes removes the WebSub subscribers of a view that meet a condition. They subscribe by themselves, so that the owner of the view
// can't remove them first.
func (s *Views) endPushes(ctx context.Context, number int64, is func(storage.Subscription) bool) error {
	all, err := storage.Subscriptions(s.Store).List(ctx)
	for _, one := range all {
		if one.Channel == deliver.WebSub && slices.Contains(one.Views, number) && is(one) {
			if e := storage.Subscriptions(s.Store).Remove(ctx, one.ID); !errors.Is(e, storage.ErrNotFound) {
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

// later returns now, or a time just after the other one if that is later.
func later(now, other time.Time) time.Time {
	if now.After(other) {
		return now
	}
	return other.Add(time.Microsecond)
}

// newNumber returns the number of a new view. Of a hundred thousand views, two have the same with a probability of 1 in 10^9.
func newNumber() (int64, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(random[:])>>1) | 1, nil
}

// announce makes the process that evaluates views load them again.
func (s *Views) announce(ctx context.Context) error {
	return storage.Notes(s.Store).Put(ctx, storage.Fence{}, storage.ViewsChanged, []byte(nuid.Next()))
}

// parsedView returns the view of a setting. A view in JSON need not repeat its name.
func parsedView(in wire.ViewSetting, name string) (v view.View, err error) {
	switch {
	case (in.Definition == "") == (in.View == nil):
		return v, errorf(KindConflict, "a view is given either as definition or as view")
	case in.View != nil:
		v = *in.View
		v.Name = cmp.Or(v.Name, name)
		err = v.Check()
	default:
		v, err = view.Parse(in.Definition)
	}
	if err != nil {
		return v, errorf(KindConflict, "%v", err)
	}
	return v, nil
}

// check returns the views that v reads, and those that they read, by name. A view that reads what does not exist, or what its
// readers may not read, is a conflict.
func (s *Views) check(ctx context.Context, v view.View) (map[string]readView, error) {
	if err := s.checkFeeds(ctx, v); err != nil {
		return nil, err
	}
	views, err := s.reachable(ctx, v)
	if err != nil {
		return nil, err
	}
	all := []view.View{v}
	for name, other := range views {
		if name != v.Name {
			all = append(all, other.View)
		}
	}
	if _, err := view.Order(all); err != nil {
		return nil, errorf(KindConflict, "%v", err)
	}
	for _, name := range v.Reads() {
		if other := views[name]; readersRank(v.Readers) > readersRank(other.Readers) {
			return nil, errorf(KindConflict, "view %s is for %s, but reads view %s, which is not: publish that one too", v.Name, v.Readers, name)
		}
	}
	return views, nil
}

func readersRank(r view.Readers) int {
	return slices.Index([]view.Readers{view.Owner, view.People, view.Everyone}, r)
}

// reachable returns the views that v reads, and those that they read, by name. Those that the client may not read are
// missing, unless another view that it may read reads them.
func (s *Views) reachable(ctx context.Context, v view.View) (map[string]readView, error) {
	found := map[string]readView{}
	client := access.From(ctx)
	var visit func(of view.View, isOwn bool) error
	visit = func(of view.View, isOwn bool) error {
		for _, name := range of.Reads() {
			if _, is := found[name]; is || name == v.Name {
				continue
			}
			stored, err := storage.Views(s.Store).Get(ctx, name)
			if errors.Is(err, storage.ErrNotFound) {
				continue // view.Order reports it
			}
			other := readViewOf(stored)
			switch {
			case err != nil:
				return err
			case isOwn && !other.mayRead(client):
				continue
			case other.err != nil:
				return errorf(KindConflict, "view %s can't be read: %v", name, other.err)
			}
			found[name] = other
			if err := visit(other.View, false); err != nil {
				return err
			}
		}
		return nil
	}
	return found, visit(v, true)
}

// checkFeeds returns a conflict if a view names a feed that does not exist.
func (s *Views) checkFeeds(ctx context.Context, v view.View) error {
	var ids []string
	for _, source := range v.From {
		if source.Kind == view.Feed {
			ids = append(ids, source.Value)
		}
	}
	where, err := v.Condition(s.Now())
	if err != nil {
		return errorf(KindConflict, "where: %v", err)
	}
	for n := range expression.Walk(where) {
		if f, is := n.(query.FieldEquals); is && f.Field == query.Feed {
			ids = append(ids, f.Value)
		}
	}
	for _, id := range ids {
		if _, err := s.Store.Feed(ctx, id); errors.Is(err, storage.ErrNotFound) {
			return errorf(KindConflict, "%q is no feed's ID: a view reads feeds by ID, which the page of a feed shows, by tag:NAME or by host:NAME", id)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Remove removes a view. If another view reads it, that is a conflict.
func (s *Views) Remove(ctx context.Context, in wire.ViewName) (wire.None, error) {
	v, err := s.read(ctx, in.Name)
	if err != nil {
		return wire.None{}, err
	}
	client := access.From(ctx)
	if !v.isOwn(client) && !client.May(access.Admin) {
		return wire.None{}, errorf(KindConflict, "view %s is that of someone else, who alone can remove it", in.Name)
	}
	all, err := storage.Views(s.Store).List(ctx)
	if err != nil {
		return wire.None{}, err
	}
	var readers []string
	for _, stored := range all {
		other := readViewOf(stored)
		if slices.Contains(other.Reads(), in.Name) {
			readers = append(readers, other.Name)
		}
	}
	if len(readers) > 0 {
		return wire.None{}, errorf(KindConflict, "view %s is read by %s: change or remove these first", in.Name, strings.Join(readers[:min(len(readers), 10)], ", "))
	}
	subscriptions, err := s.subscribed(ctx, v.stored.Number, func(storage.Subscription) bool { return true })
	if err != nil {
		return wire.None{}, err
	}
	if len(subscriptions) > 0 {
		return wire.None{}, errorf(KindConflict, "the items of view %s are sent by subscriptions %s: remove these first", in.Name, strings.Join(subscriptions[:min(len(subscriptions), 10)], ", "))
	}
	if err := s.endPushes(ctx, v.stored.Number, func(storage.Subscription) bool { return true }); err != nil {
		return wire.None{}, err
	}
	if err := storage.Views(s.Store).Remove(ctx, in.Name); err != nil {
		return wire.None{}, fmt.Errorf("view %s: %w", in.Name, err)
	}
	return wire.None{}, s.announce(ctx)
}

// subscribed returns the titles of the subscriptions to a view that meet a condition, without WebSub subscribers.
func (s *Views) subscribed(ctx context.Context, number int64, is func(storage.Subscription) bool) (titles []string, err error) {
	all, err := storage.Subscriptions(s.Store).List(ctx)
	for _, one := range all {
		if one.Channel != deliver.WebSub && slices.Contains(one.Views, number) && is(one) {
			titles = append(titles, one.Title)
		}
	}
	return titles, err
}

// bestMembers is the number of the newest members among which the best are found.
const bestMembers = 1000

// Items returns a page of the items of a view, in its order. Items that were removed since are skipped.
func (s *Views) Items(ctx context.Context, in wire.ListViewItemsRequest) (wire.ViewItems, error) {
	v, err := s.read(ctx, in.Name)
	if err != nil {
		return wire.ViewItems{}, err
	}
	at, err := viewCursorOf(in.Cursor, v)
	if err != nil {
		return wire.ViewItems{}, fmt.Errorf("view %s: %w", in.Name, err)
	}
	limit := in.Limit
	if v.Limit > 0 {
		limit = min(limit, v.Limit-at.Shown)
	}
	var page []storage.Member
	if v.Sort == view.Best {
		page, err = s.best(ctx, v, at.Shown, limit)
	} else {
		query := storage.MemberQuery{View: v.stored.Number, Since: s.since(v.Window), Oldest: v.Sort == view.Oldest}
		page, err = s.Store.ListMembers(ctx, query, storage.Member{ItemID: at.ItemID, Published: at.Published}, limit)
	}
	if err != nil {
		return wire.ViewItems{}, err
	}
	hits := make([]storage.Hit, len(page))
	for i, m := range page {
		hits[i].ID = m.ItemID
	}
	texts := map[string]string{}
	items, err := s.search.foundItems(ctx, hits, s.titles(ctx), newHighlighter(nil, false), texts)
	if err != nil {
		return wire.ViewItems{}, err
	}
	out := wire.ViewItems{Items: s.stillMatching(v, items, texts)}
	if at.Shown += len(page); len(page) == in.Limit && at.Shown != v.Limit {
		last := page[len(page)-1]
		at.ItemID, at.Published = last.ItemID, last.Published
		out.Next = storage.PackCursor(at)
	}
	return out, nil
}

// A viewCursor is the end of a page of a view.
type viewCursor struct {
	View      int64     `json:"v"`
	Shown     int       `json:"n"`
	Published time.Time `json:"t"`
	ItemID    string    `json:"i"`
}

func viewCursorOf(text string, v readView) (viewCursor, error) {
	at := viewCursor{View: v.stored.Number}
	if text == "" {
		return at, nil
	}
	if storage.UnpackCursor(text, &at) != nil || at.View != v.stored.Number || at.ItemID == "" || at.Shown < 0 {
		return at, storage.ErrBadCursor
	}
	return at, nil
}

// best returns the members at these positions, by the rank of their items among the newest bestMembers.
func (s *Views) best(ctx context.Context, v readView, from, limit int) ([]storage.Member, error) {
	newest, err := s.Store.ListMembers(ctx, storage.MemberQuery{View: v.stored.Number, Since: s.since(v.Window)}, storage.Member{}, bestMembers)
	if err != nil {
		return nil, err
	}
	ids := convert(newest, func(m storage.Member) string { return m.ItemID })
	items, err := s.Store.Items(ctx, ids...)
	if err != nil {
		return nil, err
	}
	coverage, err := s.search.coverage(ctx, items)
	if err != nil {
		return nil, err
	}
	rank := map[string]int{}
	for _, item := range items {
		indexed := storage.IndexItem{Item: item}
		if c := coverage[item.StoryID]; c != nil {
			indexed.Sources = c.Sources
		}
		rank[item.ID] = indexed.Prominence()
	}
	slices.SortStableFunc(newest, func(a, b storage.Member) int { return cmp.Compare(rank[b.ItemID], rank[a.ItemID]) })
	return newest[min(from, len(newest)):min(from+max(limit, 0), len(newest))], nil
}

// stillMatching returns the items that meet a condition on their age, which changes while they are in the view.
func (s *Views) stillMatching(v readView, items []wire.FoundItem, texts map[string]string) []wire.FoundItem {
	now := s.Now()
	where, err := v.Condition(now)
	after, _ := v.Condition(now.Add(time.Hour))
	if err != nil || reflect.DeepEqual(where, after) {
		return items
	}
	return slices.DeleteFunc(items, func(item wire.FoundItem) bool {
		return !query.Matches(where, storage.IndexItem{Item: item.Item, Text: texts[item.ID]}.Document())
	})
}

// Preview returns what a view would have, as the index finds it.
func (s *Views) Preview(ctx context.Context, in wire.PreviewViewRequest) (wire.ViewPreview, error) {
	v, err := parsedView(in.Body, "preview")
	if err != nil {
		return wire.ViewPreview{}, err
	}
	others, err := s.check(ctx, v)
	if err != nil {
		return wire.ViewPreview{}, err
	}
	q, err := members.Query(ctx, s.Store, v, func(name string) view.View { return others[name].View }, s.Now())
	if err != nil {
		return wire.ViewPreview{}, err
	}
	q.Newest, q.Limit, q.Facets, q.OnePerStory = true, storage.MaxLimit, true, v.Once == view.PerStory
	results, err := s.search.searchIndex(ctx, q)
	if err != nil {
		return wire.ViewPreview{}, err
	}
	preview := wire.ViewPreview{Definition: v.String(), Items: []wire.FoundItem{}, Days: []wire.Facet{}}
	if results.Fuzzy {
		return preview, nil
	}
	preview.Days = facets("day", results.Facets["day"], nil)
	texts := map[string]string{}
	items, err := s.search.foundItems(ctx, results.Hits, s.titles(ctx), newHighlighter(q.Where, false), texts)
	if err != nil {
		return wire.ViewPreview{}, err
	}
	preview.Searched = len(items)
	for _, other := range others {
		preview.Filling = preview.Filling || !other.stored.IsFilled()
	}
	preview.Items, err = s.selected(ctx, v, others, items, texts)
	return preview, err
}

// selected returns the items that a view would have, of those that its search found.
func (s *Views) selected(ctx context.Context, v view.View, others map[string]readView, items []wire.FoundItem, texts map[string]string) ([]wire.FoundItem, error) {
	found, byID := make([]members.Found, len(items)), make(map[string]wire.FoundItem, len(items))
	for i, item := range items {
		found[i], byID[item.ID] = members.Found{Item: item.Item, Text: texts[item.ID]}, item
	}
	var stored []storage.View
	for _, other := range others {
		stored = append(stored, other.stored)
	}
	selected, err := members.Select(ctx, s.Store, storage.View{Name: v.Name, Definition: v.String()}, stored, found, s.Now())
	return convert(selected, func(f members.Found) wire.FoundItem { return byID[f.ID] }), err
}

// retagged publishes a task for the views that read tags which a feed got or lost.
func (c *core) retagged(ctx context.Context, before, after []string) error {
	changed := append(without(before, after), without(after, before)...)
	if len(changed) == 0 {
		return nil
	}
	task := subjects.View{Index: subjects.Index{Reason: "tags " + nuid.Next(), IDs: []string{}}, Tags: changed}
	return subjects.Publish(ctx, c.Mesh, subjects.ViewQueue, task)
}

// without returns the words that are not among the others.
func without(words, others []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(others, word) })
}
