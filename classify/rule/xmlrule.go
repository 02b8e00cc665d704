package rule

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/expression"
	"feedmesh/classify/stem"
)

// add converts a <rule> to rules: one, or with several topics one for each and one for the category, which
// would otherwise gain points from every topic.
func (im *xmlImporter) add(e *element) {
	before := len(im.diagnostics)
	im.allowAttributes(e, "category", "topics", "fact", "weight", "feed-tag", "feed")
	r := Rule{Pos: e.pos, Scope: im.scopeOf(e), Score: im.weight(e)}
	if text := strings.TrimSpace(e.text); text != "" {
		im.report(e.pos, "%s is text directly in a rule: enclose it in <word> or <phrase>", quote(shorten(text)))
	}
	thens := im.actions(e)
	r.Condition = expression.AllOf(im.conditions(e.inner, Anywhere))
	switch {
	case len(e.inner) == 0:
		im.report(e.pos, "the rule has no condition: add <stem>, <any> or similar")
	case len(im.diagnostics) > before:
	case countTerms(r.Condition) > maxTerms:
		im.report(e.pos, "the rule has more than %d terms: split it", maxTerms)
	case matchesEmpty(r.Condition):
		im.report(e.pos, "the conditions can hold without any match: add a term that must occur")
	}
	for _, then := range thens {
		if im.ruleCount++; im.ruleCount > maxRules {
			im.report(e.pos, "there are more than %d rules", maxRules)
		}
		if len(im.diagnostics) > before {
			return
		}
		r.Action = then
		im.set.Rules = append(im.set.Rules, r)
	}
}

// allowAttributes reports the attributes of e that are not in names.
func (im *xmlImporter) allowAttributes(e *element, names ...string) {
	for _, name := range slices.Sorted(maps.Keys(e.attrs)) {
		if !slices.Contains(names, name) {
			im.report(e.pos, "<%s> does not have the attribute %s: remove it; allowed: %s", shorten(e.name), quote(shorten(name)), listOrNone(names))
		}
	}
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (im *xmlImporter) scopeOf(e *element) Scope {
	tag, feed := e.attrs["feed-tag"], e.attrs["feed"]
	switch {
	case tag != "" && feed != "":
		im.report(e.pos, "a rule applies to a feed-tag or to a feed, not both: remove one")
	case len(tag+feed) > maxTerm:
		im.report(e.pos, "the feed-tag or feed has more than %d bytes", maxTerm)
	case tag != "":
		return Scope{FeedTag, tag}
	case feed != "":
		return Scope{Feed, feed}
	}
	return Scope{}
}

func (im *xmlImporter) weight(e *element) float64 {
	text, found := e.attrs["weight"]
	if !found {
		return 1
	}
	f, ok := decimal(text)
	if !ok || f <= 0 || f > maxScore {
		im.report(e.pos, "%s is not a weight: use a number above 0, at most %d", quote(shorten(text)), maxScore)
	}
	if e.attrs["fact"] != "" {
		im.report(e.pos, "a fact has no weight: remove it")
	}
	return f
}

// actions returns the actions of a rule.
func (im *xmlImporter) actions(e *element) []Action {
	category, fact := im.label(e, "category", e.attrs["category"]), im.label(e, "fact", e.attrs["fact"])
	var topics []string
	for topic := range strings.SplitSeq(e.attrs["topics"], ",") {
		if topic = im.label(e, "topic", topic); topic != "" && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	switch {
	case fact != "" && category == "" && topics == nil:
		im.facts[fact] = true
		return []Action{{Kind: ConcludeFact, Name: fact}}
	case fact != "":
		im.report(e.pos, "a rule concludes a fact, or a category and topics: split it")
	case category == "" && topics == nil:
		im.report(e.pos, `the rule has no conclusion: write <rule category="databases" topics="sqlite">`)
	case category != "" && len(topics) == 1:
		return []Action{{Name: category, Topic: topics[0]}}
	}
	var thens []Action
	if category != "" {
		thens = append(thens, Action{Name: category})
	}
	for _, topic := range topics {
		thens = append(thens, Action{Topic: topic})
	}
	return thens
}

// label normalizes a name; it returns "" if there is none.
func (im *xmlImporter) label(e *element, what, name string) string {
	name = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "_", " ")), "-")
	if name == "" {
		return ""
	}
	if wrong := labelProblem(what, name); wrong != "" {
		im.report(e.pos, "%s", wrong)
	}
	return name
}

// conditions converts elements to conditions, without those that have errors.
func (im *xmlImporter) conditions(list []*element, f Field) []Expr {
	var all []Expr
	for _, e := range list {
		if x := im.condition(e, f); x != nil {
			all = append(all, x)
		}
	}
	return all
}

