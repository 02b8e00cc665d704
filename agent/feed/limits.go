package feed

// What a document may cost. The scanners count what they spend; where the limit
// falls between two items, what follows is left out, and otherwise the document
// is refused.
const (
	maxDepth      = 256       // elements within one another
	maxAttributes = 256       // of one element
	maxNamespaces = 512       // in scope at once; blogs declare two in each entry, a thousand in all
	maxItems      = 5000      // kept of a document: the first, which are the newest
	maxElements   = 100_000   // of a document; pieces of text too
	maxBindings   = 1_000_000 // namespaces in scope, summed over all elements
	maxText       = 4 << 20   // bytes of a piece of text: references are longer than what they mean
	maxAddresses  = 50_000    // in HTML, made absolute
	maxStrays     = 20_000    // end tags of nothing

	maxJSONDepth  = 64      // objects and arrays within one another
	maxJSONValues = 100_000 // objects and arrays of a document

	maxJunk = 64 << 10 // bytes before the root element
)

// Sizes of an entry's fields in bytes. Longer texts are cut, but a GUID or an
// address is left out: half of one is another one.
const (
	maxTitle   = 4 << 10
	maxHTML    = 1 << 20
	maxAddress = 2048 // GUIDs too
	maxAuthor  = 256
	maxDated   = 128
	maxTags    = 32
	maxTag     = 128

	maxSummary    = 16 << 10
	maxEnclosures = 20
)
