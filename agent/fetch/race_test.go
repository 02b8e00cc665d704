//go:build race

package fetch

// raced says that the race detector is on, which makes all slower.
const raced = true
