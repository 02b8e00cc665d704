package rule

import (
	"strings"
	"testing"
)

// when returns the condition of a rule, or a text that begins with "fault".
func parseWhen(t *testing.T, text string) string {
	t.Helper()
	set, err := Parse([]byte("category a when " + text + "\nfact f when f\nfact g when g"))
	if err != nil {
		return "fault: " + err.Error()
	}
	return set.Rules[0].Condition.String()
}

func TestParse_OperatorPrecedence(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`kube`, `kube`},
		{`kube | docker & linux`, `kube | docker & linux`},
		{`kube & docker | linux`, `kube & docker | linux`},
		{`(kube | docker) & linux`, `(kube | docker) & linux`},
		{`kube | (docker | linux)`, `kube | docker | linux`},
		{`kube & (docker & (linux))`, `kube & docker & linux`},
		{`kube & !docker`, `kube & !docker`},
		{`kube and not docker or linux`, `kube & !docker | linux`},
		{`kube & !!docker`, `kube & docker`},
		{`kube & !(!(docker))`, `kube & docker`},
		{`kube & ! (docker | linux)`, `kube & !(docker | linux)`},
		{`kube & !(docker & !linux)`, `kube & !(docker & !linux)`},
		{`kube & (!docker | linux)`, `kube & (!docker | linux)`},
		{`'Go' near/5 (goroutine | compiler) & linux`, `'Go' near/5 (goroutine | compiler) & linux`},
		{`kube & !(docker near/0 linux)`, `kube & !(docker near/0 linux)`},
		{`kube near/5 docker & docker near/100 linux*`, `kube near/5 docker & docker near/100 linux*`},
		{`2 of (kube, docker | linux, "zero day")`, `2 of (kube, docker | linux, "zero day")`},
		{`1 of(kube)&docker`, `1 of (kube) & docker`},
		{`2`, `2`},
		{`2 of (2, "of course not", 3)`, `fault: rules:1:26: "of course not" means every "cours", because stop words are not indexed: write that word, or a longer phrase`},
		{`title:kube`, `title:kube`},
		{`title:(kube | "zero day" & docker*)`, `title:kube | title:"zero day" & title:docker*`},
		{`title: (2 of (kube, docker))`, `2 of (title:kube, title:docker)`},
		{`title:2 of (kube, docker)`, `2 of (title:kube, title:docker)`},
		{`title:(kube near/3 docker) | linux`, `title:kube near/3 title:docker | linux`},
		{`title:(kube & !(docker | linux))`, `title:kube & !(title:docker | title:linux)`},
		{`tag:kube | feed:kube | body:kube | author:kube | url:kube`, `tag:kube | feed:kube | body:kube | author:kube | url:kube`},
		{`"kube"`, `kube`},
		{`"zero day"~`, `"zero day"~`},
		{`" zero day "`, `"zero day"`},
		{`'Go' | 'C' | 'it'`, `'Go' | 'C' | 'it'`},
		{`'O\'Reilly' | "kube \\ docker" | "say \"kube docker\""`, `'O\'Reilly' | "kube \\ docker" | "say \"kube docker\""`},
		{`c# | c++ | node.js | .net | ci/cd | f# | objective-c | o'reilly | +1 | -x | @kube | snake_case`,
			`c# | c++ | node.js | .net | ci/cd | f# | objective-c | o'reilly | +1 | -x | @kube | snake_case`},
		{`взлом* | hack* | 数据库 | müller`, `взлом* | hack* | 数据库 | müller`},
		{`title:/v?\d+\.\d+/ | url:/\/releases\/v\d/`, `title:/v?\d+\.\d+/ | url:/\/releases\/v\d/`},
		{`host:GitHub.com. | host:localhost | host:пример.рф | host:/^git/`, `host:github.com | host:localhost | host:пример.рф | host:/^git/`},
		{`lang:RU & kube`, `lang:ru & kube`},
		{`feed-tag:"Jobs & more" | feed-tag:Jobs`, `feed-tag:"Jobs & more" | feed-tag:Jobs`},
		{`fact:f & !fact:g`, `fact:f & !fact:g`},
		{`topic:kube | category:docker`, `topic:kube | category:docker`},
		{`score* | when* | "score" | "score keeping"`, `score* | when* | "score" | "score keeping"`},
		{"kube # | docker", `kube`},
		{"kube # one\n  # two\n\n# three\n\t| docker#4 # five\r\n  | \"kube # docker\"", `kube | docker#4 | "kube # docker"`},
	} {
		if got := parseWhen(t, test.text); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
}

