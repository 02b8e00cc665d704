package text

import "net/url"

// A cleaner writes markup in its clean form. Its output depends only on the tokens already written, so that
// cleaning is idempotent.
type cleaner struct {
	rules  *Rules
	base   *url.URL
	html   []byte
	text   lineBuffer
	images []string

	open []openElement // outermost first
	pre  int           // number of open pre elements
	attr []attribute

	contentEnd int          // offset in html after the last text, image or embedded document
	mediaEnd   int          // offset after the last image or embedded document
	tailStarts []tailStart  // positions where a tail may begin
	link       span         // start tag of the last link, in html
	noscript   int          // number of open noscript elements
	lastImage  writtenImage // the last image

	skip     string          // element whose contents are being dropped, if any
	depth    int             // nesting depth of that element
	unclosed map[string]bool // elements not to drop, because their end tag is missing
	full     bool            // the output limit is reached

	anchors map[string]bool // ids that were written

	math      formula   // the formula being dropped
	textOnly  bool      // embedded documents, which other rules may have kept, are not replaced by links
	embedding embedding // the element being dropped that is replaced by a link, if any
	embedded  []string  // addresses of these links
	media     []Media
}

// An openElement is a written start tag whose end tag is still to be written.
type openElement struct {
	name string
	set  elementSet // that contains it only; empty if no scope names it
}

// A span is the bytes [start, end).
type span struct{ start, end int }

// A writtenImage is the last image written.
type writtenImage struct {
	end      int  // offset in html after its tag
	repaired bool // its URL came from a lazy-loading attribute
	noscript bool // it replaces a lazily loaded image

	decorative bool // it shows an author or an emoji
}

// A tailStart is a position where a tail may begin: a line or a link.
type tailStart struct {
	html, text int  // offsets in the output
	first      bool // nothing precedes it
}

const (
	maxMarkup = 1 << 20 // bytes of markup read and written
	maxDepth  = 100     // nested elements; x/net/html parses at most 512
	maxImages = 16
	maxMedia  = 16
	maxEmbeds = 100     // links to embedded documents
	endTags   = 2 << 10 // bytes sufficient for the end tags of maxDepth elements
)
