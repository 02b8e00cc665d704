package rule

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"feedmesh/classify/stem"
)

// add makes rules of a <rule>: one, or where it has several topics one for each
// and one for the category, which would otherwise gain by each topic.
func (im *importer) add(e *element) {
	before := len(im.faults)
	im.allow(e, "category", "topics", "fact", "weight", "feed-tag", "feed")
	r := Rule{Pos: e.pos, Scope: im.scopeOf(e), Score: im.weight(e)}
	if text := strings.TrimSpace(e.text); text != "" {
		im.fault(e.pos, "%s stands in a rule: put it into <word> or <phrase>", quote(shorten(text)))
	}
	thens := im.thens(e)
	r.When = conjoin(im.conditions(e.inner, Anywhere))
	switch {
	case len(e.inner) == 0:
		im.fault(e.pos, "the rule has no condition: put <stem>, <any> and the like into it")
	case len(im.faults) > before:
	case countTerms(r.When) > maxTerms:
		im.fault(e.pos, "the rule has over %d terms: make several of it", maxTerms)
	case holdsOfNothing(r.When):
		im.fault(e.pos, "the conditions can hold of a text for what it lacks alone: put something beside them that must be there")
	}
	for _, then := range thens {
		if im.rules++; im.rules > maxRules {
			im.fault(e.pos, "there are over %d rules", maxRules)
		}
		if len(im.faults) > before {
			return
		}
		r.Then = then
		im.set.Rules = append(im.set.Rules, r)
	}
}

// allow names the attributes of e that it may not have.
func (im *importer) allow(e *element, names ...string) {
	for _, name := range slices.Sorted(maps.Keys(e.attrs)) {
		if !slices.Contains(names, name) {
			im.fault(e.pos, "<%s> has no %s: remove it; there may be %s", shorten(e.name), quote(shorten(name)), either(names))
		}
	}
}

func either(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (im *importer) scopeOf(e *element) Scope {
	tag, feed := e.attrs["feed-tag"], e.attrs["feed"]
	switch {
	case tag != "" && feed != "":
		im.fault(e.pos, "a rule is for a feed-tag or for a feed: remove one")
	case len(tag+feed) > maxTerm:
		im.fault(e.pos, "the feed-tag or feed has over %d bytes", maxTerm)
	case tag != "":
		return Scope{FeedTag, tag}
	case feed != "":
		return Scope{Feed, feed}
	}
	return Scope{}
}

func (im *importer) weight(e *element) float64 {
	text, found := e.attrs["weight"]
	if !found {
		return 1
	}
	f, ok := decimal(text)
	if !ok || f <= 0 || f > maxScore {
		im.fault(e.pos, "%s is no weight: a number above 0, at most %d", quote(shorten(text)), maxScore)
	}
	if e.attrs["fact"] != "" {
		im.fault(e.pos, "a fact has no weight: remove it")
	}
	return f
}

// thens returns what follows from a rule.
func (im *importer) thens(e *element) []Then {
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
		return []Then{{Do: Know, Name: fact}}
	case fact != "":
		im.fault(e.pos, "a rule gives a fact or a category and topics: make two of it")
	case category == "" && topics == nil:
		im.fault(e.pos, `the rule gives nothing: write <rule category="databases" topics="sqlite">`)
	case category != "" && len(topics) == 1:
		return []Then{{Name: category, Topic: topics[0]}}
	}
	var thens []Then
	if category != "" {
		thens = append(thens, Then{Name: category})
	}
	for _, topic := range topics {
		thens = append(thens, Then{Topic: topic})
	}
	return thens
}

// label returns a name in the form that names have, empty if there is none.
func (im *importer) label(e *element, what, name string) string {
	name = strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "_", " ")), "-")
	if name == "" {
		return ""
	}
	if wrong := wrongLabel(what, name); wrong != "" {
		im.fault(e.pos, "%s", wrong)
	}
	return name
}

// conditions returns the conditions that elements stand for, without those that
// have a fault.
func (im *importer) conditions(list []*element, f Field) []Expr {
	var all []Expr
	for _, e := range list {
		if x := im.condition(e, f); x != nil {
			all = append(all, x)
		}
	}
	return all
}

