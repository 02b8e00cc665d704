// Package rule is the language that rules are written in: text to trees, and back.
// What a tree means for a document is for package classify.
//
// A rule is a line. One that begins with white space continues the rule before it; #
// at the beginning of a word begins a comment.
//
//	category devops/topic:kubernetes when k8s | "helm chart"~ | kube*  score 2
//	topic release-notes when title:(release* | changelog) & fact:versioned
//	fact versioned when title:/v?\d+\.\d+/ | 2 of (release, version, changelog)
//	category languages/topic:go when 'Go' near/5 (goroutine | compiler)
//	star when author:"rob pike" & !lang:ru
//
// A rule begins with what follows where its condition holds: a category, a category
// and a topic that implies it, a topic that implies none, a fact that other rules
// may use, a score to add (score +2, score -2), star, mute, quarantine, or notify
// and perhaps what to say in quotes. The score at its end, 1 unless written, is what
// each piece of evidence of a category or topic is worth, times that of its field.
//
// Terms, by what they are compared with:
//
//	kubernetes, "helm chart"   the word, or the words in this order, by stems; stop words stand for any or none
//	"helm chart"~              the words in any order, at most three others between them, by stems
//	kube*                      words that begin so
//	'Go'                       as it is written, capitals and all, between the ends of words
//	/v\d+/                     a regular expression (RE2), in small letters; behind title:, feed:, author:, url:, host: only
//
// A word needs no quotes if it is of letters, digits and .+#-_/'@ and is none of
// when, score, and, or, not. In quotes a backslash stands before a quote or a
// backslash that is meant. A field goes before a term or a parenthesis: title:, tag:
// (the publisher's categories), body:, feed: (its title), feed-tag:, author:, url:,
// host: (which holds for what is under the domain, too), lang:. In the place of a
// term there may be fact:, category: or topic: with the name of what other rules
// conclude.
//
// Operators, the strongest first: ! or not; near/5, with at most five words between;
// & or and; | or or. Parentheses change that. "2 of (a, b, c)" holds where two of
// the conditions do, or more.
//
// Some rules are for some feeds or items only: all that follow in the file a line
// such as
//
//	for feed-tag:"Jobs"
//	for feed:0123456789abcdef
//	for query:"host:example.org lang:ru -title:hiring"
//	for query:'"zero day" (lang:en OR lang:de) after:2026-03-01'
//
// up to the next such line; "for all" ends it. A query is as those that people type
// to search (package query), in either quotes: words are those of title, text, author
// and tags, after: and before: go by when the item was published. It may ask for what
// is known before rules run, so not for cat:, topic:, story: and is:, and for nothing
// that is another thing tomorrow: no age:, no after:-2d.
//
// A set is a txtar archive of files, in which a line "-- devops.rules --" stands
// before each. Refused with file, line and column are faults of all kinds, among
// them conditions that could hold of an empty document, facts that no rule
// concludes, rules that need one another, and what is too much: 4 MB, 1,000 files,
// 20,000 rules, 400,000 terms or 64 queries in a set; 64 KB, 2,000 terms or 50 parentheses
// within one another in a rule; 200 bytes in a term; 1,000 instructions in a regular
// expression, 100,000 in all.
package rule
