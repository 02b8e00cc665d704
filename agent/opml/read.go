package opml

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// readOPML parses a list in XML. If that fails it repairs the list and tries again.
func readOPML(body []byte) ([]Feed, error) {
	if err := checkRoot(body); err != nil {
		return nil, err
	}
	feeds, err := decode(body)
	if err != nil && !errors.Is(err, errTooLarge) {
		feeds, err = decode(repair(body))
	}
	if errors.Is(err, errTooLarge) {
		return nil, err
	}
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("parse the list at line %d: %s", syntax.Line, syntax.Msg)
	}
	if err != nil {
		return nil, fmt.Errorf("parse the list: %w", err)
	}
	return feeds, nil
}

// decode parses the outlines of a document.
func decode(body []byte) ([]Feed, error) {
	r := &tokenReader{Reader: bytes.NewReader(body)}
	d := newDecoder(r)
	var feeds []Feed
	var folders []string // names of the open outlines; empty for feeds
	for depth, elements := 0, 0; ; {
		r.read = 0
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return feeds, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth, elements = depth+1, elements+1
			if err := checkLimits(d, depth, elements); err != nil {
				return nil, err
			}
			if !strings.EqualFold(t.Name.Local, "outline") {
				continue
			}
			feed, folder := outlineOf(t.Attr)
			if feed.URL != "" {
				feed.Line, _ = d.InputPos()
				feed.Tags = tags(folders)
				feeds = append(feeds, feed)
				folder = ""
			}
			folders = append(folders, folder)
		case xml.EndElement:
			depth--
			if strings.EqualFold(t.Name.Local, "outline") {
				folders = folders[:len(folders)-1]
			}
		}
	}
}

// newDecoder returns a lenient decoder: a bare & is not an error.
func newDecoder(r io.Reader) *xml.Decoder {
	d := xml.NewDecoder(r)
	d.Strict, d.Entity, d.CharsetReader = false, xml.HTMLEntity, charsetReader
	return d
}

// outlineOf returns the feed of an outline, without a URL if the outline is a folder, and the folder's name.
func outlineOf(attributes []xml.Attr) (feed Feed, folder string) {
	var text string
	for _, a := range attributes {
		value := strings.TrimSpace(a.Value)
		switch strings.ToLower(a.Name.Local) {
		case "xmlurl":
			feed.URL = value
		case "htmlurl":
			feed.Site = value
		case "title":
			feed.Title = value
		case "text":
			text = value
		}
	}
	folder = text
	if folder == "" {
		folder = feed.Title
	}
	if feed.Title == "" && text != feed.URL {
		feed.Title = text
	}
	return feed, folder
}

// tags returns the names of the outermost folders, without duplicates.
func tags(folders []string) []string {
	var names []string
	for _, f := range folders[:min(len(folders), maxFolders)] {
		if f != "" && !slices.Contains(names, f) {
			names = append(names, f)
		}
	}
	return names
}

// charsetReader decodes a document's declared encoding. UTF-16 has been decoded already, by its byte order
// mark.
func charsetReader(label string, input io.Reader) (io.Reader, error) {
	if strings.HasPrefix(strings.ToLower(label), "utf-16") {
		return input, nil
	}
	return charset.NewReaderLabel(label, input)
}

// readText parses a list with a URL on each line. Empty lines, and text after a # at the start of a word, are
// ignored.
func readText(body []byte) ([]Feed, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("this is neither OPML nor a list of URLs")
	}
	var feeds []Feed
	line := 0
	for text := range strings.Lines(string(body)) {
		line++
		words := strings.Fields(text)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if !strings.ContainsAny(words[0], ".:") || len(words) > 1 && !strings.HasPrefix(words[1], "#") {
			return nil, fmt.Errorf("line %d is not a feed URL: %.100q", line, strings.TrimSpace(text))
		}
		feeds = append(feeds, Feed{URL: words[0], Line: line})
	}
	return feeds, nil
}
