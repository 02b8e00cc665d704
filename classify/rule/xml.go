package rule

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/tools/txtar"
)

// FromXML turns rules in XML into an archive that [Parse] reads, with a file for
// each category. Its form is made for rules on stems, each of which gives one
// category and topics:
//
//	<rules>
//	  <rule category="frontend" topics="css, css-selectors" weight="2">
//	    <any field="title">
//	      <stem>css</stem> <phrase>cascading style sheets</phrase> <prefix>flexbo</prefix>
//	    </any>
//	    <none> <exact>CSS Zen Garden</exact> </none>
//	  </rule>
//	</rules>
//
// A rule has a category, topics with commas between them, or both, or else a fact;
// it may have a weight, and be for the feeds of a feed-tag or for one feed. "topic"
// and "score" are other names for topics and weight. Its conditions must all hold:
//
//	any, all, none, atleast n="2"    of the conditions within
//	near within="5"                  of the two conditions within
//	stem                             a stem; one that is another as a word is taken for a prefix
//	word, phrase                     by stems
//	loose, prefix, exact, regexp     as in the text form
//	host, lang                       as host: and lang: in the text form
//	fact                             its name
//
// All but the last three may have a field, which is that of what is within too.
// White space around texts, upper and lower case of the names of elements and
// attributes, name spaces, comments and processing instructions do not matter;
// capitals, spaces and underscores of categories and topics become small letters and
// hyphens. All that is not listed here is refused.
//
// FromXML reads 4 MB at most, and no entities but those of XML itself. The error is
// [Faults], whose places are in "import.xml", columns in bytes, or that of reading
// r.
func FromXML(r io.Reader) (archive []byte, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSet+1))
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	if len(data) > maxSet {
		return nil, Faults{tooLarge}
	}
	im := importer{reader: newReader(), decoder: xml.NewDecoder(bytes.NewReader(data))}
	im.decoder.CharsetReader = charset.NewReaderLabel
	im.document()
	set, err := im.done()
	if err != nil {
		return nil, err
	}
	archive = set.archive()
	if _, err := Parse(archive); err != nil {
		return nil, err // a rule, or the set, is too long in its text form
	}
	return archive, nil
}

// archive returns the rules of a set with a file for each category, and one
// each for topics and facts that have none.
func (s *Set) archive() []byte {
	a := &txtar.Archive{}
	index := make(map[string]int)
	scopes := make(map[string]Scope) // the last of each file
	for _, r := range s.Rules {
		name := r.Then.Name
		switch {
		case r.Then.Do == Know:
			name = "facts"
		case name == "":
			name = "topics"
		}
		name += ".rules"
		i, ok := index[name]
		if !ok {
			i = len(a.Files)
			index[name] = i
			a.Files = append(a.Files, txtar.File{Name: name})
		}
		text := r.String() + "\n"
		if r.Scope != scopes[name] {
			text = r.Scope.String() + "\n" + text
			scopes[name] = r.Scope
		}
		a.Files[i].Data = append(a.Files[i].Data, text...)
	}
	return txtar.Format(a)
}

// An importer collects the rules of an XML document.
type importer struct {
	*reader
	decoder *xml.Decoder
	broken  bool // a fault says so
}

// An element is one within a rule, or the rule.
type element struct {
	name  string // in small letters, without its name space
	pos   Pos
	attrs map[string]string
	text  string // without what is in inner
	inner []*element
}

// document reads rules as long as the XML is right.
func (im *importer) document() {
	root := false
	for !im.full() {
		pos := im.pos()
		switch t := im.token().(type) {
		case nil:
			if !root && len(im.faults) == 0 {
				im.fault(pos, "there are no rules: write <rules> with <rule> in it")
			}
			return
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				im.fault(pos, "%s stands outside of a rule: remove it", quote(shorten(string(bytes.TrimSpace(t)))))
			}
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			switch {
			case !root && name == "rules":
				root = true
				if len(t.Attr) > 0 && !isNameSpace(t.Attr[0]) {
					im.fault(pos, "<rules> has no attributes: remove %s", quote(shorten(t.Attr[0].Name.Local)))
				}
			case root && name == "rule":
				if e := im.element(t, pos); e != nil {
					im.add(e)
				}
			case !root:
				im.fault(pos, "<%s> is not what the document should begin with: <rules>", shorten(name))
				return
			default:
				im.fault(pos, "<%s> is unknown here: there may only be <rule> in <rules>", shorten(name))
				if im.decoder.Skip() != nil {
					return // the next token says why
				}
			}
		}
	}
}

// pos returns where the next token begins.
func (im *importer) pos() Pos {
	line, column := im.decoder.InputPos()
	return Pos{"import.xml", line, column}
}

// token returns the next one, nil if there is none.
func (im *importer) token() xml.Token {
	pos := im.pos()
	t, err := im.decoder.Token()
	if err == io.EOF || im.broken {
		return nil
	}
	if err != nil {
		im.broken = true
		text := err.Error()
		if syntax, ok := err.(*xml.SyntaxError); ok {
			pos, text = im.pos(), syntax.Msg
		}
		im.fault(pos, "this is no XML: %s", text)
		return nil
	}
	if _, ok := t.(xml.Directive); ok {
		im.fault(pos, "remove <!DOCTYPE> and the like: rules need none")
	}
	return t
}

// maxElements is how many a rule may have.
const maxElements = 2 * maxTerms

// element reads an element and what is in it, nil if it cannot be read.
func (im *importer) element(start xml.StartElement, pos Pos) *element {
	root := im.open(start, pos)
	stack := []*element{root}
	for n := 1; len(stack) > 0; {
		pos := im.pos()
		last := stack[len(stack)-1]
		switch t := im.token().(type) {
		case nil:
			return nil
		case xml.CharData:
			last.text += string(t)
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.StartElement:
			if n++; n > maxElements || len(stack) > maxDepth {
				im.fault(root.pos, "the rule has over %d elements, or %d within one another: make several of it", maxElements, maxDepth)
				for range len(stack) + 1 {
					if im.decoder.Skip() != nil {
						break // the next token says why
					}
				}
				return nil
			}
			e := im.open(t, pos)
			last.inner = append(last.inner, e)
			stack = append(stack, e)
		}
	}
	return root
}

func (im *importer) open(start xml.StartElement, pos Pos) *element {
	e := &element{name: strings.ToLower(start.Name.Local), pos: pos, attrs: make(map[string]string)}
	for _, a := range start.Attr {
		if isNameSpace(a) {
			continue
		}
		name := strings.ToLower(a.Name.Local)
		if other, ok := otherNames[name]; ok {
			name = other
		}
		if _, twice := e.attrs[name]; twice {
			im.fault(pos, "<%s> has %s twice: remove one", e.name, name)
		}
		e.attrs[name] = strings.Join(strings.Fields(a.Value), " ")
	}
	return e
}

var otherNames = map[string]string{"topic": "topics", "score": "weight"}

func isNameSpace(a xml.Attr) bool { return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" }
