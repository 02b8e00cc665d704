package meilisearch

import (
	"strings"
	"testing"
)

func TestTokensBeginWhereStemsDo(t *testing.T) {
	stems := append(strings.Fields("q qu queen qaaaaab s sa za ъ ъъ объект об база баз c c+ c++ 2 22 22.1 東 東京 don't cафе é éa"), odd...)
	for _, m := range []mark{anyStem, titleStem, authorStem} {
		for _, a := range stems {
			for _, b := range stems {
				x, y := tokenOf(m, a), tokenOf(m, b)
				if short := len(a) < 30 && len(b) < 30; short && strings.HasPrefix(x, y) != strings.HasPrefix(a, b) {
					t.Errorf("the tokens of %q and %q are %q and %q, of which one begins with the other, or not, unlike them", a, b, x, y)
				}
				if (x == y) != (a == b) {
					t.Errorf("the tokens of %q and %q are %q and %q", a, b, x, y)
				}
				if z := tokenOf(pair, b); m != anyStem && strings.HasPrefix(x, tokenOf(anyStem, b)) || x == z {
					t.Errorf("the token %q of %q is one of %q with another mark", x, a, b)
				}
			}
			if token := tokenOf(m, a); len(token) > maxToken+20 || isStem(token) != (m == anyStem) {
				t.Errorf("the token of %.20q is %q", a, token)
			}
		}
	}
}
