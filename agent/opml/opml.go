// Package opml reads and writes lists of feeds: OPML as other readers export it, even malformed, and plain
// text with a URL on each line. [Read] parses a list into [Feed] values, [Write] formats them as OPML. A list
// has at most [MaxSize] bytes.
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

// MaxSize is the maximum size of a list in bytes.
const MaxSize = 64 << 20

// A Feed is one feed of a list.
type Feed struct {
	URL   string
	Title string   // empty if the list has none
	Site  string   // URL of the feed's site, empty if the list has none
	Tags  []string // names of the folders around the feed, outermost first
	Line  int      // number of the line on which the feed's element ends, from 1
}

// Read parses a list of feeds, in the list's order and with its duplicates. Errors are worded for the owner
// of the list; a list without feeds is an error.
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
		return nil, jsonError(start)
	default:
		feeds, err = readText(body)
	}
	if err == nil && len(feeds) == 0 {
		err = errors.New("the list has no feed URLs")
	}
	if err != nil {
		return nil, err
	}
	return feeds, nil
}

// checkRoot returns an error that names the kind of document if its root element is not OPML.
func checkRoot(body []byte) error {
	d := newDecoder(&tokenReader{Reader: bytes.NewReader(body)})
	for {
		token, err := d.RawToken()
		if errors.Is(err, errTooLarge) {
			return err
		}
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
			return errors.New("this is a feed, not a list of feeds: add its URL instead")
		default:
			return fmt.Errorf("this is not OPML: its root element is <%.64s>", root.Name.Local)
		}
	}
}

// jsonError returns an error that names the kind of a JSON document.
func jsonError(body []byte) error {
	if bytes.Contains(body[:min(len(body), 4<<10)], []byte("jsonfeed.org")) {
		return errors.New("this is a feed, not a list of feeds: add its URL instead")
	}
	return errors.New("this is JSON, not OPML")
}
