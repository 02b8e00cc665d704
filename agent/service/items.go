package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nuid"

	"feedmesh/agent/access"
	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/crawl/site"
	"feedmesh/agent/service/fulltext"
	"feedmesh/agent/wire"
	"feedmesh/classify/near"
	"feedmesh/classify/rule"
	"feedmesh/classify/spam"
	"feedmesh/classify/text"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// Items answers requests about items.
type Items struct {
	*core
	texts *fulltext.Fetcher
}

// Get returns one item with its text.
func (i *Items) Get(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	item, err := storage.ItemByID(ctx, i.Store, in.ID)
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	return i.viewOf(ctx, item), nil
}

// FetchText replaces the text of an item by the article of its page, and returns the item. If the page has none, the error
// states the reason, and the item is unchanged.
func (i *Items) FetchText(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	item, err := storage.ItemByID(ctx, i.Store, in.ID)
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	f, err := i.Store.Feed(ctx, item.FeedID)
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("feed of item %s: %w", in.ID, err)
	}
	made, err := i.texts.Text(ctx, access.From(ctx).ID, f, item)
	if err != nil {
		return wire.ItemView{}, noText(err)
	}
	if item, err = i.Store.SetText(ctx, item.ID, made); err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	if err := subjects.PublishChanged(ctx, i.Mesh, "full text "+nuid.Next(), []string{item.ID}, true); err != nil {
		// The comparison of store and index adds it later.
		i.Log.Warn("full text not queued for the index", "item_id", item.ID, "err", err)
	}
	return i.viewOf(ctx, item), nil
}

// noText returns the error for a user whose item gets no full text.
func noText(err error) error {
	if errors.Is(err, fulltext.ErrBusy) || errors.Is(err, fulltext.ErrRunning) {
		return errorf(KindBusy, "%v", err)
	}
	reason := err.Error()
	switch e := (*fetch.Error)(nil); {
	case errors.Is(err, site.ErrRobots):
		reason = "the robots.txt of the publisher does not allow programs to fetch the page, or is not available"
	case errors.As(err, &e):
		reason = "the page can't be fetched: " + strings.TrimSuffix(DescribeClass(string(e.Class), e.Status), ".")
	}
	return errorf(KindConflict, "no full text: %s", reason)
}

