package near

import "slices"

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
