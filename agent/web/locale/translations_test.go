package locale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	parsed "text/template/parse"
	"time"
)

// A source is a place where a text is used.
type source struct {
	at     string
	plural bool
}

// sources are the places of the texts of the interface by their English text.
type sources map[string]source

func (s sources) add(text, at string, plural bool) {
	s[text] = source{at, plural}
}

// TestTranslations checks that each text of the pages, their templates and scripts has a translation, with the same
// verbs, and that each translation is used.
func TestTranslations(t *testing.T) {
	used := sources{}
	for _, name := range append(weekdays(), months()...) {
		used.add(name, "package time", false)
	}
	for _, u := range units {
		for _, text := range []string{u.several, u.past, u.next} {
			used.add(text, "units", true)
		}
	}
	for _, text := range byteUnits {
		used.add(text, "byteUnits", false)
	}
	addGo(t, used, "..")
	addTemplates(t, used, "..")
	addScripts(t, used, "../console/script", "../console/offline")
	for _, l := range Languages[1:] {
		texts := l.load().Interface
		var missing []string
		for text, from := range used {
			translated, found := texts[text]
			if !found {
				missing = append(missing, strconv.Quote(text)+" of "+from.at)
				continue
			}
			forms := []string{translated.Other}
			if from.plural {
				forms = append(forms, translated.One, translated.Few, translated.Many)
			} else if translated.One != "" {
				t.Errorf("%s: %q has plural forms, but no number (%s)", l.Name, text, from.at)
			}
			for _, form := range forms {
				checkVerbs(t, l, text, form)
			}
		}
		slices.Sort(missing)
		for _, text := range missing {
			t.Errorf("%s: no translation of %s", l.Name, text)
		}
		for text := range texts {
			if _, found := used[text]; !found {
				t.Errorf("%s: the translation of %q is not used", l.Name, text)
			}
		}
		for text, translated := range l.load().Service {
			checkVerbs(t, l, text, translated.Other)
			if key, _ := cutNumbers(strings.NewReplacer("%s", "1", "%%", "%").Replace(text)); key != text {
				t.Errorf("%s: the text %q of a service has a number that is not %%s", l.Name, text)
			}
		}
	}
}

func weekdays() (names []string) {
	for day := time.Sunday; day <= time.Saturday; day++ {
		names = append(names, day.String(), day.String()[:3])
	}
	return names
}

func months() (names []string) {
	for month := time.January; month <= time.December; month++ {
		names = append(names, month.String(), month.String()[:3])
	}
	return names
}

var verb = regexp.MustCompile(`%(\[\d\])?[-+ 0#.\d]*[a-z%]`)

// checkVerbs checks that a translation has the verbs of its text, in any order.
func checkVerbs(t *testing.T, l *Language, text, translated string) {
	t.Helper()
	verbs := func(format string) []string {
		found := verb.FindAllString(format, -1)
		for i := range found {
			found[i] = regexp.MustCompile(`\[\d\]`).ReplaceAllString(found[i], "")
		}
		slices.Sort(found)
		return found
	}
	if translated == "" || !slices.Equal(verbs(text), verbs(translated)) {
		t.Errorf("%s: %q is translated by %q, which is empty or has other verbs", l.Name, text, translated)
	}
}

// addGo adds the texts of Go files: constant arguments of T, N and Plural.
func addGo(t *testing.T, used sources, folder string) {
	files := token.NewFileSet()
	each(t, folder, ".go", func(path string) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		inside := file.Name.Name == "locale"
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is {
				return true
			}
			function, exported := functionOf(call)
			if exported == inside || len(call.Args) == 0 {
				return true
			}
			at := files.Position(call.Pos()).String()
			switch function {
			case "T":
				if text, constant := constantOf(call.Args[0]); constant {
					used.add(text, at, false)
				} else if !inside {
					t.Errorf("%s: the text is not constant, so that its translation can't be checked", at)
				}
			case "N":
				text, constant := constantOf(call.Args[2])
				if constant {
					used.add(text, at, true)
				} else if !inside {
					t.Errorf("%s: the text is not constant, so that its translation can't be checked", at)
				}
			case "Plural":
				if noun, constant := constantOf(call.Args[1]); constant {
					used.add("%d "+noun+"s", at, true)
				} else if !inside {
					t.Errorf("%s: the noun is not constant, so that its translation can't be checked", at)
				}
			case "Data":
				if text, constant := constantOf(call.Args[0]); constant && hasLetter(text) {
					t.Errorf("%s: the text %q is not translated", at, text)
				}
			}
			return true
		})
	})
}

