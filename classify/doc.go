// Package classify assigns spam verdicts, categories and topics to documents, each with its reasons. A
// [Classifier] combines the rules of [Compile], the spam filter of package spam and the model of package
// model; a [Decision] is the result. The package is independent of feeds, queues and storage, and contains
// the rules that ship with the program. Packages language and stem below it detect languages and compute
// stems.
//
// Rules are compiled into per-scope sections, whose working memory is pooled. The cost of a document depends
// on its words and their matches, not on the number of rules.
package classify
