package fever

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/web/greader"
	"feedmesh/storage"
)

const (
	pageSize  = 50      // items in an answer, which the protocol defines
	itemBatch = 25      // items loaded from the store in a batch, which bounds memory
	maxListed = 100_000 // numbers in a list, the newest: 700 KB
)

type item struct {
	ID      int64  `json:"id"`
	FeedID  int64  `json:"feed_id"`
	Title   string `json:"title"`
	Author  string `json:"author"`
	HTML    string `json:"html"`
	URL     string `json:"url"`
	IsSaved int    `json:"is_saved"`
	IsRead  int    `json:"is_read"`
	Created int64  `json:"created_on_time"` // seconds since 1970
}

const (
	allInterval = time.Hour // between two searches among all items of a month for those that have no number
	recent      = time.Hour // before the last search; earlier items that were stored since are numbered within allInterval
)

// numberItems numbers the items that have arrived since the last call.
func (s *server) numberItems(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	since, all := s.numbered.Add(-recent), false
	if age := now.Sub(s.complete); age < 0 || age >= allInterval {
		since, all = reading.UnreadSince(now), true
	}
	if err := s.store.NumberItems(ctx, since); err != nil {
		return err
	}
	if s.numbered = now; all {
		s.complete = now
	}
	return nil
}

// addUnread adds the numbers of the unread items.
func (s *server) addUnread(ctx context.Context, members map[string]any) error {
	no := false
	return s.addNumbers(ctx, members, "unread_item_ids", storage.MarkQuery{Read: &no, From: reading.UnreadSince(s.now())})
}

// addSaved adds the numbers of the starred items.
func (s *server) addSaved(ctx context.Context, members map[string]any) error {
	yes := true
	return s.addNumbers(ctx, members, "saved_item_ids", storage.MarkQuery{Starred: &yes})
}

// addNumbers adds the numbers of the newest items that match a query, in ascending order.
func (s *server) addNumbers(ctx context.Context, members map[string]any, name string, q storage.MarkQuery) error {
	if err := s.numberItems(ctx); err != nil {
		return err
	}
	marked, err := s.store.ListMarked(ctx, access.From(ctx).ID, q, storage.MarkedItem{}, maxListed)
	if err != nil {
		return err
	}
	ids := make([]string, len(marked))
	for i, m := range marked {
		ids[len(marked)-1-i] = m.ItemID // the oldest first: those without a number get one in this order
	}
	byID, err := s.store.SerialsOf(ctx, ids...)
	if err != nil {
		return err
	}
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = byID[id]
	}
	slices.Sort(numbers)
	members[name] = joined(numbers)
	return nil
}

// sendItems sends an answer with a page of items: those with the numbers of with_ids, or after since_id, or before max_id.
// An app that has no items yet sends max_id=0, which requests the newest, or since_id=0.
func (s *server) sendItems(ctx context.Context, w http.ResponseWriter, p url.Values, members map[string]any) error {
	if err := s.numberItems(ctx); err != nil {
		return err
	}
	serials, err := s.page(ctx, p)
	if err != nil {
		return err
	}
	if members["total_items"], err = s.store.CountSerials(ctx); err != nil {
		return err
	}
	head, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return greader.SendList(w, strings.TrimSuffix(string(head), "}")+`,"items":[`, "]}", func(send func(any) error) error {
		for some := range slices.Chunk(serials, itemBatch) {
			items, err := s.items(ctx, some)
			if err != nil {
				return err
			}
			for _, i := range items {
				if err := send(i); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// page returns the numbers of the requested items.
func (s *server) page(ctx context.Context, p url.Values) ([]storage.Serial, error) {
	if p.Has("with_ids") {
		numbers, err := numbersIn(p.Get("with_ids"))
		if err != nil {
			return nil, err
		}
		names, err := s.store.NamesOf(ctx, numbers...)
		page := make([]storage.Serial, 0, len(names))
		for _, n := range numbers {
			if name, is := names[n]; is {
				page = append(page, storage.Serial{Number: n, Name: name})
			}
		}
		return page, err
	}
	after, err := number(p, "since_id")
	if err != nil {
		return nil, err
	}
	var before int64
	if p.Has("max_id") && !p.Has("since_id") {
		if before, err = number(p, "max_id"); err != nil {
			return nil, err
		}
		if before == 0 {
			before = newest
		}
	}
	return s.store.ListSerials(ctx, after, before, pageSize)
}

// newest exceeds all numbers.
const newest = 1<<63 - 1

// number returns a parameter, 0 if it is absent or empty.
func number(p url.Values, name string) (int64, error) {
	text := strings.TrimSpace(p.Get(name))
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &requestError{name + " is not a number"}
	}
	return max(n, 0), nil
}

// numbersIn parses the numbers of at most a page of items, each once.
func numbersIn(list string) (numbers []int64, err error) {
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, &requestError{"with_ids is not a list of numbers"}
		}
		if !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
		if len(numbers) == pageSize {
			break
		}
	}
	return numbers, nil
}

// items returns the items with these numbers that still exist, in their order.
func (s *server) items(ctx context.Context, serials []storage.Serial) ([]item, error) {
	ids, feeds, marks := make([]string, len(serials)), []string{}, map[string]storage.MarkedItem{}
	for i, n := range serials {
		ids[i] = n.Name
	}
	marked, err := s.store.MarksOf(ctx, access.From(ctx).ID, ids...)
	if err != nil {
		return nil, err
	}
	for _, m := range marked {
		marks[m.ItemID] = m
		feeds = append(feeds, storage.FeedSerial(m.FeedID))
	}
	slices.Sort(feeds)
	numbers, err := s.store.SerialsOf(ctx, slices.Compact(feeds)...)
	if err != nil {
		return nil, err
	}
	stored, err := s.store.Items(ctx, ids...)
	if err != nil {
		return nil, err
	}
	byID := map[string]storage.Item{}
	for _, i := range stored {
		byID[i.ID] = i
	}
	since, all := reading.UnreadSince(s.now()), []item{}
	for _, n := range serials {
		i, exists := byID[n.Name]
		m, isMarked := marks[n.Name]
		if !exists || !isMarked {
			continue // removed meanwhile, or no item
		}
		all = append(all, item{
			ID: n.Number, FeedID: numbers[storage.FeedSerial(m.FeedID)], Title: greader.AsHTML(i.Title), Author: greader.AsHTML(i.Author), HTML: i.HTML,
			URL: storage.WebURL(i.URL), IsSaved: asInt(m.Starred), IsRead: asInt(m.Read || m.FirstSeen.Before(since)), Created: i.Time().Unix(),
		})
	}
	return all, nil
}

func asInt(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