// Click counts clicks of readers on an item. They raise the rank of its story.
func (i *Items) Click(ctx context.Context, in wire.ClickItemRequest) (wire.None, error) {
	if err := i.Store.AddClicks(ctx, in.ID, in.Body.Count); err != nil {
		return wire.None{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	return wire.None{}, nil
}

// titles returns a function that returns feeds' titles and caches them. A feed without a title is named by
// its host.
func (c *core) titles(ctx context.Context) func(feedID string) string {
	cached := map[string]string{}
	return func(id string) string {
		title, ok := cached[id]
		if !ok {
			if f, err := c.Store.Feed(ctx, id); err == nil {
				title = f.Name()
			}
			cached[id] = title
		}
		return title
	}
}

// viewOf returns an item with the title of its feed.
func (c *core) viewOf(ctx context.Context, i storage.Item) wire.ItemView {
	return wire.ItemView{Item: i, FeedTitle: c.titles(ctx)(i.FeedID)}
}

// briefOf returns an item without its text.
func briefOf(i storage.Item, titles func(feedID string) string) wire.ItemBrief {
	published := i.Published
	if i.Assumed != "" {
		published = time.Time{}
	}
	return wire.ItemBrief{
		ID: i.ID, Title: i.Title, URL: i.URL, FeedID: i.FeedID, FeedTitle: titles(i.FeedID), Publisher: publisher(i, titles),
		Language: i.Language, Seen: i.FirstSeen, Published: published, Spam: i.Spam, StoryID: i.StoryID, EventID: i.EventID, StoryWhy: i.StoryReason,
		DuplicateOf: i.DuplicateOf, DuplicateBy: i.DuplicateBy, DuplicateScore: i.DuplicateScore, DuplicateWhy: i.DuplicateReason,
	}
}

// briefsOf returns items without their texts.
func briefsOf(items []storage.Item, titles func(feedID string) string) []wire.ItemBrief {
	return convert(items, func(i storage.Item) wire.ItemBrief { return briefOf(i, titles) })
}

// publisher returns the name of an item's publisher.
func publisher(i storage.Item, titles func(feedID string) string) string {
	if name := placement.Publisher(i); name != i.FeedID {
		return name
	}
	return titles(i.FeedID)
}

// firstID returns the ID of an item's original, or its own.
func firstID(i storage.Item) string {
	return cmp.Or(i.DuplicateOf, i.ID)
}

// Explain compares two items. It returns [storage.ErrNotFound] if either does not exist.
func (i *Items) Explain(ctx context.Context, in wire.ExplainItemsRequest) (wire.Explanation, error) {
	a, err := storage.ItemByID(ctx, i.Store, in.ID)
	if err != nil {
		return wire.Explanation{}, fmt.Errorf("item %s: %w", in.ID, err)
	}
	b, err := storage.ItemByID(ctx, i.Store, in.With)
	if err != nil {
		return wire.Explanation{}, fmt.Errorf("item %s: %w", in.With, err)
	}
	titles := i.titles(ctx)
	e := wire.Explanation{
		Item: briefOf(a, titles), With: briefOf(b, titles), Repeat: firstID(a) == firstID(b),
		SameEvent: a.EventID != "" && a.EventID == b.EventID, SameStory: a.StoryID != "" && a.StoryID == b.StoryID,
	}
	settings := near.Default()
	x, y := placement.Signature(a, text.PlainText(a.HTML), &settings), placement.Signature(b, text.PlainText(b.HTML), &settings)
	l := settings.Compare(x.Sketch, y.Sketch, a.FeedID == b.FeedID)
	e.Similarity = wire.Similarity{
		SamePage: x.URLKey != "" && x.URLKey == y.URLKey, SameText: x.TextHash != "" && x.TextHash == y.TextHash,
		Title: l.Title, Matrix: l.Matrix, Resemblance: l.Resemblance, Containment: l.Containment, By: l.By, Score: l.Score,
	}
	e.Sentences = append(repetition(e), comparison(e, l.Reason())...)
	e.Sentences = append(e.Sentences, belonging(e)...)
	return e, nil
}

// repetition states whether one item is a duplicate of the other, and the reason.
func repetition(e wire.Explanation) (words []string) {
	switch {
	case e.Item.DuplicateOf == e.With.ID:
		words = append(words, "The first item repeats the second.")
	case e.With.DuplicateOf == e.Item.ID:
		words = append(words, "The second item repeats the first.")
	case e.Repeat:
		words = append(words, "Both items repeat a third one, "+e.Item.DuplicateOf+".")
	default:
		words = append(words, "Neither item is held to repeat the other.")
	}
	for n, i := range []wire.ItemBrief{e.Item, e.With} {
		if i.DuplicateWhy != "" {
			words = append(words, fmt.Sprintf("Of the %s item this was found: %s.", ordinals[n], i.DuplicateWhy))
		}
	}
	return words
}

var ordinals = [2]string{"first", "second"}

// comparison states how similar the items are now.
func comparison(e wire.Explanation, why string) (words []string) {
	l := e.Similarity
	if l.SamePage {
		words = append(words, "Their addresses lead to one page.")
	}
	if l.SameText {
		words = append(words, "Their words are the same.")
	}
	if why != "" {
		return append(words, "Compared now, their words make them the same: "+why+".")
	}
	return append(words, fmt.Sprintf("Compared now, their words are not enough to make them the same: titles share %.0f %% of 4-grams, texts about %.0f %% of 4-word shingles.",
		100*l.Title, 100*max(l.Resemblance, l.Containment)))
}

// belonging states whether the items share a story, and the reasons.
func belonging(e wire.Explanation) (words []string) {
	switch {
	case e.SameEvent:
		words = append(words, "They are of one event.")
	case e.SameStory:
		words = append(words, "They are of one story, but of two events of it.")
	default:
		words = append(words, "They are of two stories.")
	}
	for n, i := range []wire.ItemBrief{e.Item, e.With} {
		if i.StoryWhy != "" {
			words = append(words, fmt.Sprintf("The %s item is in its event because: %s.", ordinals[n], i.StoryWhy))
		}
	}
	return words
}

// Corrections answers requests to correct the labels of items.
type Corrections struct{ *core }

// Label stores a person's correction of an item's labels and returns the item. Rules do not change corrected
// labels, and training uses them. An empty correction confirms the current labels.
func (c *Corrections) Label(ctx context.Context, in wire.LabelItemRequest) (wire.ItemView, error) {
	correction := storage.Correction{ItemID: in.ID, Spam: in.Body.Spam}
	var problems []FieldError
	if names := in.Body.Categories; names != nil {
		problems = append(problems, checkLabels("categories", *names, maxCategories)...)
		correction.Categories = append([]string{}, *names...)
	}
	if names := in.Body.Topics; names != nil {
		problems = append(problems, checkLabels("topics", *names, maxTopics)...)
		correction.Topics = append([]string{}, *names...)
	}
	if len(problems) > 0 {
		return wire.ItemView{}, &Error{KindInvalid, "the labels are invalid, nothing was changed", problems}
	}
	return c.store(ctx, correction)
}

// Unlabel deletes the corrections of an item. Its labels stay until rules are applied to it again.
func (c *Corrections) Unlabel(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	item, err := c.Store.RemoveCorrection(ctx, in.ID)
	return c.corrected(ctx, item, in.ID, err)
}

const (
	maxLabel      = 64 // bytes of the name of a category or topic
	maxCategories = 3
	maxTopics     = 5
)

// checkLabels returns the errors in names of categories or topics.
func checkLabels(of string, names []string, most int) (problems []FieldError) {
	is := func(format string, args ...any) { problems = append(problems, fieldf("body."+of, format, args...)) }
	if len(names) > most {
		is("more than %d %s are given", most, of)
	}
	seen := map[string]bool{}
	for _, name := range names {
		switch {
		case !rule.IsLabel(name) || len(name) > maxLabel:
			is("%.70q in %s is not a name: use lower-case letters, digits and hyphens, at most %d", name, of, maxLabel)
		case seen[name]:
			is("%s is listed twice in %s", name, of)
		}
		seen[name] = true
	}
	return problems
}

// store stores a correction and queues the item for the index.
func (c *Corrections) store(ctx context.Context, correction storage.Correction) (wire.ItemView, error) {
	correction.At = c.Now()
	item, err := c.Store.Correct(ctx, correction)
	return c.corrected(ctx, item, correction.ItemID, err)
}

// corrected queues a corrected item for the index and returns it. If that fails, the whole request can be
// retried.
func (c *Corrections) corrected(ctx context.Context, item storage.Item, id string, err error) (wire.ItemView, error) {
	if err != nil {
		return wire.ItemView{}, fmt.Errorf("item %s: %w", id, err)
	}
	if err := subjects.PublishChanged(ctx, c.Mesh, "corrected "+nuid.Next(), []string{id}, false); err != nil {
		return wire.ItemView{}, err
	}
	return c.viewOf(ctx, item), nil
}

// Spam answers requests about spam.
type Spam struct {
	*core
	corrections *Corrections
}

// Report corrects an item to be spam, and returns it. Rules do not change this, and training uses it.
func (s *Spam) Report(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	is := true
	return s.corrections.store(ctx, storage.Correction{ItemID: in.ID, Spam: &is})
}

// Release corrects an item not to be spam, and returns it. Rules do not change this, and training uses it.
func (s *Spam) Release(ctx context.Context, in wire.ByID) (wire.ItemView, error) {
	is := false
	return s.corrections.store(ctx, storage.Correction{ItemID: in.ID, Spam: &is})
}

// List returns a page of spam, last judged first. It returns
// [storage.ErrBadCursor] for an invalid cursor.
func (s *Spam) List(ctx context.Context, in wire.ListSpamRequest) (wire.SpamPage, error) {
	after, err := spamAfter(in.Cursor)
	if err != nil {
		return wire.SpamPage{}, err
	}
	items, total, err := s.Store.ListSpam(ctx, storage.SpamQuery{FeedID: in.Feed}, after, in.Limit+1) // one more than shown, to detect that more exist
	if err != nil {
		return wire.SpamPage{}, fmt.Errorf("list spam: %w", err)
	}
	page := wire.SpamPage{Total: total}
	items, more := firstPage(items, in.Limit)
	if more {
		last := items[in.Limit-1]
		page.Next = last.Judged.Format(time.RFC3339Nano) + "/" + last.ID
	}
	titles := s.titles(ctx)
	page.Items = convert(items, func(it storage.SpamItem) wire.SpamItem {
		it.HTML = ""
		return wire.SpamItem{Item: it.Item, FeedTitle: titles(it.FeedID), Judged: it.Judged}
	})
	return page, nil
}

// spamAfter returns the position of a cursor.
func spamAfter(cursor string) (after storage.SpamItem, err error) {
	if cursor == "" {
		return after, nil
	}
	judged, id, is := strings.Cut(cursor, "/")
	if after.Judged, err = time.Parse(time.RFC3339Nano, judged); err != nil || !is {
		return after, storage.ErrBadCursor
	}
	after.ID = id
	return after, nil
}

// spamSet is the rule set of the spam filter.
const spamSet = "spam"

// Lists returns the description of the spam filter in force.
func (s *Spam) Lists(ctx context.Context) (wire.SpamLists, error) {
	spec, err := s.ruleSetSpec(spamSet)
	if err != nil {
		return wire.SpamLists{}, err
	}
	set, err := s.versionText(ctx, spec, 0)
	if err != nil {
		return wire.SpamLists{}, err
	}
	filter, err := spam.Parse(set.Text)
	if err != nil {
		return wire.SpamLists{}, fmt.Errorf("version %d of rules %s can't be read by this program: %w", set.Version, spamSet, err)
	}
	return wire.SpamLists{Version: set.Version, Note: set.Note, Changed: set.Changed, Threshold: filter.Threshold()}, nil
}
