//go:build !faults

package subjects

// Schema is the version of the tasks this agent writes, and reads with all older
// ones. A newer version may only add to an older one; what can't be said so needs
// a queue of its own. See agent/mesh on how agents of two versions get on.
//
//	1  one task a message
//	2  bundles; more of an entry than its text; the text of pages
//	3  what persons decide of stories
const Schema = 3
