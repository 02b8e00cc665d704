package mesh

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"feedmesh/subjects"
)

// A Journal stores the schedule's states of feeds, many in a message: a state takes a tenth of the bytes that it would
// take as a message of its own, and the server keeps little in memory.
//
// A write appends an entry. Each entry is the value of a slot, a key of the schedule bucket, and replaces the entry that
// was there. States of the replaced entry that are still the newest of their feeds are written again with it, so each
// entry is whole and a crash loses nothing. The journal contains at most about twice the states of its feeds.
//
// Each partition of the schedule has a journal of its own. A journal has one owner, whose writes fail with [ErrStale] after
// another process wrote to it. Its methods must not be called concurrently.
//
// Source: M. Rosenblum, J. Ousterhout, The Design and Implementation of a Log-Structured File System, 1992.
type Journal struct {
	states
	partition int
	keys      string          // filter of the keys of its entries
	sequence  uint64          // of its newest message in the stream, 0 if there is none
	slots     []slot          // by number
	stored    int             // states in all slots
	slotOf    map[string]int  // by feed ID: number of the slot with its newest state
	removed   map[string]bool // feeds whose newest state is none

	lastDispatch *subjects.State // as it was written last, nil for none
}

// A slot describes an entry. An empty one is free.
type slot struct {
	feeds []string // IDs
	live  int      // states that are the newest of their feeds
}

const (
	// MaxEntry is the maximum number of states that are written as one entry, all or none.
	MaxEntry = 1000

	// minSlots bounds the messages of a journal, with one more for each feedsPerSlot feeds, and for the parts of entries that
	// exceed maxEntrySize.
	minSlots     = 512
	feedsPerSlot = MaxEntry / 4

	// maxEntrySize is the size from which on an entry is divided, below the maximum of a message.
	maxEntrySize = subjects.MaxMessage - 64<<10

	// maxGarbage is the number of outdated states that a journal may contain beside as many as it has feeds.
	maxGarbage = 1000
)

// slotKey returns the key of a slot of a partition.
func slotKey(partition, number int) string { return fmt.Sprintf("%d.%d", partition, number) }

// slotNumber returns the number of the slot with a key, of any partition.
func slotNumber(key string) (number int, ok bool) {
	partition, digits, ok := strings.Cut(key, ".")
	number, err := strconv.Atoi(digits)
	_, noPartition := strconv.Atoi(partition)
	return number, ok && err == nil && noPartition == nil && number >= 0
}

// A record is a state in an entry.
type record struct {
	FeedID string          `json:"id"`
	State  *subjects.State `json:"state"` // nil: the feed was removed
}

// An entry is the value of a slot: records as lines of JSON, compressed by Zstandard. The value of another key is a
// state alone, as JSON: versions before 2026-12 wrote one for each feed.
type entry []record

var (
	compressor = sync.OnceValue(func() *zstd.Encoder {
		e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(1<<20)) // valid options
		return e
	})
	decompressor = sync.OnceValue(func() *zstd.Decoder {
		d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxEntryBytes)) // valid options
		return d
	})
)

// maxEntryBytes bounds the size of an entry in memory.
const maxEntryBytes = 64 << 20

// marshal returns the value of a slot.
func (e entry) marshal() ([]byte, error) {
	var lines bytes.Buffer
	out := json.NewEncoder(&lines)
	out.SetEscapeHTML(false)
	for _, r := range e {
		if err := out.Encode(r); err != nil {
			return nil, fmt.Errorf("state of feed %s: %w", r.FeedID, err)
		}
	}
	return compressor().EncodeAll(lines.Bytes(), nil), nil
}

// A readEntry is a value that was read from the bucket.
type readEntry struct {
	text    []byte // not compressed
	records entry  // of the text, if all of them are needed
}

// UnmarshalBinary decompresses the value of a slot. Another value remains as it is.
func (e *readEntry) UnmarshalBinary(value []byte) (err error) {
	if e.text = value; !bytes.HasPrefix(value, []byte("{")) {
		e.text, err = decompressor().DecodeAll(value, nil)
	}
	return err
}

// decode decodes the records.
func (e *readEntry) decode(key string) error {
	if _, ok := slotNumber(key); !ok {
		r := record{FeedID: key, State: new(subjects.State)}
		e.records = entry{r}
		return errors.Join(json.Unmarshal(e.text, r.State), r.check())
	}
	for line := range bytes.Lines(e.text) {
		var r record
		if err := errors.Join(json.Unmarshal(line, &r), r.check()); err != nil {
			return err
		}
		e.records = append(e.records, r)
	}
	return nil
}

