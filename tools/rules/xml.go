package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"

	"feedmesh/classify/rule"
)

// fromXML converts rules in XML to an archive for [rule.Parse], with a file for each category. The format suits
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
// fromXML reads at most 4 MB, and no entities except those of XML itself. The error is of type [rule.Diagnostics],
// with positions in "import.xml" and columns in bytes, or the error of reading r.
func fromXML(r io.Reader) (archive []byte, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	if len(data) > maxSize {
		return nil, rule.Diagnostics{{Message: fmt.Sprintf("the rules have more than %d MB", maxSize>>20)}}
	}
	im := importer{decoder: xml.NewDecoder(bytes.NewReader(data))}
	im.decoder.CharsetReader = charset.NewReaderLabel
	im.document()
	set, err := im.set()
	if err != nil {
		return nil, err
	}
	archive = archiveOf(set)
	if _, err := rule.Parse(archive); err != nil {
		return nil, err // the set exceeds a limit when it is divided into files
	}
	return archive, nil
}

const (
	maxSize        = 4 << 20 // bytes of a document
	maxDiagnostics = 100
)

// An importer writes the rules of an XML document as text, which package rule checks.
type importer struct {
	decoder     *xml.Decoder
	broken      bool // the XML is invalid and reported
	rules       source
	scope       rule.Scope // of the last rule
	diagnostics rule.Diagnostics
}

func (im *importer) report(pos rule.Pos, format string, args ...any) {
	im.diagnostics = append(im.diagnostics, rule.Diagnostic{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// An element is a <rule> or an element within one.
type element struct {
	name  string // in lower case, without name space
	pos   rule.Pos
	attrs map[string]string
	text  string // without the text of inner elements
	inner []*element
}

// document reads rules until the end or invalid XML.
func (im *importer) document() {
	root := false
	for len(im.diagnostics) < maxDiagnostics {
		pos := im.pos()
		switch t := im.token().(type) {
		case nil:
			if !root && len(im.diagnostics) == 0 {
				im.report(pos, "there are no rules: write <rules> that contains <rule>")
			}
			return
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				im.report(pos, "%s is outside of a rule: remove it", quote(string(bytes.TrimSpace(t))))
			}
		case xml.StartElement:
			name := strings.ToLower(t.Name.Local)
			switch {
			case !root && name == "rules":
				root = true
				if len(t.Attr) > 0 && !isNameSpace(t.Attr[0]) {
					im.report(pos, "<rules> has no attributes: remove %s", quote(t.Attr[0].Name.Local))
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
func (im *importer) pos() rule.Pos {
	line, column := im.decoder.InputPos()
	return rule.Pos{File: "import.xml", Line: line, Column: column}
}

// token returns the next token, nil at the end.
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
		im.report(pos, "invalid XML: %s", text)
		return nil
	}
	if _, ok := t.(xml.Directive); ok {
		im.report(pos, "directives such as <!DOCTYPE> are not supported: remove them")
	}
	return t
}

// Limits of a rule.
const (
	maxTerms    = 2_000
	maxElements = 2 * maxTerms
	maxDepth    = 50
)

// element reads an element and its contents, nil on error.
func (im *importer) element(start xml.StartElement, pos rule.Pos) *element {
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

func (im *importer) open(start xml.StartElement, pos rule.Pos) *element {
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
