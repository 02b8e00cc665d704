//go:build unix

package bleve

import "golang.org/x/sys/unix"

// releaseMapped releases the pages of a file that is mapped for reading. A failure is harmless.
func releaseMapped(file []byte) {
	if len(file) > 0 {
		unix.Madvise(file, unix.MADV_DONTNEED)
	}
}
