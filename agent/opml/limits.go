package opml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
)

// Limits of a list in XML. Lists of other readers have at most some 10,000 feeds and two levels of folders.
const (
	maxDepth    = 256     // nested elements
	maxElements = 100_000 // folders and feeds
	maxToken    = 1 << 20 // bytes of a tag with its attributes, a text or a comment
	maxFolders  = 32      // nested folders that become tags
	maxQuotes   = 1 << 20 // quotes in attributes that repair examines
)

// errTooLarge is the error of lists beyond the limits.
var errTooLarge = errors.New("the list is too large")

// checkLimits returns an error if an element is nested too deep or there are too many.
func checkLimits(d *xml.Decoder, depth, elements int) error {
	line, _ := d.InputPos()
	switch {
	case depth > maxDepth:
		return fmt.Errorf("%w: line %d is nested more than %d levels deep", errTooLarge, line, maxDepth)
	case elements > maxElements:
		return fmt.Errorf("%w: it has more than %d elements, split it at line %d", errTooLarge, maxElements, line)
	}
	return nil
}

// A tokenReader fails if a token has more than maxToken bytes, which the decoder would collect in memory.
type tokenReader struct {
	*bytes.Reader
	read int // bytes since the token began
}

func (r *tokenReader) ReadByte() (byte, error) {
	if r.read++; r.read > maxToken {
		return 0, fmt.Errorf("%w: a tag, a text or a comment has more than %d MB", errTooLarge, maxToken>>20)
	}
	return r.Reader.ReadByte()
}

// Read is called instead of ReadByte for lists in other encodings than UTF-8, for some KB at a time.
func (r *tokenReader) Read(b []byte) (int, error) {
	if r.read > maxToken {
		_, err := r.ReadByte()
		return 0, err
	}
	n, err := r.Reader.Read(b)
	r.read += n
	return n, err
}
