package near

import "slices"

// A Sketch is what of an item's words is compared with other items: some 1 KB,
// made from the item alone, so that any agent can make it, and of which an [Index]
// keeps a part. The zero Sketch has no words.
type Sketch struct {
	Title    string // stripped and folded
	Stripped bool   // the title had a head or a tail that is not in Title
	Grams    int    // different 4-grams of Title
	Bands    []uint32

	Body
	Firsts []uint32 // the first shingles of the body, different ones, in order
	Posted []uint32 // hashes that others find the body by; at most 8
	Sought []uint32 // hashes that candidates are found by; at most 24, sorted
}

// Sketch makes the sketch of an item of its title and the first [MaxText] bytes of
// its plain text. It may be called concurrently. O(len(title) * Bands * Rows +
// bytes read).
func (s *Settings) Sketch(title, plain string) *Sketch {
	sketch := &Sketch{Title: s.strip(title)}
	sketch.Stripped = len(sketch.Title) < len(fold(title))
	set := make([]uint32, 0, len(sketch.Title)+1)
	grams(sketch.Title, func(g uint32) { set = append(set, g) })
	slices.Sort(set)
	set = slices.Compact(set)
	sketch.Grams = len(set)
	sketch.Bands = bandKeys(set, s.Bands, s.Rows)
	sketch.body(plain, s.MinBody)
	return sketch
}

// Meets reports whether an index that has other compares s with it, crowds apart:
// they share a band of the titles, or one of the hashes of the bodies that are
// posted.
func (s *Sketch) Meets(other *Sketch) bool {
	for i := range min(len(s.Bands), len(other.Bands)) {
		if s.Bands[i] == other.Bands[i] {
			return true
		}
	}
	for _, h := range other.Posted {
		if _, ok := slices.BinarySearch(s.Sought, h); ok {
			return true
		}
	}
	return false
}
