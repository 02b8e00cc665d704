package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

const (
	maxDocument = 256 << 10 // bytes
	maxList     = 2000      // entries of one list
	maxEntry    = 500       // bytes of a string
	maxProblems = 100       // in one error
)

// Parse parses a rule set from a JSON document of at most 256 KB. The error joins all problems, at most 100,
// each with its path, for example `feeds[2].cut[0]: "div[": expected identifier`.
func Parse(doc []byte) (*Rules, error) { return parse(doc, Default().document) }

// parse parses a rule set; members missing in the document come from base.
func parse(doc []byte, base document) (*Rules, error) {
	if len(doc) > maxDocument {
		return nil, fmt.Errorf("the document has %d bytes; the limit is %d", len(doc), maxDocument)
	}
	var raw json.RawMessage
	if err := json.Unmarshal(doc, &raw); err != nil {
		return nil, syntaxError(doc, err)
	}
	var c documentParser
	c.decode("", raw, reflect.ValueOf(&base).Elem())
	r := c.compile(base)
	if len(c.problems) > 0 {
		return nil, errors.Join(c.problems...)
	}
	return r, nil
}

// syntaxError adds the line to a JSON syntax error.
func syntaxError(doc []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := doc[:min(int(syntax.Offset), len(doc))]
	return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
}

// A documentParser builds rules from a document and collects its problems: only the first for each path,
// because a value that cannot be decoded fails later checks too.
type documentParser struct {
	problems []error
	paths    map[string]bool
}

func (c *documentParser) report(path, format string, args ...any) {
	if path == "" {
		path = "document"
	}
	if len(c.problems) == maxProblems || c.paths[path] {
		return
	}
	if c.paths == nil {
		c.paths = make(map[string]bool)
	}
	c.paths[path] = true
	c.problems = append(c.problems, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// decode decodes raw into the settable value v. Members missing in an object keep their value.
func (c *documentParser) decode(path string, raw json.RawMessage, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		c.decodeStruct(path, raw, v)
	case reflect.Slice:
		c.decodeSlice(path, raw, v)
	case reflect.Map:
		c.decodeMap(path, raw, v)
	default:
		c.decodeScalar(path, raw, v)
	}
}

// kindNames are the expected types for messages.
var kindNames = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false", reflect.Int: "a whole number"}

func (c *documentParser) decodeScalar(path string, raw json.RawMessage, v reflect.Value) {
	if isNull(raw) || json.Unmarshal(raw, v.Addr().Interface()) != nil {
		c.report(path, "got %.40s, want %s", raw, kindNames[v.Kind()])
		return
	}
	if v.Kind() == reflect.String && v.Len() > maxEntry {
		c.report(path, "%d bytes exceed the limit of %d", v.Len(), maxEntry)
		v.SetString("")
	}
}

func (c *documentParser) decodeSlice(path string, raw json.RawMessage, v reflect.Value) {
	var list []json.RawMessage
	if isNull(raw) || json.Unmarshal(raw, &list) != nil {
		c.report(path, "got %.40s, want a list", raw)
		return
	}
	if len(list) > maxList {
		c.report(path, "%d entries exceed the limit of %d", len(list), maxList)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, entry := range list {
		c.decode(fmt.Sprintf("%s[%d]", path, i), entry, v.Index(i))
	}
}

func (c *documentParser) decodeMap(path string, raw json.RawMessage, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	c.members(path, raw, func(name string, value json.RawMessage) {
		entry := reflect.New(v.Type().Elem()).Elem()
		c.decode(join(path, name), value, entry)
		v.SetMapIndex(reflect.ValueOf(name), entry)
	})
}

func (c *documentParser) decodeStruct(path string, raw json.RawMessage, v reflect.Value) {
	var names []string
	for field := range v.Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	c.members(path, raw, func(name string, value json.RawMessage) {
		if i := slices.Index(names, name); i >= 0 {
			c.decode(join(path, name), value, v.Field(i))
			return
		}
		c.report(join(path, name), "is not supported; use one of %s", strings.Join(names, ", "))
	})
}

// members calls do for each member of the object raw, in order.
func (c *documentParser) members(path string, raw json.RawMessage, do func(name string, value json.RawMessage)) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		c.report(path, "got %.40s, want an object", raw)
		return
	}
	seen := make(map[string]bool)
	for d.More() {
		var value json.RawMessage
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil { // impossible: the whole document was parsed before
			c.report(path, "%v", err)
			return
		}
		if key := name.(string); seen[key] {
			c.report(join(path, key), "is repeated")
		} else {
			seen[key] = true
			do(key, value)
		}
	}
}

func isNull(raw json.RawMessage) bool { return string(raw) == "null" }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
