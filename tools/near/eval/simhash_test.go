package eval

import (
	"strings"
	"testing"
)

func TestSimHash_SimilarTextsHaveSmallDistance(t *testing.T) {
	words := strings.Fields(strings.Repeat("a b c d e f g h i j k l m n o p q r s t u v w x y z ", 4))
	a := SimHash(words)
	near, far := SimHash(append(words[1:], "other")), SimHash(strings.Fields("nothing of all that"))
	if HammingDistance(a, SimHash(words)) != 0 || HammingDistance(a, near) > 12 || HammingDistance(a, far) < 16 {
		t.Errorf("got distances %d and %d", HammingDistance(a, near), HammingDistance(a, far))
	}
}
