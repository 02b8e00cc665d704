package stem_test

import (
	"fmt"

	"feedmesh/classify/stem"
)

func ExampleWords() {
	for _, w := range stem.Words("The clusters are running node.js", "en") {
		fmt.Println(w.Pos, w.Stem)
	}
	// Output:
	// 1 cluster
	// 3 run
	// 4 node.js
}
