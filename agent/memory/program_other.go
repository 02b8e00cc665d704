//go:build !linux

package memory

// forgetProgram gives nothing back: where there is no /proc nobody says which pages
// are those of the program's file.
func forgetProgram() {}
