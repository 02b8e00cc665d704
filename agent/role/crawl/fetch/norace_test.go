//go:build !race

package fetch

// raced reports whether the race detector is on, which slows tests down.
const raced = false