// condition converts an element to a condition, nil on error. f is the inherited field.
func (im *xmlImporter) condition(e *element, f Field) Expr {
	switch e.name {
	case "any", "all", "none", "atleast", "near":
		return im.group(e, f)
	case "fact", "host", "lang":
		im.allowAttributes(e)
		if f != Anywhere {
			im.report(e.pos, "<%s> cannot be used within the field %s: move it out", e.name, FieldNames[f])
			return nil
		}
	case "stem", "word", "phrase", "loose", "prefix", "exact", "regexp":
		im.allowAttributes(e, "field")
		f = im.fieldOf(e, f)
	default:
		im.report(e.pos, "<%s> is not supported: use any, all, none, atleast, near, stem, word, phrase, loose, prefix, exact, regexp, host, lang, fact", shorten(e.name))
		return nil
	}
	if len(e.inner) > 0 {
		im.report(e.inner[0].pos, "<%s> is not allowed in <%s>, which contains text only", shorten(e.inner[0].name), e.name)
		return nil
	}
	text := strings.Join(strings.Fields(e.text), " ")
	if e.name == "fact" {
		name := im.label(e, "fact", text)
		if name == "" {
			im.report(e.pos, "<fact> is empty: write the name of a fact")
			return nil
		}
		return &Fact{NamedFact, name, e.pos}
	}
	t := im.termOf(e.name, text)
	t.Pos = e.pos
	if t.Field == Anywhere {
		t.Field = f
	}
	if wrong := im.termProblem(t); wrong != "" {
		im.report(e.pos, "%s", wrong)
		return nil
	}
	return t
}

// termOf returns the term for an element name.
func (im *xmlImporter) termOf(name, text string) *Term {
	switch name {
	case "stem":
		// The stem of "databas" (from database) would be "databa", which is no word's stem.
		if stems := stem.Stems(text, ""); len(stems) == 1 && stems[0] != strings.ToLower(text) {
			return &Term{Kind: Prefix, Text: text}
		}
	case "loose":
		return &Term{Kind: Loose, Text: text}
	case "prefix":
		return &Term{Kind: Prefix, Text: strings.TrimSuffix(text, "*")}
	case "exact":
		return &Term{Kind: Exact, Text: text}
	case "regexp":
		return &Term{Kind: Regexp, Text: text}
	case "host":
		return &Term{Kind: Value, Field: Host, Text: text}
	case "lang":
		return &Term{Kind: Value, Field: Lang, Text: text}
	}
	return &Term{Text: text}
}

// group converts an element with nested conditions.
func (im *xmlImporter) group(e *element, f Field) Expr {
	number := map[string]string{"atleast": "n", "near": "within"}[e.name]
	if number == "" {
		im.allowAttributes(e, "field")
	} else {
		im.allowAttributes(e, "field", number)
	}
	if text := strings.TrimSpace(e.text); text != "" {
		im.report(e.pos, "%s is text directly in <%s>: enclose it in <word> or <phrase>", quote(shorten(text)), e.name)
	}
	if len(e.inner) == 0 {
		im.report(e.pos, "<%s> is empty: add conditions, or remove it", e.name)
		return nil
	}
	list := im.conditions(e.inner, im.fieldOf(e, f))
	if len(list) < len(e.inner) {
		return nil
	}
	n := 0
	if number != "" {
		var err error
		if n, err = strconv.Atoi(e.attrs[number]); err != nil || n < 0 {
			im.report(e.pos, `a number is missing: <%s %s="2">`, e.name, number)
			return nil
		}
	}
	switch e.name {
	case "all":
		return expression.AllOf(list)
	case "none":
		return expression.Negate(expression.AnyOf(list))
	case "atleast":
		x := AtLeast{N: n, Operands: list}
		return im.checked(e, x, atLeastProblem(x))
	case "near":
		if len(list) != 2 {
			im.report(e.pos, "<near> has %d conditions, not 2: enclose alternatives in <any>", len(list))
			return nil
		}
		x := Near{A: list[0], B: list[1], Within: n}
		return im.checked(e, x, nearProblem(x))
	}
	return expression.AnyOf(list)
}

// checked returns x, or reports the problem and returns nil.
func (im *xmlImporter) checked(e *element, x Expr, wrong string) Expr {
	if wrong != "" {
		im.report(e.pos, "%s", wrong)
		return nil
	}
	return x
}

// fieldOf returns the field of an element within the field f.
func (im *xmlImporter) fieldOf(e *element, f Field) Field {
	name, found := e.attrs["field"]
	if !found {
		return f
	}
	own := Field(slices.Index(FieldNames[:], strings.ToLower(name)))
	switch {
	case name == "" || own >= FieldCount:
		im.report(e.pos, "%s is not a field: use one of %s", quote(shorten(name)), strings.Join(FieldNames[1:], ", "))
		return f
	case f != Anywhere && own != f:
		im.report(e.pos, "<%s> of %s cannot be used within the field %s: move it out", e.name, name, FieldNames[f])
	}
	return own
}

func countTerms(x Expr) int {
	n := 0
	for x := range expression.Walk(x) {
		if _, is := x.(expression.Leaf); is {
			n++
		}
	}
	return n
}
