package meilisearch

import (
	"strings"
	"testing"
)

func TestTokenOf_KeepsPrefixesOfStems(t *testing.T) {
	stems := append(strings.Fields("q qu queen qaaaaab s sa za ъ ъъ объект об база баз c c+ c++ 2 22 22.1 東 東京 don't cафе é éa"), unusualWords...)
	for _, m := range []tokenKind{anyStem, titleStem, authorStem} {
		for _, a := range stems {
			for _, b := range stems {
				x, y := tokenOf(m, a), tokenOf(m, b)
				if short := len(a) < 30 && len(b) < 30; short && strings.HasPrefix(x, y) != strings.HasPrefix(a, b) {
					t.Errorf("stems %q and %q: got tokens %q and %q, want the same prefix relation", a, b, x, y)
				}
				if (x == y) != (a == b) {
					t.Errorf("stems %q and %q: got tokens %q and %q, want equal tokens for equal stems only", a, b, x, y)
				}
				if z := tokenOf(pair, b); m != anyStem && strings.HasPrefix(x, tokenOf(anyStem, b)) || x == z {
					t.Errorf("got token %q of %q, which is a token of %q of another kind", x, a, b)
				}
			}
			if token := tokenOf(m, a); len(token) > maxToken+20 || isStem(token) != (m == anyStem) {
				t.Errorf("%.20q: got token %q", a, token)
			}
		}
	}
}
