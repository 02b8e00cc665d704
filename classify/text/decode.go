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
	maxEntry    = 500       // bytes of one string
	maxFaults   = 100       // that one error names
)

// Parse reads a rule set from a JSON document of at most 256 KB. The error
// joins all faults, at most 100, each with its path, as in
// `feeds[2].cut[0]: "div[": expected identifier`.
func Parse(doc []byte) (*Rules, error) { return parse(doc, Default().document) }

// parse reads a rule set whose document leaves out what base has.
func parse(doc []byte, base document) (*Rules, error) {
	if len(doc) > maxDocument {
		return nil, fmt.Errorf("the document has %d bytes, more than %d", len(doc), maxDocument)
	}
	var raw json.RawMessage
	if err := json.Unmarshal(doc, &raw); err != nil {
		return nil, syntaxFault(doc, err)
	}
	var c compiler
	c.decode("", raw, reflect.ValueOf(&base).Elem())
	r := c.compile(base)
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	return r, nil
}

// syntaxFault tells where a document is no JSON, by line.
func syntaxFault(doc []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	before := doc[:min(int(syntax.Offset), len(doc))]
	return fmt.Errorf("line %d: %w", 1+bytes.Count(before, []byte("\n")), err)
}

// A compiler makes rules of a document and notes every fault on the way: the
// first of each path, since what could not be read is wrong in other ways too.
type compiler struct {
	faults []error
	paths  map[string]bool
}

func (c *compiler) fault(path, format string, args ...any) {
	if path == "" {
		path = "document"
	}
	if len(c.faults) == maxFaults || c.paths[path] {
		return
	}
	if c.paths == nil {
		c.paths = make(map[string]bool)
	}
	c.paths[path] = true
	c.faults = append(c.faults, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// decode reads raw into the settable value v of one of the types that a
// document is made of. What an object leaves out stays as it is.
func (c *compiler) decode(path string, raw json.RawMessage, v reflect.Value) {
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

// kindNames says what a value should have been.
var kindNames = map[reflect.Kind]string{reflect.String: "a string", reflect.Bool: "true or false", reflect.Int: "a whole number"}

func (c *compiler) decodeScalar(path string, raw json.RawMessage, v reflect.Value) {
	if isNull(raw) || json.Unmarshal(raw, v.Addr().Interface()) != nil {
		c.fault(path, "got %.40s, want %s", raw, kindNames[v.Kind()])
		return
	}
	if v.Kind() == reflect.String && v.Len() > maxEntry {
		c.fault(path, "%d bytes are more than %d", v.Len(), maxEntry)
		v.SetString("")
	}
}

func (c *compiler) decodeSlice(path string, raw json.RawMessage, v reflect.Value) {
	var list []json.RawMessage
	if isNull(raw) || json.Unmarshal(raw, &list) != nil {
		c.fault(path, "got %.40s, want a list", raw)
		return
	}
	if len(list) > maxList {
		c.fault(path, "%d entries are more than %d", len(list), maxList)
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, entry := range list {
		c.decode(fmt.Sprintf("%s[%d]", path, i), entry, v.Index(i))
	}
}

func (c *compiler) decodeMap(path string, raw json.RawMessage, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	c.members(path, raw, func(name string, value json.RawMessage) {
		entry := reflect.New(v.Type().Elem()).Elem()
		c.decode(join(path, name), value, entry)
		v.SetMapIndex(reflect.ValueOf(name), entry)
	})
}

func (c *compiler) decodeStruct(path string, raw json.RawMessage, v reflect.Value) {
	var names []string
	for field := range v.Fields() {
		names = append(names, field.Tag.Get("json"))
	}
	c.members(path, raw, func(name string, value json.RawMessage) {
		if i := slices.Index(names, name); i >= 0 {
			c.decode(join(path, name), value, v.Field(i))
			return
		}
		c.fault(join(path, name), "is not known; choose from %s", strings.Join(names, ", "))
	})
}

// members calls do with each member of the object raw, in order.
func (c *compiler) members(path string, raw json.RawMessage, do func(name string, value json.RawMessage)) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		c.fault(path, "got %.40s, want an object", raw)
		return
	}
	seen := make(map[string]bool)
	for d.More() {
		var value json.RawMessage
		name, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil { // not where the whole document was read before
			c.fault(path, "%v", err)
			return
		}
		if key := name.(string); seen[key] {
			c.fault(join(path, key), "stands twice")
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
