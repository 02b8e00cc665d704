// Package rule implements the rule language: it parses rules into trees ([Parse]), prints them ([Format])
// and reports likely mistakes ([Lint]). Package classify evaluates the trees.
//
// A rule is a line. A line that begins with white space continues the rule before it; # at the beginning of a
// word starts a comment.
//
//	category devops/topic:kubernetes when k8s | "helm chart"~ | kube*  score 2
//	topic release-notes when title:(release* | changelog) & fact:versioned
//	fact versioned when title:/v?\d+\.\d+/ | 2 of (release, version, changelog)
//	category languages/topic:go when 'Go' near/5 (goroutine | compiler)
//	star when author:"rob pike" & !lang:ru
//
// A rule begins with its action: a category, a category and a topic that implies it, a topic alone, a fact
// for use by other rules, a score to add (score +2, score -2), star, mute, quarantine, or notify with an
// optional text in quotes. The score at the end of the rule, 1 by default, is the worth of each piece of
// evidence for a category or topic, multiplied by the worth of its field.
//
// Terms, by the way they match:
//
//	kubernetes, "helm chart"   the word, or the words in this order, by stems; a stop word matches any word or none
//	"helm chart"~              the words in any order with at most three others between them, by stems
//	kube*                      words with this prefix
//	'Go'                       the exact text, case included, between word boundaries
//	/v\d+/                     a regular expression (RE2) on the lower-case text; after some fields only
//
// A word needs no quotes if it consists of letters, digits and .+#-_/'@ and is none of when, score, and, or,
// not. Within quotes a backslash escapes a quote or a backslash. A field, one of [Fields], precedes a term or a
// parenthesis: title:, host:. In place of a term, fact:, category: or topic: refers to the conclusion of other
// rules.
//
// Operators in descending order of precedence: ! or not; near/5, with at most five words between; & or and; |
// or or. Parentheses override precedence. "2 of (a, b, c)" holds if at least two of the conditions hold.
//
// A scope restricts the rules that follow it in the file to certain feeds or items:
//
//	for feed-tag:"Jobs"
//	for feed:0123456789abcdef
//	for query:"host:example.org lang:ru -title:hiring"
//	for query:'"zero day" (lang:en OR lang:de) after:2026-03-01'
//
// It applies up to the next scope; "for all" ends it. A query has the search syntax of package query, in
// either quotes: its words match title, text, author and tags, and after: and before: compare the publication
// time. A scope query may use only values that exist before rules run, so not cat:, topic:, story: and is:,
// and that do not change with time, so not age: or after:-2d.
//
// A set is a txtar archive of files, with a line "-- devops.rules --" before each. Problems are reported with
// file, line and column. Besides syntax errors these are conditions that could hold for an empty document,
// facts that no rule concludes, rules that depend on one another, and exceeded limits: 4 MB, 1,000 files,
// 20,000 rules, 400,000 terms or 64 queries in a set; 64 KB, 2,000 terms or 50 nested parentheses in a rule;
// 200 bytes in a term; 1,000 instructions in a regular expression, 100,000 in all.
package rule
