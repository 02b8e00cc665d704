package fetch

import "math"

// maxOpenFiles returns the process's limit of open files and connections. Windows has none.
func maxOpenFiles() int { return math.MaxInt32 }