// functionOf returns the name of a called function of package locale, and whether the call names the package.
func functionOf(call *ast.CallExpr) (name string, exported bool) {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name, false
	case *ast.SelectorExpr:
		if x, is := f.X.(*ast.Ident); is && x.Name == "locale" {
			return f.Sel.Name, true
		}
	}
	return "", false
}

// constantOf returns the string of a literal, or of several with + between them.
func constantOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, first := constantOf(e.X)
		right, second := constantOf(e.Y)
		return left + right, first && second && e.Op == token.ADD
	}
	return "", false
}

// addTemplates adds the words of templates, and the texts of their functions plural and t.
func addTemplates(t *testing.T, used sources, folder string) {
	stubs := template.FuncMap{}
	for _, name := range []string{"style", "script", "texts", "manifest", "touchIcon", "lightTheme", "darkTheme", "menu", "may"} {
		stubs[name] = func(...any) string { return "" }
	}
	each(t, folder, ".html", func(path string) {
		if filepath.Base(filepath.Dir(path)) != "templates" {
			return
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := template.New("").Funcs(English.Functions()).Funcs(stubs).Parse(string(content))
		if err != nil {
			t.Fatal(path, err)
		}
		Words(file, func(words string) { used.add(words, path, false) })
		for _, one := range file.Templates() {
			if one.Tree != nil {
				inspect(one.Tree.Root, func(command *parsed.CommandNode) { addCommand(t, used, path, command) })
			}
		}
	})
}

// addCommand adds the text of a function plural or t.
func addCommand(t *testing.T, used sources, path string, command *parsed.CommandNode) {
	function, is := command.Args[0].(*parsed.IdentifierNode)
	if !is || function.Ident != "plural" && function.Ident != "t" {
		return
	}
	at := len(command.Args) - 1
	if function.Ident == "t" {
		at = 1
	}
	text, is := command.Args[at].(*parsed.StringNode)
	switch {
	case !is:
		t.Errorf("%s: the text of %s is not constant, so that its translation can't be checked", path, command)
	case function.Ident == "t":
		used.add(text.Text, path, false)
	default:
		used.add("%d "+text.Text+"s", path, true)
	}
}

// inspect calls found with each command of a template.
func inspect(n parsed.Node, found func(*parsed.CommandNode)) {
	pipe := func(p *parsed.PipeNode) {
		if p != nil {
			inspect(p, found)
		}
	}
	branch := func(b *parsed.BranchNode) {
		pipe(b.Pipe)
		inspect(b.List, found)
		if b.ElseList != nil {
			inspect(b.ElseList, found)
		}
	}
	switch n := n.(type) {
	case *parsed.ListNode:
		for _, one := range n.Nodes {
			inspect(one, found)
		}
	case *parsed.ActionNode:
		pipe(n.Pipe)
	case *parsed.TemplateNode:
		pipe(n.Pipe)
	case *parsed.IfNode:
		branch(&n.BranchNode)
	case *parsed.WithNode:
		branch(&n.BranchNode)
	case *parsed.RangeNode:
		branch(&n.BranchNode)
	case *parsed.PipeNode:
		for _, command := range n.Cmds {
			found(command)
			for _, arg := range command.Args {
				inspect(arg, found)
			}
		}
	}
}

// each calls do with the files of an ending below a folder.
func each(t *testing.T, folder, ending string, do func(path string)) {
	t.Helper()
	if err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ending {
			do(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
