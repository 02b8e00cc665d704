//go:build faults

package subjects

import (
	"os"
	"strconv"
)

// Schema is what it is without the tag "faults", or, to test how two versions
// get on, as many ahead of that as FEEDMESH_SCHEMA_AHEAD says.
var Schema = 3 + ahead()

func ahead() int {
	n, err := strconv.Atoi(os.Getenv("FEEDMESH_SCHEMA_AHEAD"))
	if err != nil {
		return 0
	}
	return n
}
