package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"feedmesh/classify/expression"
	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
)

// add writes a <rule> as rules: one, or with several topics one for each and one for the category, which
// would otherwise gain points from every topic.
func (im *importer) add(e *element) {
	im.allowAttributes(e, "category", "topics", "fact", "weight", "feed-tag", "feed")
	if text := strings.TrimSpace(e.text); text != "" {
		im.report(e.pos, "%s is text directly in a rule: enclose it in <word> or <phrase>", quote(text))
	}
	scope, weight, actions := im.scopeOf(e), im.weight(e), im.actions(e)
	condition, ok := im.conditions(e.inner, rule.Anywhere, " & ", e.pos)
	switch {
	case len(e.inner) == 0:
		im.report(e.pos, "the rule has no condition: add <stem>, <any> or similar")
		ok = false
	case ok && countTerms(e) > maxTerms:
		im.report(e.pos, "the rule has more than %d terms: split it", maxTerms)
		ok = false
	}
	if !ok {
		condition = []piece{{"placeholder", e.pos}} // what the rule concludes may be a condition of others
	}
	if scope != im.scope {
		im.scope = scope
		im.rules.write(piece{scope.String(), e.pos})
	}
	for _, action := range actions {
		im.rules.write(slices.Concat([]piece{{action.String() + " when (", e.pos}}, condition, []piece{{")" + weight, e.pos}})...)
	}
}

// allowAttributes reports the attributes of e that are not in names.
func (im *importer) allowAttributes(e *element, names ...string) {
	allowed := "none"
	if len(names) > 0 {
		allowed = strings.Join(names, ", ")
	}
	for _, name := range slices.Sorted(maps.Keys(e.attrs)) {
		if !slices.Contains(names, name) {
			im.report(e.pos, "<%s> does not have the attribute %s: remove it; allowed: %s", shorten(e.name), quote(name), allowed)
		}
	}
}

func (im *importer) scopeOf(e *element) rule.Scope {
	tag, feed := e.attrs["feed-tag"], e.attrs["feed"]
	switch {
	case tag != "" && feed != "":
		im.report(e.pos, "a rule applies to a feed-tag or to a feed, not both: remove one")
	case tag != "":
		return rule.Scope{Kind: rule.FeedTag, Value: tag}
	case feed != "":
		return rule.Scope{Kind: rule.Feed, Value: feed}
	}
	return rule.Scope{}
}

const maxWeight = 100

// weight returns the end of a rule with its weight, if that is not 1.
func (im *importer) weight(e *element) string {
	text, found := e.attrs["weight"]
	if !found {
		return ""
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "+-.0123456789") != "" || f <= 0 || f > maxWeight {
		im.report(e.pos, "%s is not a weight: use a number above 0, at most %d", quote(text), maxWeight)
		return ""
	}
	if e.attrs["fact"] != "" {
		im.report(e.pos, "a fact has no weight: remove it")
		return ""
	}
	return " score " + strconv.FormatFloat(f, 'f', -1, 64)
}

// actions returns the actions of a rule.
func (im *importer) actions(e *element) []rule.Action {
	category, fact := im.label(e, "category", e.attrs["category"]), im.label(e, "fact", e.attrs["fact"])
	var topics []string
	for topic := range strings.SplitSeq(e.attrs["topics"], ",") {
		if topic = im.label(e, "topic", topic); topic != "" && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	switch {
	case fact != "" && category == "" && topics == nil:
		return []rule.Action{{Kind: rule.ConcludeFact, Name: fact}}
	case fact != "":
		im.report(e.pos, "a rule concludes a fact, or a category and topics: split it")
	case category == "" && topics == nil:
		im.report(e.pos, `the rule has no conclusion: write <rule category="databases" topics="sqlite">`)
	case category != "" && len(topics) == 1:
		return []rule.Action{{Name: category, Topic: topics[0]}}
	}
	var all []rule.Action
	if category != "" {
		all = append(all, rule.Action{Name: category})
	}
	for _, topic := range topics {
		all = append(all, rule.Action{Topic: topic})
	}
	return all
}

const maxLabel = 200 // bytes

// label normalizes a name; it returns "" if there is none.
func (im *importer) label(e *element, what, name string) string {
	name = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "_", " ")), "-")
	if name != "" && (!rule.IsLabel(name) || len(name) > maxLabel) {
		im.report(e.pos, "%s is not a valid %s: use lower-case letters, digits and single hyphens", quote(name), what)
		return "placeholder"
	}
	return name
}

// conditions converts elements to conditions joined by an operator, which has the position at. ok is false if
// one has an error. f is the inherited field.
func (im *importer) conditions(list []*element, f rule.Field, operator string, at rule.Pos) (pieces []piece, ok bool) {
	ok = true
	for i, e := range list {
		condition, valid := im.condition(e, f)
		if i > 0 {
			pieces = append(pieces, piece{operator, at})
		}
		pieces = append(pieces, condition...)
		ok = ok && valid
	}
	return pieces, ok
}

