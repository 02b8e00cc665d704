package main

import (
	"bufio"
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A text is a comment, a paragraph or a message, with where it begins.
type text struct {
	file string
	line int
	text string
}

// skipped names folders that hold no texts of the project: data, results, and
// packages of others.
var skipped = []string{"testdata", "node_modules", "vendor", "results", "data", "bin", "screenshots", "lexicons", "lists"}

// read returns the texts of a folder and the folders below it.
func read(folder string) ([]text, error) {
	var texts []text
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != folder && (strings.HasPrefix(name, ".") && name != ".github" || slices.Contains(skipped, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		var found []text
		switch {
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			found, err = readGo(path)
		case strings.HasSuffix(name, ".md"):
			found, err = readMarkdown(path)
		}
		texts = append(texts, found...)
		return err
	})
	return texts, err
}

// readGo returns the comments of a file, and the strings that users read.
func readGo(path string) ([]text, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments)
	if err != nil {
		return nil, fmt.Errorf("parse comments: %w", err)
	}
	var texts []text
	add := func(at token.Pos, s string) {
		texts = append(texts, text{path, files.Position(at).Line, strings.Join(strings.Fields(s), " ")})
	}
	for _, group := range file.Comments {
		add(group.Pos(), group.Text())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if n.Tag != nil {
				tag, _ := strconv.Unquote(n.Tag.Value)
				add(n.Tag.Pos(), reflect.StructTag(tag).Get("help")+" "+reflect.StructTag(tag).Get("doc"))
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && slices.Contains([]string{"Help", "Description", "Summary", "Does"}, key.Name) {
				add(n.Pos(), literal(n.Value))
			}
		case *ast.CallExpr:
			if isMessage(n.Fun) {
				for _, argument := range n.Args[:min(len(n.Args), 2)] {
					add(n.Pos(), literal(argument))
				}
			}
		case *ast.FuncDecl:
			// kong prints what Help returns.
			if n.Name.Name == "Help" && n.Body != nil && len(n.Body.List) == 1 {
				if r, ok := n.Body.List[0].(*ast.ReturnStmt); ok && len(r.Results) == 1 {
					add(n.Pos(), literal(r.Results[0]))
				}
			}
		}
		return true
	})
	return texts, nil
}

// isMessage reports whether a function's first or second argument is a message of
// a log or an error.
func isMessage(function ast.Expr) bool {
	selector, ok := function.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch selector.Sel.Name {
	case "Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext":
		return true
	case "New", "Errorf":
		of, ok := selector.X.(*ast.Ident)
		return ok && (of.Name == "errors" || of.Name == "fmt")
	}
	return false
}

// literal returns the value of a string literal, or of several added up; "" for
// any other expression.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			s, _ := strconv.Unquote(e.Value)
			return s
		}
	case *ast.BinaryExpr:
		return literal(e.X) + literal(e.Y)
	}
	return ""
}

// readMarkdown returns the lines of a document outside code blocks.
func readMarkdown(path string) ([]text, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var texts []text
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, len(b)+1)
	inCode := false
	for n := 1; lines.Scan(); n++ {
		if strings.HasPrefix(strings.TrimSpace(lines.Text()), "```") {
			inCode = !inCode
			continue
		}
		if !inCode {
			texts = append(texts, text{path, n, lines.Text()})
		}
	}
	return texts, lines.Err()
}
