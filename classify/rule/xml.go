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

// FromXML converts rules in XML to an archive for [Parse], with a file for each category. The format suits
// rules on stems, each of which concludes one category and topics:
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
// A rule has a category, topics separated by commas, or both, or else a fact. It may have a weight, and may
// apply to the feeds of a feed-tag or to one feed. "topic" and "score" are aliases of topics and weight. All
// of its conditions must hold:
//
//	any, all, none, atleast n="2"    of the nested conditions
//	near within="5"                  the two nested conditions
//	stem                             a stem; treated as a prefix if its own stem is different
//	word, phrase                     by stems
//	loose, prefix, exact, regexp     as in the text form
//	host, lang                       as host: and lang: in the text form
//	fact                             its name
//
// All but the last three may have a field, which nested conditions inherit. White space around texts, the
// case of element and attribute names, name spaces, comments and processing instructions are ignored.
// Upper-case letters, spaces and underscores of categories and topics become lower-case letters and hyphens.
// Everything else is rejected.
//
// FromXML reads at most 4 MB, and no entities except those of XML itself. The error is of type [Diagnostics],
// with positions in "import.xml" and columns in bytes, or the error of reading r.
func FromXML(r io.Reader) (archive []byte, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSet+1))
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	if len(data) > maxSet {
		return nil, Diagnostics{tooLarge}
	}
	im := xmlImporter{setParser: newSetParser(), decoder: xml.NewDecoder(bytes.NewReader(data))}
	im.decoder.CharsetReader = charset.NewReaderLabel
	im.document()
	set, err := im.done()
	if err != nil {
		return nil, err
	}
	archive = set.archive()
	if _, err := Parse(archive); err != nil {
		return nil, err // a rule or the set exceeds a limit in its text form
	}
	return archive, nil
}

// archive returns the rules of a set with a file for each category, and one each for topics and facts without
// category.
func (s *Set) archive() []byte {
	a := &txtar.Archive{}
	index := make(map[string]int)
	scopes := make(map[string]Scope) // last scope of each file
	for _, r := range s.Rules {
		name := r.Action.Name
		switch {
		case r.Action.Kind == ConcludeFact:
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

// An xmlImporter collects the rules of an XML document.
type xmlImporter struct {
	*setParser
	decoder *xml.Decoder
	broken  bool // the XML is invalid and reported
}

// An element is a <rule> or an element within one.
type element struct {
	name  string // in lower case, without name space
	pos   Pos
	attrs map[string]string
	text  string // without the text of inner elements
	inner []*element
}

// document reads rules until the end or invalid XML.
func (im *xmlImporter) document() {
	root := false
	for !im.full() {
		pos := im.pos()
		switch t := im.token().(type) {
		case nil:
			if !root && len(im.diagnostics) == 0 {
				im.report(pos, "there are no rules: write <rules> that contains <rule>")
			}
			return
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				im.report(pos, "%s is outside of a rule: remove it", quote(shorten(string(bytes.TrimSpace(t)))))
			}
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			switch {
			case !root && name == "rules":
				root = true
				if len(t.Attr) > 0 && !isNameSpace(t.Attr[0]) {
					im.report(pos, "<rules> has no attributes: remove %s", quote(shorten(t.Attr[0].Name.Local)))
				}
			case root && name == "rule":
				if e := im.element(t, pos); e != nil {
					im.add(e)
				}
			case !root:
				im.report(pos, "the document must begin with <rules>, not <%s>", shorten(name))
				return
			default:
				im.report(pos, "<%s> is not allowed here: <rules> contains only <rule>", shorten(name))
				if im.decoder.Skip() != nil {
					return // reported by the next token
				}
			}
		}
	}
}

// pos returns the position of the next token.
func (im *xmlImporter) pos() Pos {
	line, column := im.decoder.InputPos()
	return Pos{"import.xml", line, column}
}

// token returns the next token, nil at the end.
func (im *xmlImporter) token() xml.Token {
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
		im.report(pos, "invalid XML: %s", text)
		return nil
	}
	if _, ok := t.(xml.Directive); ok {
		im.report(pos, "directives such as <!DOCTYPE> are not supported: remove them")
	}
	return t
}

// maxElements bounds the elements of a rule.
const maxElements = 2 * maxTerms

// element reads an element and its contents, nil on error.
func (im *xmlImporter) element(start xml.StartElement, pos Pos) *element {
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
				im.report(root.pos, "the rule has more than %d elements, or %d nested ones: split it", maxElements, maxDepth)
				for range len(stack) + 1 {
					if im.decoder.Skip() != nil {
						break // reported by the next token
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

func (im *xmlImporter) open(start xml.StartElement, pos Pos) *element {
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
			im.report(pos, "<%s> has %s twice: remove one", e.name, name)
		}
		e.attrs[name] = strings.Join(strings.Fields(a.Value), " ")
	}
	return e
}

var otherNames = map[string]string{"topic": "topics", "score": "weight"}

func isNameSpace(a xml.Attr) bool { return a.Name.Space == "xmlns" || a.Name.Local == "xmlns" }
