package classify

import (
	"fmt"

	"feedmesh/classify/rule"
)

// actionReasons returns a sentence for each matched rule with the given action, for example `starred: "helm"
// in title (mine.rules:2)`.
func (r *Rules) actionReasons(what string, does rule.ActionKind, matched []RuleMatch) []string {
	places := make(map[string]bool)
	for i := range r.rules {
		if r.rules[i].action == does {
			places[r.infos[i].place] = true
		}
	}
	var why []string
	for _, f := range matched {
		if places[f.Rule] && len(why) < maxReasons {
			why = append(why, fmt.Sprintf("%s: %s (%s)", what, f.describe(), f.Rule))
		}
	}
	return why
}

const maxReasons = 3 // for each action
