// Package opml reads and writes lists of feeds: OPML as other readers export
// it, broken or not, and plain text with an address on each line. It knows
// nothing of what becomes of the feeds.
package opml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// MaxSize is the size of the largest list that is read, in bytes.
const MaxSize = 64 << 20

// A Feed is one feed of a list.
type Feed struct {
	URL   string
	Title string   // "" if the list has none
	Site  string   // address of the site it belongs to, "" if the list has none
	Tags  []string // names of the folders it is in, outermost first
	Line  int      // of the list, on which it ends; 1 is the first
}

// Read reads a list of feeds, in its order. A feed that the list has twice is
// there twice. The error says in words for the list's owner what is wrong with
// it; no list without feeds is read.
func Read(r io.Reader) ([]Feed, error) {
	decoded := transform.NewReader(io.LimitReader(r, MaxSize+1), unicode.BOMOverride(transform.Nop))
	body, err := io.ReadAll(decoded)
	if err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	if len(body) > MaxSize {
		return nil, fmt.Errorf("the list is larger than %d MB", MaxSize>>20)
	}
	var feeds []Feed
	switch start := bytes.TrimLeft(body, " \t\r\n"); {
	case len(start) == 0:
		return nil, errors.New("the list is empty")
	case start[0] == '<':
		feeds, err = readOPML(body)
	case start[0] == '{' || start[0] == '[':
		return nil, whatJSON(start)
	default:
		feeds, err = readText(body)
	}
	if err == nil && len(feeds) == 0 {
		err = errors.New("no feed addresses in it")
	}
	if err != nil {
		return nil, err
	}
	return feeds, nil
}

// whatXML says what a document other than OPML is, or returns nil.
func whatXML(body []byte) error {
	d := newDecoder(body)
	for {
		token, err := d.RawToken()
		if err != nil {
			return errors.New("this is not OPML: it has no elements")
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch strings.ToLower(root.Name.Local) {
		case "opml", "outline", "body":
			return nil
		case "html", "head", "script", "div", "meta":
			return errors.New("this is a web page, not OPML")
		case "rss", "feed", "rdf":
			return errors.New("this is a feed, not a list of feeds: add its address instead")
		default:
			return fmt.Errorf("this is not OPML: its root element is <%.64s>", root.Name.Local)
		}
	}
}

// whatJSON says what a JSON document is.
func whatJSON(body []byte) error {
	if bytes.Contains(body[:min(len(body), 4<<10)], []byte("jsonfeed.org")) {
		return errors.New("this is a feed, not a list of feeds: add its address instead")
	}
	return errors.New("this is JSON, not OPML")
}
