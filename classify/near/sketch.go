package near

import (
	"math"
	"slices"
	"time"
)

// A Signature contains the data by which an item is compared with others.
type Signature struct {
	ItemID   string
	FeedID   string
	URLKey   string // [URLKey] of the item's address; may be empty
	TextHash string // [TextHash] of its title and text; may be empty
	Seen     time.Time
	Sketch   *Sketch // of its title and text; may be nil.
}

// A Match names the original that an item duplicates. Callers derive event IDs from it.
type Match struct {
	DuplicateOf string // item ID of the original; empty for an original
	// By is the shared property: "text", "url", "title" or "body", or "hand" for a person's decision. It is
	// empty for an original, except after a manual split.
	By     string
	Score  float64 // strength of the match, 0 to 1
	Reason string  // explanation for people
}

// A Sketch represents an item's title and text for comparison: about 1 KB. It depends on the item alone, so
// that any worker can compute it; an [Index] stores a part of it. The zero Sketch has no words.
type Sketch struct {
	Title    string // stripped and folded
	Stripped bool   // a prefix or suffix of the title is not in Title
	Grams    int    // distinct 4-grams of Title
	Bands    []uint32

	Body
	LeadShingles []uint32 // the first distinct shingles of the body, in order
	IndexKeys    []uint32 // hashes under which the body is indexed; at most 8
	QueryKeys    []uint32 // hashes by which candidates are found; at most 24, sorted
}

// Sketch computes the sketch of an item from its title and the first [MaxText] bytes of its plain text. It is
// safe for concurrent use. O(len(title) * Bands * Rows + bytes read).
func (s *Settings) Sketch(title, plain string) *Sketch {
	sketch := &Sketch{Title: s.strip(title)}
	sketch.Stripped = len(sketch.Title) < len(fold(title))
	set := make([]uint32, 0, len(sketch.Title)+1)
	grams(sketch.Title, func(g uint32) { set = append(set, g) })
	slices.Sort(set)
	set = slices.Compact(set)
	sketch.Grams = len(set)
	sketch.Bands = bandKeys(set, s.Bands, s.Rows)
	sketch.body(plain, s.MinBodyWords)
	return sketch
}

// SharesKey reports whether an index that contains other compares s with it, if no key is too common: they
// share a title band or an indexed body hash.
func (s *Sketch) SharesKey(other *Sketch) bool {
	for i := range min(len(s.Bands), len(other.Bands)) {
		if s.Bands[i] == other.Bands[i] {
			return true
		}
	}
	for _, h := range other.IndexKeys {
		if _, ok := slices.BinarySearch(s.QueryKeys, h); ok {
			return true
		}
	}
	return false
}

// coefficients of the MinHash functions, from a fixed seed, so that signatures agree on all machines.
var coefficients = func() (c [maxMinima][2]uint64) {
	seed := uint64(0x6e656172)
	for i := range c {
		for j := range c[i] {
			seed += 0x9e3779b97f4a7c15
			c[i][j] = mix(seed) | 1
		}
	}
	return c
}()

// maxMinima bounds Bands * Rows.
const maxMinima = 256

// bandKeys returns the keys of the MinHash bands of a set: sets with Jaccard coefficient J share each with
// probability J^rows. It is nil for an empty set. O(len(set)*bands*rows).
//
// Source: A. Broder, On the resemblance and containment of documents, 1997; bands: P. Indyk, R. Motwani,
// Approximate nearest neighbors, 1998.
func bandKeys(set []uint32, bands, rows int) []uint32 {
	if len(set) == 0 {
		return nil
	}
	keys := make([]uint32, bands)
	for b := range keys {
		h := uint64(b)
		for r := range rows {
			c := &coefficients[b*rows+r]
			least := uint32(math.MaxUint32)
			for _, x := range set {
				least = min(least, uint32((uint64(x)*c[0]+c[1])>>32))
			}
			h = mix(h ^ uint64(least)<<8)
		}
		keys[b] = max(1, uint32(h)) // 0 means no key
	}
	return keys
}

// mix spreads the bits of x. It is the finalizer of MurmurHash3 and stable, so derived values may be stored.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// hash returns a hash of s that is equal on all machines: FNV-1a, mixed.
func hash[S string | []byte](s S) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}
