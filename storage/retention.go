package storage

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Retention is the part of a [Store] that deletes old items in small batches.
//
// Protected items are never purged: items starred by a reader or by the rules, items that a reader labelled or wrote a
// note on, items whose labels a user corrected, and originals as long as one of their duplicates is stored, because readers see the original in its
// place.
//
// The store keeps the keys of purged items, some 20 bytes each, so that an entry that its feed still lists does
// not come back as a new item. A key is forgotten with its feed, or after [PurgedKeysKept] without a document that
// lists it.
type Retention interface {
	// ExpiredItems returns at most limit unprotected items that match the query, the oldest days of FirstSeen
	// first; with Newest, by Published, oldest first. after is the last item of the previous page, or the zero
	// ExpiredItem.
	ExpiredItems(ctx context.Context, query ExpiredQuery, after ExpiredItem, limit int) ([]ExpiredItem, error)

	// PurgeItems deletes a batch of items in one transaction, with their marks, spam records and job records, and
	// marks their stories dirty. Missing and protected items are left unchanged. It returns the IDs of the deleted
	// items. It returns [ErrFenced] under an outdated fence; then nothing is changed.
	PurgeItems(ctx context.Context, fence Fence, ids ...string) (purged []string, err error)

	// ReleaseSpace returns up to the given number of bytes of free space in the store's files to the file system,
	// and the number of bytes that it can release after that. The store retains some free space for new items. An
	// engine that cannot shrink its files in small steps returns 0.
	ReleaseSpace(ctx context.Context, bytes int64) (rest int64, err error)
}

// An ExpiredQuery selects items by age, by number, or both.
type ExpiredQuery struct {
	Before time.Time // first seen before
	Newest int       // of the single feed in Feeds, all but the newest by Published, then ID; 0: no limit
	Feeds  []string  // only items of these feeds; nil: of all
	Except []string  // no items of these feeds
}

// An ExpiredItem is an item that may be purged.
type ExpiredItem struct {
	ID, FeedID           string
	FirstSeen, Published time.Time
	Bytes                int64 // of its text
}

// PurgedHash is the hash that [Items.ItemHashes] returns for the key of a purged item.
const PurgedHash = "purged"

const (
	// PurgedKeysKept is the period without a document that lists a purged key, after which the key is forgotten.
	PurgedKeysKept = 180 * 24 * time.Hour

	// PurgedKeyRenewal is the interval at which a key that is still listed is noted again.
	PurgedKeyRenewal = 30 * 24 * time.Hour
)

// KeyNumber returns the number by which the key of a purged item is remembered: the first 64 bits of its hash. Among
// a million keys of a feed, the odds of two equal numbers are 1 in 37 million.
func KeyNumber(key string) int64 {
	hash := sha256.Sum256([]byte(key))
	return int64(binary.BigEndian.Uint64(hash[:]))
}

// KeysWithoutHash returns the keys that have no hash, by their [KeyNumber].
func KeysWithoutHash(keys []string, hashes map[string]string) map[int64]string {
	byNumber := map[int64]string{}
	for _, key := range keys {
		if _, stored := hashes[key]; !stored {
			byNumber[KeyNumber(key)] = key
		}
	}
	return byNumber
}

// MinKeep is the shortest age in a [Keep]. It exceeds the default window of duplicate detection, so that new items
// are never duplicates of purged ones.
const MinKeep = 7 * 24 * time.Hour

// A Keep limits the items of a feed that are kept, by age, by number, or both: an item that exceeds one of the limits
// is purged. The zero Keep has no limit.
type Keep struct {
	Age   time.Duration // since FirstSeen, in days; 0: no limit
	Items int           // number of items by Published, newest first; 0: no limit
}

// keepAll is the text of the zero Keep.
const keepAll = "all"

// ParseKeep parses a limit: an age such as "90d", a number of items such as "1000", both as in "90d,1000", or "all".
func ParseKeep(text string) (k Keep, err error) {
	if text == keepAll {
		return Keep{}, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		days, isAge := strings.CutSuffix(part, "d")
		n, err := strconv.Atoi(days)
		switch {
		case err != nil || n <= 0 || n > math.MaxInt32 || isAge && k.Age != 0 || !isAge && k.Items != 0:
			return Keep{}, fmt.Errorf("%q is not a limit; write 90d, 1000 (items of a feed), 90d,1000 or all", text)
		case !isAge:
			k.Items = n
		case n > 100*366:
			return Keep{}, fmt.Errorf("%q is more than 100 years; write all", part)
		default:
			k.Age = time.Duration(n) * 24 * time.Hour
		}
	}
	if k.Age != 0 && k.Age < MinKeep {
		return Keep{}, fmt.Errorf("%q is less than %dd, the shortest age", text, MinKeep/(24*time.Hour))
	}
	return k, nil
}

// String returns the limit as [ParseKeep] reads it.
func (k Keep) String() string {
	var parts []string
	if k.Age > 0 {
		parts = append(parts, fmt.Sprintf("%dd", k.Age/(24*time.Hour)))
	}
	if k.Items > 0 {
		parts = append(parts, strconv.Itoa(k.Items))
	}
	return cmp.Or(strings.Join(parts, ","), keepAll)
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (k *Keep) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKeep(string(text))
	return err
}

// MarshalText implements [encoding.TextMarshaler].
func (k Keep) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