// find calls each for the records of some feeds and decodes no others. It returns the first error of an unreadable one.
func (e *readEntry) find(key string, wanted func(feedID []byte) bool, each func(record)) (failed error) {
	for text, id := range e.texts(key) {
		if !wanted(id) {
			continue
		}
		one := readEntry{text: text}
		if err := one.decode(key); err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		for _, r := range one.records {
			each(r)
		}
	}
	return failed
}

// texts yields the texts of the records with their feed IDs, nil for an unreadable one.
func (e *readEntry) texts(key string) iter.Seq2[[]byte, []byte] {
	return func(yield func(text, id []byte) bool) {
		if _, isSlot := slotNumber(key); !isSlot {
			yield(e.text, []byte(key))
			return
		}
		for line := range bytes.Lines(e.text) {
			if !yield(line, recordID(line)) {
				return
			}
		}
	}
}

// removal is the end of a record without a state.
var removal = []byte(`"state":null}`)

// decodeIDs decodes the feed IDs of the records, and which of the feeds were removed. The states are empty. A state alone is decoded.
func (e *readEntry) decodeIDs(key string) error {
	if _, isSlot := slotNumber(key); !isSlot {
		return e.decode(key)
	}
	present := new(subjects.State)
	for line, id := range e.texts(key) {
		if id == nil {
			return errors.New("record without a feed")
		}
		r := record{FeedID: string(id), State: present}
		if bytes.HasSuffix(bytes.TrimSpace(line), removal) {
			r.State = nil
		}
		e.records = append(e.records, r)
	}
	return nil
}

// recordID returns the feed ID of a record in a line, which is its first member; nil if there is none.
func recordID(line []byte) []byte {
	rest, found := bytes.CutPrefix(line, []byte(`{"id":"`))
	id, _, ends := bytes.Cut(rest, []byte(`"`))
	if !found || !ends {
		return nil
	}
	return id
}

func (r *record) check() error {
	switch {
	case r.FeedID == "":
		return errors.New("state without a feed")
	case r.State != nil && r.FeedID != lastDispatchKey && r.State.URL == "":
		return errors.New("state without a URL")
	}
	return nil
}

func (s states) entries() values[readEntry] {
	return values[readEntry]{client: s.client, bucket: subjects.ScheduleBucket, check: func(key string, e *readEntry) error { return e.decode(key) }}
}

// readStates returns the newest readable states, by feed ID.
func (s states) readStates(ctx context.Context) (map[string]*subjects.State, error) {
	feeds := map[string]*subjects.State{}
	err := s.entries().each(ctx, func(_ jetstream.KeyValueEntry, e *readEntry) { // in the order of their writes
		for _, r := range e.records {
			if feeds[r.FeedID] = r.State; r.State == nil {
				delete(feeds, r.FeedID)
			}
		}
	})
	delete(feeds, lastDispatchKey)
	return feeds, err
}

// findStates returns the newest states of feeds, by feed ID.
func (s states) findStates(ctx context.Context, feedIDs []string) (map[string]*subjects.State, error) {
	wanted := make(map[string]bool, len(feedIDs))
	for _, id := range feedIDs {
		wanted[id] = true
	}
	isWanted := func(id []byte) bool { return wanted[string(id)] }
	found := make(map[string]*subjects.State, len(feedIDs))
	entries := s.entries()
	entries.check = nil
	err := entries.each(ctx, func(kv jetstream.KeyValueEntry, e *readEntry) { // in the order of their writes
		_ = e.find(kv.Key(), isWanted, func(r record) { // the schedule moves unreadable ones to the quarantine
			if found[r.FeedID] = r.State; r.State == nil {
				delete(found, r.FeedID)
			}
		})
	})
	return found, err
}