// condition converts an element to a condition.
func (im *importer) condition(e *element, f rule.Field) ([]piece, bool) {
	before := len(im.diagnostics)
	switch e.name {
	case "any", "all", "none", "atleast", "near":
		return im.group(e, f)
	case "fact", "host", "lang":
		im.allowAttributes(e)
		if f != rule.Anywhere {
			im.report(e.pos, "<%s> cannot be used within the field %s: move it out", e.name, f)
		}
	case "stem", "word", "phrase", "loose", "prefix", "exact", "regexp":
		im.allowAttributes(e, "field")
		f = im.fieldOf(e, f)
	default:
		im.report(e.pos, "<%s> is not supported: use any, all, none, atleast, near, stem, word, phrase, loose, prefix, exact, regexp, host, lang, fact", shorten(e.name))
		return nil, false
	}
	if len(e.inner) > 0 {
		im.report(e.inner[0].pos, "<%s> is not allowed in <%s>, which contains text only", shorten(e.inner[0].name), e.name)
	}
	if len(im.diagnostics) > before {
		return nil, false
	}
	text := im.leaf(e, f, strings.Join(strings.Fields(e.text), " "))
	return []piece{{text, e.pos}}, len(im.diagnostics) == before
}

// leaf returns the text of a term or a fact.
func (im *importer) leaf(e *element, f rule.Field, text string) string {
	if e.name == "fact" {
		name := im.label(e, "fact", text)
		if name == "" {
			im.report(e.pos, "<fact> is empty: write the name of a fact")
		}
		return (&rule.Fact{Name: name}).String()
	}
	t := termOf(e.name, text)
	if t.Field == rule.Anywhere {
		t.Field = f
	}
	switch notWord := func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune(".+#-_/'’@", r)
	}; {
	case text == "":
		im.report(e.pos, "the term is empty: add a word, or remove it")
	case t.Kind == rule.Prefix && (strings.IndexByte("'/#", text[0]) >= 0 || strings.ContainsFunc(t.Text, notWord)):
		im.report(e.pos, "%s* is not the beginning of one word", quote(t.Text))
	}
	return t.String()
}

// termOf returns the term for an element name.
func termOf(name, text string) *rule.Term {
	switch name {
	case "stem":
		// The stem of "databas" (from database) would be "databa", which is no word's stem.
		if stems := stem.Stems(text, ""); len(stems) == 1 && stems[0] != strings.ToLower(text) {
			return &rule.Term{Kind: rule.Prefix, Text: text}
		}
	case "loose":
		return &rule.Term{Kind: rule.Loose, Text: text}
	case "prefix":
		return &rule.Term{Kind: rule.Prefix, Text: strings.TrimSuffix(text, "*")}
	case "exact":
		return &rule.Term{Kind: rule.Exact, Text: text}
	case "regexp":
		return &rule.Term{Kind: rule.Regexp, Text: text}
	case "host":
		return &rule.Term{Kind: rule.Value, Field: rule.Host, Text: text}
	case "lang":
		return &rule.Term{Kind: rule.Value, Field: rule.Lang, Text: text}
	}
	return &rule.Term{Text: text}
}

// group converts an element with nested conditions.
func (im *importer) group(e *element, f rule.Field) ([]piece, bool) {
	number := map[string]string{"atleast": "n", "near": "within"}[e.name]
	if number == "" {
		im.allowAttributes(e, "field")
	} else {
		im.allowAttributes(e, "field", number)
	}
	if text := strings.TrimSpace(e.text); text != "" {
		im.report(e.pos, "%s is text directly in <%s>: enclose it in <word> or <phrase>", quote(text), e.name)
	}
	if len(e.inner) == 0 {
		im.report(e.pos, "<%s> is empty: add conditions, or remove it", e.name)
		return nil, false
	}
	n, err := strconv.Atoi(e.attrs[number])
	opening, operator := "(", " | "
	switch e.name {
	case "all":
		operator = " & "
	case "none":
		opening = "!("
	case "atleast":
		opening, operator = fmt.Sprintf("%d of (", n), ", "
	case "near":
		operator = fmt.Sprintf(" near/%d ", n)
	}
	pieces, ok := im.conditions(e.inner, im.fieldOf(e, f), operator, e.pos)
	switch {
	case !ok:
		return nil, false
	case number != "" && (err != nil || n < 0):
		im.report(e.pos, `a number is missing: <%s %s="2">`, e.name, number)
		return nil, false
	case e.name == "near" && len(e.inner) != 2:
		im.report(e.pos, "<near> has %d conditions, not 2: enclose alternatives in <any>", len(e.inner))
		return nil, false
	}
	return slices.Concat([]piece{{opening, e.pos}}, pieces, []piece{{")", e.pos}}), true
}

// fieldOf returns the field of an element within the field f.
func (im *importer) fieldOf(e *element, f rule.Field) rule.Field {
	name, found := e.attrs["field"]
	if !found {
		return f
	}
	own, known := rule.FieldNamed(strings.ToLower(name))
	switch {
	case !known:
		im.report(e.pos, "%s is not a field: use one of %s", quote(name), strings.Join(rule.FieldNames(rule.Words, rule.Value), ", "))
		return f
	case f != rule.Anywhere && own != f:
		im.report(e.pos, "<%s> of %s cannot be used within the field %s: move it out", e.name, name, f)
	}
	return own
}

func countTerms(e *element) int {
	n := 0
	for _, inner := range e.inner {
		if len(inner.inner) == 0 {
			n++
		}
		n += countTerms(inner)
	}
	return n
}

// quote returns a text for a message, in quotes and shortened.
func quote(s string) string { return expression.Quote(shorten(s), `"`) }

// shorten truncates a text for a message.
func shorten(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}
