package classify

import (
	"fmt"

	"feedmesh/classify/rule"
)

// because says which of the rules that fired did something, a sentence for each,
// as in `starred: "helm" in title (mine.rules:2)`.
func (r *Rules) because(what string, does rule.Do, fired []Fired) []string {
	places := make(map[string]bool)
	for i := range r.rules {
		if r.rules[i].does == does {
			places[r.notes[i].place] = true
		}
	}
	var why []string
	for _, f := range fired {
		if places[f.Rule] && len(why) < maxReasons {
			why = append(why, fmt.Sprintf("%s: %s (%s)", what, f.words(), f.Rule))
		}
	}
	return why
}

const maxReasons = 3 // for each action