// OpenJournal reads the journal of a partition of the schedule, one of so many, and calls each for the state of every feed, again
// if an entry proves unreadable. Such entries are moved to the quarantine: their feeds have the state of an earlier entry or none.
// What others write meanwhile may be missing; the first write then fails.
func (s states) OpenJournal(ctx context.Context, partition, partitions int, each func(subjects.FeedState)) (*Journal, error) {
	j := &Journal{states: s, partition: partition, keys: ">", slotOf: map[string]int{}, removed: map[string]bool{}}
	if partitions > 1 {
		j.keys = fmt.Sprintf("%d.>", partition)
	}
	var read []jetstream.KeyValueEntry // in the order of their writes
	entries, single := s.entries(), false
	entries.keys, entries.check = j.keys, func(key string, e *readEntry) error { return e.decodeIDs(key) }
	entries.deleted = func(kv jetstream.KeyValueEntry) { j.sequence = kv.Revision() }
	err := entries.load(ctx, func(kv jetstream.KeyValueEntry, e *readEntry) {
		j.sequence = kv.Revision()
		number, ok := slotNumber(kv.Key())
		if single = single || !ok; !ok {
			number = none
		}
		j.set(number, e.records)
		read = append(read, kv)
	})
	if err == nil && partition == 0 && partitions > 1 { // unreadable values beside the partitions, which no other reads
		beside := s.entries()
		beside.keys = "*"
		err = beside.load(ctx, func(jetstream.KeyValueEntry, *readEntry) {})
	}
	if err != nil {
		return nil, err
	}
	var all entry
	unreadable, err := j.decodeNewest(ctx, read, func(r record, written time.Time) {
		if single {
			all = append(all, r)
		}
		if r.FeedID == lastDispatchKey {
			j.lastDispatch = r.State
		} else {
			each(subjects.FeedState{FeedID: r.FeedID, State: r.State, Written: written})
		}
	})
	switch {
	case err != nil:
		return nil, err
	case unreadable: // without these entries others are the newest
		return s.OpenJournal(ctx, partition, partitions, each)
	case single:
		return j, j.convert(ctx, all)
	}
	return j, nil
}

// decodeNewest calls each for the newest state of every feed, in no order: outdated ones, up to half of the journal, are not decoded. It
// moves unreadable entries to the quarantine and reports whether there were any.
func (j *Journal) decodeNewest(ctx context.Context, read []jetstream.KeyValueEntry, each func(r record, written time.Time)) (unreadable bool, err error) {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0)) // most of the time of a start
	var mu sync.Mutex                     // protects unreadable and calls of each
	for i, kv := range read {
		group.Go(func() error {
			records, cause := j.newestIn(kv)
			read[i] = nil // frees its buffer
			mu.Lock()
			defer mu.Unlock()
			for _, r := range records {
				each(r, kv.Created())
			}
			if cause == nil {
				return nil
			}
			unreadable = true
			return j.entries().remove(ctx, kv, cause)
		})
	}
	err = group.Wait()
	return unreadable, err
}

// newestIn returns the readable records of an entry that are the newest of their feeds, and the first error of another one.
func (j *Journal) newestIn(kv jetstream.KeyValueEntry) (records entry, err error) {
	number, ok := slotNumber(kv.Key())
	if !ok {
		number = none
	}
	var e readEntry
	if err := e.UnmarshalBinary(kv.Value()); err != nil {
		return nil, err
	}
	newest := func(id []byte) bool {
		at, is := j.slotOf[string(id)]
		return is && at == number && !j.removed[string(id)]
	}
	err = e.find(kv.Key(), newest, func(r record) { records = append(records, r) })
	return records, err
}

// none is the slot of states that are not in an entry.
const none = -1

// convert writes all states as entries, and then removes what was there before.
func (j *Journal) convert(ctx context.Context, all entry) error {
	before, sequence := len(j.slots), j.sequence
	for some := range slices.Chunk(all, MaxEntry) {
		if err := j.write(ctx, len(j.slots), some); err != nil {
			return err
		}
	}
	for i := range before {
		j.set(i, nil)
	}
	stream, err := j.js.Stream(perRequestTimeout(ctx), "KV_"+subjects.ScheduleBucket)
	if err == nil {
		err = stream.Purge(perRequestTimeout(ctx), jetstream.WithPurgeSequence(sequence+1))
	}
	if err != nil {
		return fmt.Errorf("remove the states of an older version: %w", err)
	}
	return nil
}

// LastDispatch returns the state that names the last dispatched crawl tasks. Put writes it together with the states of
// their feeds.
func (j *Journal) LastDispatch() subjects.FeedState {
	last := subjects.FeedState{FeedID: lastDispatchKey, State: new(subjects.State)}
	if j.lastDispatch != nil {
		*last.State = *j.lastDispatch
	}
	return last
}