func TestParse_ConditionDiagnostics(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		// The order of tokens. "category a when " has 16 characters.
		{``, `1:16: a term is missing after "when"`},
		{`kube |`, `1:23: a term is missing after "|"`},
		{`kube | | docker`, `1:24: a term is missing after "|" before "|"`},
		{`(kube | ) & docker`, `1:25: a term is missing after "|" before ")"`},
		{`()`, `1:18: a term is missing after "(" before ")"`},
		{`zero day`, `1:22: |, & or near/5 is missing before "day"; a phrase must be in quotes`},
		{`zero !day`, `1:22: |, & or near/5 is missing before "!"`},
		{`взлом day`, `1:23: |, & or near/5 is missing before "day"`},
		{`kube AND docker`, `1:22: |, & or near/5 is missing before "AND"`},
		{`(kube | docker`, `1:17: the closing ")" is missing`},
		{`(kube | docker score 2`, `1:17: the closing ")" is missing`},
		{`kube | docker)`, `1:30: unmatched ")"`},
		{`kube, docker`, `1:21: a comma is allowed only in N of (...)`},
		{`(kube, docker)`, `1:17: a comma is allowed only in N of (...)`},
		{`kube | score`, `1:24: a term is missing after "|"; score itself must be in quotes`},
		{`kube when docker`, `1:22: a second "when"`},
		{`kube near docker`, `1:22: near needs a number of words: near/5`},
		{`near/5 docker`, `1:17: a term is missing after "when"`},
		{`kube near/5`, `1:28: a term is missing after "near/5"`},
		{`kube near/5 docker near/5 linux`, `1:36: near joins two terms only`},
		{`2 of kube`, `1:22: "(" is missing after "of"`},
		{`2 of (kube docker)`, `1:28: |, & or near/5 is missing before "docker"`},
		{`"zero day`, `1:17: the closing " is missing`},
		{`'zero day`, `1:17: the closing ' is missing`},
		{`title:/zero day`, `1:23: the closing / of a regular expression is missing`},
		{"\"zero\n day\"", `1:17: the closing " is missing`},
		{`kube = docker`, `1:22: "=" is not allowed here`},
		{`«kube»`, `1:17: write " instead of «`},
		{"kube |\u00a0docker", `1:23: invisible character U+00A0`},
		{"kube |\x00docker", `1:23: invisible character U+0000`},
		{`kube*docker`, `1:22: |, & or near/5 is missing before "docker"`},
		{"kube\n  category b when docker", `2:3: a line that begins with white space continues the rule before it`},
		{`(((((((((((((((((((((((((((((((((((((((((((((((((((kube`, `1:67: more than 50 nested parentheses`},

		// Fields and facts.
		{`std::vector`, `1:21: ":" is not allowed here`},
		{`http://github.com`, `1:17: "http:" is not a field`},
		{`Title:kube`, `1:17: "Title:" is not a field`},
		{`title:`, `1:23: a term is missing after "title:"`},
		{`title:!kube`, `1:23: write !title: instead of title:!`},
		{`title:(kube | body:docker)`, `1:31: body: cannot be used in title:(...)`},
		{`title:body:kube`, `1:23: body: cannot be used in title:(...)`},
		{`title:(kube & fact:f)`, `1:31: fact: has no field and cannot be used in title:(...)`},
		{`fact:`, `1:22: the name of the fact is missing`},
		{`fact:X`, `1:22: "X" is not a valid fact`},
		{`topic:"c c"`, `1:23: "\"c c\"" is not a valid topic`},
		{`fact:nobody-knows`, `1:17: no rule concludes fact nobody-knows`},

		// Terms.
		{`...`, `1:17: "..." contains no word`},
		{`""`, `1:17: the term is empty`},
		{`" "`, `1:17: the term is empty`},
		{`"of the"`, `1:17: "of the" contains stop words only, which are not indexed`},
		{`of`, `1:17: "of" contains stop words only, which are not indexed`},
		{`"in go"`, `1:17: "in go" means every "go"`},
		{`kube | "docker"~`, `1:24: "docker" is one word: remove the ~`},
		{`ci/cd*`, `1:17: "ci/cd"* is not the beginning of one word`},
		{`'...'`, `1:17: "..." contains no word`},
		{`''`, `1:17: the term is empty`},
		{`/v\d/`, `1:17: a regular expression needs a field before it: title:`},
		{`body:/v\d/`, `1:22: body: takes no /regular expressions/, only words and "phrases", "loose phrases"~, prefixes*, 'exact' words`},
		{`tag:/v\d/`, `1:21: tag: takes no`},
		{`lang:r*`, `1:22: lang: takes no prefixes*, only values`},
		{`lang:rus`, `1:22: "rus" is not a language`},
		{`host:https`, ``},
		{`host:"https://github.com"`, `1:22: "https://github.com" is not a host`},
		{`host:github.com/x`, `1:22: "github.com/x" is not a host`},
		{`host:-x`, `1:22: "-x" is not a host`},
		{`host:github.*`, `1:22: host: takes no prefixes*, only values, /regular expressions/`},
		{`feed-tag:'Jobs'`, `1:26: feed-tag: takes no 'exact' words`},
		{`title:/[/`, `1:23: invalid regular expression: missing closing ]`},
		{`title://`, `1:23: the term is empty`},
		{`title:/v*/`, `1:23: the regular expression matches the empty text`},
		{`title:/Release/`, `1:23: the regular expression contains upper-case letters, but the text is in lower case`},
		{`title:/\S\D\W/`, ``},
		{`title:/x{1000}/`, `1:23: the regular expression is too large`},
		{`title:/(x{30}){30}y{100}/`, `1:23: the regular expression is too large`},
		{`title:/((x{100}){100}){100}/`, `1:23: invalid regular expression`},
		{`title:/(a+)+$/`, ``}, // harmless here: RE2 takes linear time
		{strings.Repeat("x", 201), `1:17: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..." is too long`},
		{strings.Repeat("x", 200), ``},

		// Conditions without a sensible meaning.
		{`!kube`, `1:17: the condition can hold without any match`},
		{`kube | !docker`, `1:17: the condition can hold`},
		{`!(kube & docker)`, `1:17: the condition can hold`},
		{`!kube & !docker`, `1:17: the condition can hold`},
		{`!(!kube & docker)`, `1:17: the condition can hold`},
		{`!(!kube & !docker)`, ``},
		{`2 of (kube, !docker, !linux)`, `1:17: the condition can hold`},
		{`3 of (kube, !docker, !linux)`, ``},
		{`!(2 of (!kube, !docker, linux))`, ``},
		{`!(3 of (!kube, !docker, linux))`, `1:17: the condition can hold`},
		{`kube & (!docker | linux)`, ``},
		{`4 of (kube, docker, linux)`, `1:17: the list has 3 conditions`},
		{`0 of (kube, docker)`, `1:17: the list has 2 conditions`},
		{`99999999999999999999 of (kube)`, `1:17: the list has 1 conditions`},
		{`kube near/101 docker`, `1:22: the distance is too large`},
		{`kube near/99999999999999999999 docker`, `1:22: the distance is too large`},
		{`!kube near/5 docker`, `1:23: near joins words, phrases, prefixes* and 'exact' words, or alternatives of them`},
		{`kube near/5 !docker`, `1:22: near joins words, phrases, prefixes* and 'exact' words, or alternatives of them`},
		{`(kube & docker) near/5 linux`, `1:33: near joins words, phrases, prefixes* and 'exact' words, or alternatives of them`},
		{`"zero day"~ near/5 linux`, `1:29: near joins words, phrases, prefixes* and 'exact' words, or alternatives of them`},
		{`kube near/5 fact:f`, `1:22: near joins words, phrases, prefixes* and 'exact' words, or alternatives of them`},
		{`title:kube near/5 docker`, `1:28: the terms of near must be in one field`},
		{`kube near/5 (docker | title:linux)`, `1:22: the terms of near must be in one field`},
	} {
		got := parseWhen(t, test.text)
		if test.want == "" {
			if strings.HasPrefix(got, "fault") {
				t.Errorf("%s:\ngot  %s\nwant no fault", test.text, got)
			}
			continue
		}
		if !strings.HasPrefix(got, "fault: rules:"+test.want) || strings.Contains(got, "\n") {
			t.Errorf("%s:\ngot  %s\nwant fault: rules:%s", test.text, got, test.want)
		}
	}
}
