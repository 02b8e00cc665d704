package locale

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
	"text/template/parse"
)

// Functions returns the functions of templates that depend on the language.
func (l *Language) Functions() template.FuncMap {
	say := func(t Text) string { return t.In(l) }
	return template.FuncMap{
		// text is added to each action by Translate: it formats texts and leaves other values.
		"text": func(value any) any {
			if t, is := value.(Text); is {
				return t.In(l)
			}
			return value
		},
		"t":        func(english string, args ...any) string { return say(T(english, args...)) },
		"count":    func(n int64) string { return say(Count(n)) },
		"plural":   func(n int64, noun string) string { return say(Plural(n, noun)) },
		"bytes":    func(n int64) string { return say(Bytes(n)) },
		"span":     func(seconds float64) string { return say(Span(seconds)) },
		"percent":  func(share float64) string { return say(Percent(share)) },
		"sentence": func(t Text) string { return say(Sentence(t)) },
		"lang":     func() string { return l.Code },
		"otherLanguages": func() []*Language {
			return slices.DeleteFunc(slices.Clone(Languages), func(other *Language) bool { return other == l })
		},
	}
}

// Translate translates the words of templates that were not executed yet, and lets their actions print texts in the
// language. The templates need the functions of the language. Words between two tags or actions are one text; those of
// code, kbd, pre, script and style, and of attributes without words for people stay.
func (l *Language) Translate(templates *template.Template) {
	walk(templates, func(words string) string {
		if t, found := l.load().Interface[words]; found {
			return html.EscapeString(t.Other)
		}
		return words
	}, true)
}

// Words calls found with each text of templates that Translate translates.
func Words(templates *template.Template, found func(words string)) {
	walk(templates, func(words string) string {
		found(words)
		return words
	}, false)
}

func walk(templates *template.Template, translate func(words string) string, actions bool) {
	for _, t := range templates.Templates() {
		if t.Tree == nil {
			continue
		}
		w := walker{tree: t.Tree, translate: translate, actions: actions}
		w.list(t.Tree.Root, markup{})
	}
}

// A walker replaces the words of a template. It changes the parsed nodes in place, so its templates must not be shared with another language.
type walker struct {
	tree      *parse.Tree
	translate func(words string) string
	actions   bool // adds the function text to actions
}

// list replaces the words of nodes and returns the state behind them.
func (w walker) list(nodes *parse.ListNode, m markup) markup {
	if nodes == nil {
		return m
	}
	for _, node := range nodes.Nodes {
		switch n := node.(type) {
		case *parse.TextNode:
			n.Text = []byte(m.replace(string(n.Text), w.translate))
		case *parse.ActionNode:
			if w.actions && len(n.Pipe.Decl) == 0 && !endsInEscaper(n.Pipe) {
				name := parse.NewIdentifier("text").SetTree(w.tree).SetPos(n.Pos)
				n.Pipe.Cmds = append(n.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Pos, Args: []parse.Node{name}})
			}
		case *parse.IfNode:
			m = w.branches(&n.BranchNode, m)
		case *parse.WithNode:
			m = w.branches(&n.BranchNode, m)
		case *parse.RangeNode:
			m = w.branches(&n.BranchNode, m)
		case *parse.TemplateNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
		default:
			panic(fmt.Sprintf("locale: template %s has an unknown node %T", w.tree.Name, node))
		}
	}
	return m
}

// endsInEscaper reports whether the result of an action is escaped text already, by a function that must be its last.
func endsInEscaper(p *parse.PipeNode) bool {
	name, is := p.Cmds[len(p.Cmds)-1].Args[0].(*parse.IdentifierNode)
	return is && slices.Contains([]string{"html", "js", "urlquery"}, name.Ident)
}

// branches replaces the words of both branches, which begin in the same state and end in the same, as package
// html/template requires.
func (w walker) branches(n *parse.BranchNode, m markup) markup {
	end := w.list(n.List, m)
	w.list(n.ElseList, m)
	return end
}

// markup is the state of a scan through HTML, which may be interrupted by actions.
type markup struct {
	inTag     bool
	quoted    bool   // in the value of an attribute
	attribute string // its name
	kept      string // name of the open element whose text is kept
	tag       string // name of the last tag that began
}

// shownAttributes are the attributes with words for people.
var shownAttributes = []string{"alt", "aria-label", "aria-description", "placeholder", "title"}

// keptElements are the elements whose text is not translated.
var keptElements = []string{"code", "kbd", "pre", "script", "style"}

// replace returns HTML with translated words, and moves the state behind it.
func (m *markup) replace(source string, translate func(words string) string) string {
	var b strings.Builder
	for source != "" {
		switch {
		case m.inTag && m.quoted:
			value, rest, closed := strings.Cut(source, `"`)
			if slices.Contains(shownAttributes, m.attribute) {
				value = replaceWords(value, translate)
			}
			b.WriteString(value)
			source = rest
			if closed {
				b.WriteByte('"')
				m.quoted = false
			}
		case m.inTag:
			end := strings.IndexAny(source, `">`)
			if end < 0 {
				m.name(source)
				b.WriteString(source)
				return b.String()
			}
			m.name(source[:end])
			b.WriteString(source[:end+1])
			if source[end] == '"' {
				m.quoted = true
			} else {
				m.inTag = false
				m.open()
			}
			source = source[end+1:]
		default:
			words, rest, tag := strings.Cut(source, "<")
			if m.kept == "" {
				words = replaceWords(words, translate)
			}
			b.WriteString(words)
			source = rest
			if tag {
				b.WriteByte('<')
				m.inTag, m.tag = true, ""
			}
		}
	}
	return b.String()
}

// name reads the name of a tag, and of the attribute before a value, from a part of a tag.
func (m *markup) name(part string) {
	fields := strings.Fields(part)
	if len(fields) == 0 {
		return
	}
	if m.tag == "" {
		m.tag = fields[0]
	}
	m.attribute = strings.TrimSuffix(fields[len(fields)-1], "=")
}

// open notes the end of a tag.
func (m *markup) open() {
	switch {
	case m.kept == "" && slices.Contains(keptElements, m.tag):
		m.kept = m.tag
	case m.tag == "/"+m.kept:
		m.kept = ""
	}
}

// replaceWords translates text without tags; its space at both ends stays.
func replaceWords(source string, translate func(words string) string) string {
	words := strings.TrimSpace(source)
	if !hasLetter(words) {
		return source
	}
	begin := strings.Index(source, words)
	plain := strings.Join(strings.Fields(html.UnescapeString(words)), " ")
	if translated := translate(plain); translated != plain {
		words = translated
	}
	return source[:begin] + words + source[begin+len(strings.TrimSpace(source)):]
}

func hasLetter(words string) bool {
	return strings.ContainsFunc(words, func(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' })
}
