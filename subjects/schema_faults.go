//go:build faults

package subjects

import (
	"os"
	"strconv"
)

// Schema is the version without the build tag "faults" plus FEEDMESH_SCHEMA_AHEAD, to test two versions in
// one mesh.
var Schema = 4 + ahead()

func ahead() int {
	n, err := strconv.Atoi(os.Getenv("FEEDMESH_SCHEMA_AHEAD"))
	if err != nil {
		return 0
	}
	return n
}
