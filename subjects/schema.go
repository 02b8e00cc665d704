//go:build !faults

package subjects

// Schema is the version of the tasks that this agent encodes; it decodes this and all older versions. A newer
// version may only add fields; any other change needs a new queue. Package agent/mesh describes how agents of
// two versions cooperate.
//
//	1  one task a message
//	2  bundles; all fields of an entry, not only its text; the text of pages
//	3  manual edits of stories
//	4  views
const Schema = 4
