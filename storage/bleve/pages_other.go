//go:build !unix

package bleve

// releaseMapped does nothing: the system removes pages from processes itself.
func releaseMapped([]byte) {}
