package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema returns the schema of a tool's arguments. Beside jsonschema, which describes a field, the tags minimum,
// maximum, maxLength (characters), maxItems, enum and default bound its values, as in package wire. It panics on a tag that
// is no number.
func inputSchema[In any]() *jsonschema.Schema {
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		panic(fmt.Sprintf("schema of %T: %v", *new(In), err)) // the types are constants
	}
	of := reflect.TypeFor[In]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		bound(schema.Properties[name], of.Field(i).Tag)
	}
	return schema
}

// bound adds the bounds of a field's tags to its schema.
func bound(field *jsonschema.Schema, tags reflect.StructTag) {
	number := func(name string) *int {
		text, is := tags.Lookup(name)
		if !is {
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		return &n
	}
	if n := number("minimum"); n != nil {
		field.Minimum = jsonschema.Ptr(float64(*n))
	}
	if n := number("maximum"); n != nil {
		field.Maximum = jsonschema.Ptr(float64(*n))
	}
	field.MaxLength, field.MaxItems = number("maxLength"), number("maxItems")
	if values := tags.Get("enum"); values != "" {
		for value := range strings.SplitSeq(values, ",") {
			field.Enum = append(field.Enum, value)
		}
	}
	switch value := tags.Get("default"); {
	case value == "":
	case field.Type == "string":
		field.Default = json.RawMessage(strconv.Quote(value))
	default:
		field.Default = json.RawMessage(value)
	}
}
