package near

// grams calls yield with the hash of each run of four characters of a folded title with a space before and
// after it, in order.
func grams(title string, yield func(uint32)) {
	a, b, c, n := ' ', ' ', ' ', 1
	next := func(d rune) {
		if n++; n >= 4 {
			x := uint64(a)<<48 ^ uint64(b)<<32 ^ uint64(c)<<16 ^ uint64(d)
			x *= 0x9e3779b97f4a7c15
			yield(uint32(x>>32) ^ uint32(x>>11))
		}
		a, b, c = b, c, d
	}
	for _, r := range title {
		next(r)
	}
	if title != "" {
		next(' ')
	}
}

// A gramSet is the set of 4-grams of one title, for comparison with other titles. The zero value is empty and
// ready to use.
type gramSet struct {
	grams [512]uint32 // hash table with linear probing; 0 is a free slot
	hit   [512]uint32 // number of the last comparison with this gram
	turn  uint32
	len   int
}

// fill replaces the set by the grams of a title.
func (s *gramSet) fill(title string) {
	*s = gramSet{}
	grams(title, func(g uint32) {
		if s.len >= len(s.grams)/2 {
			return
		}
		i := s.find(g)
		if s.grams[i] == 0 {
			s.grams[i] = key(g)
			s.len++
		}
	})
}

// key returns g, or 1 for 0, which marks a free slot.
func key(g uint32) uint32 {
	if g == 0 {
		return 1
	}
	return g
}

func (s *gramSet) find(g uint32) uint32 {
	g = key(g)
	i := (g ^ g>>16) & 511
	for s.grams[i] != 0 && s.grams[i] != g {
		i = (i + 1) & 511
	}
	return i
}

// jaccard returns the Jaccard coefficient of the set and a title of n distinct grams. O(len(title)).
func (s *gramSet) jaccard(title string, n int) float64 {
	s.turn++
	common := 0
	grams(title, func(g uint32) {
		if i := s.find(g); s.grams[i] != 0 && s.hit[i] != s.turn {
			s.hit[i] = s.turn
			common++
		}
	})
	if all := s.len + n - common; all > 0 {
		return float64(common) / float64(all)
	}
	return 0
}