// Put writes states, each feed once, nil for a removed one; up to [MaxEntry] of them all or none. It calls current for other
// feeds whose states must be written again: it returns a copy of the newest state, or nil for a removed feed.
func (j *Journal) Put(ctx context.Context, all []subjects.FeedState, current func(feedID string) *subjects.State) error {
	for some := range slices.Chunk(all, MaxEntry) {
		records := make(entry, len(some))
		for i, f := range some {
			records[i] = record{f.FeedID, f.State}
		}
		if err := j.put(ctx, records, current); err != nil {
			return fmt.Errorf("write %d states: %w", len(some), err)
		}
	}
	return nil
}

func (j *Journal) put(ctx context.Context, records entry, current func(feedID string) *subjects.State) error {
	number := j.choose()
	if number < len(j.slots) {
		written := make(map[string]bool, len(records))
		for _, r := range records {
			written[r.FeedID] = true
		}
		for _, id := range j.slots[number].feeds {
			if at, ok := j.slotOf[id]; !ok || at != number || written[id] {
				continue
			}
			var state *subjects.State
			switch {
			case id == lastDispatchKey:
				state = j.lastDispatch
			case !j.removed[id]:
				state = current(id)
			case !j.containsBeside(number, id):
				continue // no older state remains
			}
			records = append(records, record{id, state})
		}
	}
	return j.write(ctx, number, records)
}

// choose returns the slot of the next entry: a free one as long as few states are outdated, otherwise the one that
// contains most outdated states for each state to write again, so that a write causes less than another on average. If
// all slots are used, it returns the one with the fewest states to write again.
func (j *Journal) choose() int {
	full := j.stored >= 2*len(j.slotOf)+maxGarbage
	if !full {
		for i := range j.slots {
			if len(j.slots[i].feeds) == 0 {
				return i
			}
		}
		if len(j.slots) < minSlots+len(j.slotOf)/feedsPerSlot {
			return len(j.slots)
		}
	}
	best := 0
	for i, s := range j.slots {
		b := j.slots[best]
		if full && s.live*len(b.feeds) < b.live*len(s.feeds) || !full && s.live < b.live {
			best = i
		}
	}
	return best
}

// write writes the entry of a slot.
func (j *Journal) write(ctx context.Context, number int, records entry) error {
	value, err := records.marshal()
	if err != nil {
		return err
	}
	if len(value) > maxEntrySize && len(records) > 1 {
		// The other half is first: the entry that is replaced may contain its states.
		if err := j.write(ctx, max(len(j.slots), number+1), records[len(records)/2:]); err != nil {
			return err
		}
		return j.write(ctx, number, records[:len(records)/2])
	}
	msg := nats.NewMsg(subjects.ValueKey(subjects.ScheduleBucket, slotKey(j.partition, number)))
	msg.Data = value
	msg.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(j.sequence, 10))
	msg.Header.Set("Nats-Expected-Last-Subject-Sequence-Subject", subjects.ValueKey(subjects.ScheduleBucket, j.keys))
	sequence, err := j.commit(ctx, msg)
	if err != nil {
		return err
	}
	j.sequence = sequence
	j.set(number, records)
	for _, r := range records {
		if r.FeedID == lastDispatchKey {
			j.lastDispatch = r.State
		}
	}
	return nil
}

// set records the states of a slot's entry.
func (j *Journal) set(number int, records entry) {
	for len(j.slots) <= number {
		j.slots = append(j.slots, slot{})
	}
	if number != none {
		for _, id := range j.slots[number].feeds {
			if at, ok := j.slotOf[id]; ok && at == number {
				delete(j.slotOf, id)
				delete(j.removed, id)
			}
		}
		j.stored -= len(j.slots[number].feeds)
		j.slots[number] = slot{}
	}
	for _, r := range records {
		if at, ok := j.slotOf[r.FeedID]; ok && at != none {
			j.slots[at].live--
		}
		j.slotOf[r.FeedID] = number
		if delete(j.removed, r.FeedID); r.State == nil {
			j.removed[r.FeedID] = true
		}
		if number != none {
			s := &j.slots[number]
			s.feeds = append(s.feeds, r.FeedID)
			s.live++
		}
	}
	if number != none {
		j.stored += len(records)
	}
}

// containsBeside reports whether another slot contains a state of a feed.
func (j *Journal) containsBeside(number int, feedID string) bool {
	for i, s := range j.slots {
		if i != number && slices.Contains(s.feeds, feedID) {
			return true
		}
	}
	return false
}
