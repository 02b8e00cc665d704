package api

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// The states that feeds may be looked for by. A feed has one of the first four,
// and may be due or polling besides.
const (
	StateOK      = "ok"      // its last poll went well
	StateFailing = "failing" // its last poll failed
	StateGone    = "gone"    // polled no more, at its host's wish
	StateNew     = "new"     // its first poll has not ended
	StateDue     = "due"     // its next poll should have begun
	StatePolling = "polling" // being polled now
)

// FeedStates lists them, those first that a person should see first.
var FeedStates = []string{StateFailing, StateGone, StateNew, StateDue, StatePolling, StateOK}

// idLength is how many bytes the ID of a feed has.
const idLength = 26

// A standing is what is remembered of a feed's state: 40 bytes, so that a million
// feeds take 40 MB, and twice as much while they are read anew.
type standing struct {
	next     uint32 // Unix seconds; 0: never
	failures uint16
	status   uint16 // HTTP
	class    uint8  // index of the classes of the standings; 0: no error
	tier     uint8  // index of [subjects.Tiers]
	outcome  uint8  // index of the outcomes of the standings
	polled   bool
	gone     bool
	out      bool
	id       [idLength]byte
}

// standings are those of all feeds that the schedule knows, ordered by ID.
type standings struct {
	feeds   []standing
	classes []string // of errors; the first is ""
	at      time.Time
	counts  subjects.Counts

	outcomes []string // of last polls
}

// A summary has the standings of late. Reading them means to read the state of
// every feed, so that is done at most every two seconds, and takes at most a
// twentieth of the time.
type summary struct {
	mu    sync.Mutex
	stale time.Time // when they are read anew
	last  *standings

	tags      []storage.TagCount // likewise
	tagsStale time.Time
}

const (
	summaryAge   = 2 * time.Second
	summaryShare = 20
)

func (c *summary) get(ctx context.Context, m Mesh, now time.Time) (*standings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last != nil && now.Before(c.stale) {
		return c.last, nil
	}
	began := time.Now()
	fresh, err := readStandings(ctx, m, now)
	if err != nil {
		return nil, err
	}
	c.last, c.stale = fresh, now.Add(max(summaryAge, summaryShare*time.Since(began)))
	return fresh, nil
}

// tagsAge is how old the counts of tags may be: counting them reads all feeds.
const tagsAge = 10 * time.Second

// tagsOf returns the most used tags of a store.
func (c *summary) tagsOf(ctx context.Context, store storage.FeedFinder, now time.Time) ([]storage.TagCount, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.tagsStale) {
		return c.tags, nil
	}
	tags, err := store.FeedTags(ctx, maxTags)
	if err == nil {
		c.tags, c.tagsStale = append([]storage.TagCount{}, tags...), now.Add(tagsAge)
	}
	return c.tags, err
}

// readStandings reads the state of every feed.
func readStandings(ctx context.Context, m Mesh, now time.Time) (*standings, error) {
	all := &standings{at: now}
	var classes, outcomes naming
	err := m.LoadStates(ctx, func(f subjects.FeedState) {
		s := f.State
		one := standing{
			failures: uint16(min(s.Failures, math.MaxUint16)), status: uint16(max(s.Status, 0)), tier: uint8(max(slices.Index(subjects.Tiers, s.Tier), 0)),
			polled: !s.Polled.IsZero(), gone: s.Outcome == subjects.Gone, out: s.Crawl != "",
		}
		if !s.Next.IsZero() {
			one.next = uint32(max(s.Next.Unix(), 1))
		}
		one.outcome, one.class = outcomes.number(string(s.Outcome)), classes.number("")
		if s.Failures > 0 {
			one.class = classes.number(s.Class)
		}
		copy(one.id[:], f.FeedID)
		all.feeds = append(all.feeds, one)
		all.counts.Add(s, 1)
	})
	slices.SortFunc(all.feeds, func(a, b standing) int { return bytes.Compare(a.id[:], b.id[:]) })
	all.classes, all.outcomes = classes.names, outcomes.names
	return all, err
}

// A naming has numbers for names. The zero value has none.
type naming struct {
	names   []string // by number; the first is ""
	numbers map[string]uint8
}

