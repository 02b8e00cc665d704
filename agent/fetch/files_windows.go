package fetch

import "math"

// openFiles returns how many files and connections this process may have open:
// Windows sets no limit.
func openFiles() int { return math.MaxInt32 }
