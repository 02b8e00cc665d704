package near

import "math"

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
