package feed

// Limits of a document's cost, counted by the scanners. If a limit is reached between two items the rest is
// dropped, otherwise the document is rejected.
const (
	maxDepth        = 256       // nested elements
	maxAttributes   = 256       // of one element
	maxNamespaces   = 512       // in scope at the same time; blogs declare two in each entry, a thousand in total
	maxItems        = 5000      // kept of a document: the newest, see newestItems
	maxElements     = 100_000   // of a document; also the limit of text pieces
	maxBindings     = 1_000_000 // namespaces in scope, summed over all elements
	maxText         = 4 << 20   // bytes of a text piece before references are resolved, which shortens it
	maxAddresses    = 50_000    // in HTML, made absolute
	maxStrayEndTags = 20_000    // end tags without a start tag

	maxJSONDepth  = 64      // nested objects and arrays
	maxJSONValues = 100_000 // objects and arrays of a document

	maxJunk = 64 << 10 // bytes before the root element
)

// Sizes of an entry's fields, in bytes. Longer texts are truncated. Longer GUIDs and addresses are dropped
// because a truncated address is wrong.
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
