package measure

import (
	"feedmesh/classify/story/across"
)

// RunAcross evaluates which pairs of items in different languages are predicted to be of one story: of the half that
// the comparison was tuned on, of the other half, and of all.
func RunAcross(pairs []Pair) []PairReport {
	halves := map[Half]*counted{Train: {}, Test: {}, All: {}}
	for _, p := range pairs {
		m := across.Compare(across.Read(p.A.Title, p.A.Language), across.Read(p.B.Title, p.B.Language))
		halves[p.half()].count(p.Same, m.Same)
		halves[All].count(p.Same, m.Same)
	}
	var list []PairReport
	for _, half := range []Half{Train, Test, All} {
		if halves[half].pairs > 0 {
			list = append(list, halves[half].report("ru-en, "+string(half)))
		}
	}
	return list
}

// count adds a pair that is of one story, or is predicted to be.
func (c *counted) count(same, predicted bool) {
	c.pairs++
	if same {
		c.same++
	}
	if predicted {
		c.predicted++
	}
	if same && predicted {
		c.right++
	}
}
