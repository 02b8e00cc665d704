package story

import (
	"slices"
	"testing"
)

// Many weights are equal, or none, up to the maximum number of an event.
func TestPacked_RoundTrip(t *testing.T) {
	for _, different := range []int{1, 3, 100, maxTerms + slack} {
		for n := range maxTerms + slack + 1 {
			var v vector
			for i := range n {
				v = append(v, entry{uint32(2 + 3*i), 1 / float32(1+i%different)})
			}
			p := packed(nil).of(v)
			if got := p.unpack(nil); !slices.Equal(got, v) {
				t.Fatalf("%d terms of %d weights: got %v, want %v", n, different, got, v)
			}
			if n > 0 && (p.size() != len(p) || !p.has(v[n-1].term) || p.has(v[n-1].term+1)) {
				t.Fatalf("%d terms of %d weights: got size %d of %d, or terms that are not there", n, different, p.size(), len(p))
			}
		}
	}
}