// number returns the number of a name: 0 for "", and for the 256th name and all
// after it, of which there are none by far.
func (n *naming) number(name string) uint8 {
	if n.numbers == nil {
		n.names, n.numbers = []string{""}, map[string]uint8{"": 0}
	}
	number, is := n.numbers[name]
	if !is && len(n.names) <= math.MaxUint8 {
		number = uint8(len(n.names))
		n.names, n.numbers[name] = append(n.names, name), number
	}
	return number
}

// ID returns the ID of the feed.
func (s *standing) ID() string { return string(bytes.TrimRight(s.id[:], "\x00")) }

// of returns the standing of a feed; nil if the schedule does not know it.
func (all *standings) of(id string) *standing {
	var key [idLength]byte
	copy(key[:], id)
	at, is := slices.BinarySearchFunc(all.feeds, key, func(s standing, key [idLength]byte) int { return bytes.Compare(s.id[:], key[:]) })
	if !is {
		return nil
	}
	return &all.feeds[at]
}

// is reports whether a feed is in one of [FeedStates].
func (all *standings) is(s *standing, state string) bool {
	switch state {
	case StateGone:
		return s.gone
	case StateFailing:
		return s.failures > 0 && !s.gone
	case StateNew:
		return !s.polled
	case StateOK:
		return s.polled && s.failures == 0 && !s.gone
	case StateDue:
		return s.next > 0 && !s.out && int64(s.next) <= all.at.Unix()
	case StatePolling:
		return s.out
	}
	return false
}

// matches reports whether a feed is as a filter wants it.
func (all *standings) matches(f FeedFilter, s *standing) bool {
	return s != nil && (f.State == "" || all.is(s, f.State)) &&
		(f.Class == "" || all.classes[s.class] == f.Class) && (f.Tier == "" || subjects.Tiers[s.tier] == f.Tier)
}

// matching returns the IDs of the feeds that are as a filter wants them, at most
// one more than limit.
func (all *standings) matching(f FeedFilter, limit int) []string {
	ids := []string{}
	for i := range all.feeds {
		if all.matches(f, &all.feeds[i]) {
			if ids = append(ids, all.feeds[i].ID()); len(ids) > limit {
				break
			}
		}
	}
	return ids
}

// polls counts the feeds that were polled by what came of their last poll, those
// that were answered with an HTTP status, and of these those with 304.
func (all *standings) polls() (outcomes map[string]int64, answers, same int64) {
	outcomes = map[string]int64{}
	for i := range all.feeds {
		s := &all.feeds[i]
		if !s.polled {
			continue
		}
		outcomes[all.outcomes[s.outcome]]++
		if s.status != 0 {
			answers++
		}
		if s.status == http.StatusNotModified {
			same++
		}
	}
	return outcomes, answers, same
}

// A FeedCount says how many feeds have something in common.
type FeedCount struct {
	Name  string `json:"name"`
	Feeds int64  `json:"feeds"`
}

// tally counts the feeds by their states, the classes of their errors, and tiers.
// Classes come most frequent first.
func (all *standings) tally() (states, classes, tiers []FeedCount) {
	inState, inTier := make([]int64, len(FeedStates)), make([]int64, len(subjects.Tiers))
	ofClass := map[string]int64{}
	for i := range all.feeds {
		s := &all.feeds[i]
		for j, state := range FeedStates {
			if all.is(s, state) {
				inState[j]++
			}
		}
		inTier[s.tier]++
		if s.class != 0 {
			ofClass[all.classes[s.class]]++
		}
	}
	for j, state := range FeedStates {
		states = append(states, FeedCount{state, inState[j]})
	}
	for j, tier := range subjects.Tiers {
		tiers = append(tiers, FeedCount{tier, inTier[j]})
	}
	classes = []FeedCount{}
	for _, class := range slices.Sorted(maps.Keys(ofClass)) {
		classes = append(classes, FeedCount{class, ofClass[class]})
	}
	slices.SortStableFunc(classes, func(a, b FeedCount) int { return cmp.Compare(b.Feeds, a.Feeds) })
	return states, classes, tiers
}