// condition returns the condition that an element stands for, nil if it has a
// fault. f is the field of what it is within.
func (im *importer) condition(e *element, f Field) Expr {
	switch e.name {
	case "any", "all", "none", "atleast", "near":
		return im.group(e, f)
	case "fact", "host", "lang":
		im.allow(e)
		if f != Anywhere {
			im.fault(e.pos, "<%s> stands within the field %s: put it outside", e.name, FieldNames[f])
			return nil
		}
	case "stem", "word", "phrase", "loose", "prefix", "exact", "regexp":
		im.allow(e, "field")
		f = im.fieldOf(e, f)
	default:
		im.fault(e.pos, "<%s> is unknown: there are any, all, none, atleast, near, stem, word, phrase, loose, prefix, exact, regexp, host, lang, fact", shorten(e.name))
		return nil
	}
	if len(e.inner) > 0 {
		im.fault(e.inner[0].pos, "<%s> stands in <%s>, which has a text only", shorten(e.inner[0].name), e.name)
		return nil
	}
	text := strings.Join(strings.Fields(e.text), " ")
	if e.name == "fact" {
		name := im.label(e, "fact", text)
		if name == "" {
			im.fault(e.pos, "<fact> is empty: write the name of a fact")
			return nil
		}
		return &Fact{Known, name, e.pos}
	}
	t := im.termOf(e.name, text)
	t.Pos = e.pos
	if t.Field == Anywhere {
		t.Field = f
	}
	if wrong := im.wrong(t); wrong != "" {
		im.fault(e.pos, "%s", wrong)
		return nil
	}
	return t
}

// termOf returns the term that an element of the name stands for.
func (im *importer) termOf(name, text string) *Term {
	switch name {
	case "stem":
		// "databas", of database, would become "databa", which is the stem of no word.
		if stems := stem.List(text, ""); len(stems) == 1 && stems[0] != strings.ToLower(text) {
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

// group returns the condition that an element with others in it stands for.
func (im *importer) group(e *element, f Field) Expr {
	number := map[string]string{"atleast": "n", "near": "within"}[e.name]
	if number == "" {
		im.allow(e, "field")
	} else {
		im.allow(e, "field", number)
	}
	if text := strings.TrimSpace(e.text); text != "" {
		im.fault(e.pos, "%s stands in <%s>: put it into <word> or <phrase>", quote(shorten(text)), e.name)
	}
	if len(e.inner) == 0 {
		im.fault(e.pos, "<%s> is empty: put conditions into it, or remove it", e.name)
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
			im.fault(e.pos, `a number is missing: <%s %s="2">`, e.name, number)
			return nil
		}
	}
	switch e.name {
	case "all":
		return conjoin(list)
	case "none":
		return deny(disjoin(list))
	case "atleast":
		x := &AtLeast{n, list}
		return im.sound(e, x, x.wrong())
	case "near":
		if len(list) != 2 {
			im.fault(e.pos, "<near> has %d conditions in it, not 2: put several into <any>", len(list))
			return nil
		}
		x := &Near{list[0], list[1], n}
		return im.sound(e, x, x.wrong())
	}
	return disjoin(list)
}

// sound returns x if nothing is wrong with it.
func (im *importer) sound(e *element, x Expr, wrong string) Expr {
	if wrong != "" {
		im.fault(e.pos, "%s", wrong)
		return nil
	}
	return x
}

// fieldOf returns the field of an element that is within the field f.
func (im *importer) fieldOf(e *element, f Field) Field {
	name, found := e.attrs["field"]
	if !found {
		return f
	}
	own := Field(slices.Index(FieldNames[:], strings.ToLower(name)))
	switch {
	case name == "" || own >= Fields:
		im.fault(e.pos, "%s is no field: %s", quote(shorten(name)), strings.Join(FieldNames[1:], ", "))
		return f
	case f != Anywhere && own != f:
		im.fault(e.pos, "<%s> of %s stands within the field %s: put it outside", e.name, name, FieldNames[f])
	}
	return own
}

func countTerms(x Expr) int {
	n := 0
	walk(x, func(x Expr) bool {
		switch x.(type) {
		case *Term, *Fact:
			n++
		}
		return true
	})
	return n
}
