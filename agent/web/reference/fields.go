package reference

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// A field is a parameter of a request, or a field of an object.
type field struct {
	Name, In string // In is "path", "query" or "header" for a parameter
	Type     string
	Text     string
	Bounds   string
	Depth    int // of the object that contains it
	Required bool

	sample any
}

// maxDepth bounds nested objects: some contain objects of their own type.
const maxDepth = 3

// A describer describes schemas, whose references a registry resolves.
type describer struct{ schemas huma.Registry }

// fields returns the fields of an object, or of the objects in an array, and those of its fields.
func (d describer) fields(s *huma.Schema, depth int) (all []field) {
	object := d.object(s)
	if object == nil || depth > maxDepth {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		if name == "$schema" {
			continue
		}
		property := object.Properties[name]
		f := d.field(name, property, depth, slices.Contains(object.Required, name))
		all = append(all, f)
		all = append(all, d.fields(property, depth+1)...)
	}
	return all
}

// object returns the schema of an object, of the objects in an array, or of the values of a map; nil for others.
func (d describer) object(s *huma.Schema) *huma.Schema {
	s = d.resolve(s)
	switch {
	case s == nil:
		return nil
	case len(s.Properties) > 0:
		return s
	case s.Items != nil:
		return d.object(s.Items)
	}
	if values, is := s.AdditionalProperties.(*huma.Schema); is {
		return d.object(values)
	}
	return nil
}

func (d describer) resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return d.schemas.SchemaFromRef(s.Ref)
	}
	return s
}

func (d describer) field(name string, s *huma.Schema, depth int, required bool) field {
	f := field{Name: name, Depth: depth, Required: required, Type: d.typeOf(s), Text: s.Description, Bounds: boundsOf(d.resolve(s))}
	f.sample = d.sampleOf(s)
	return f
}

// typeOf returns the type of a value in words, such as "array of objects".
func (d describer) typeOf(s *huma.Schema) string {
	s = d.resolve(s)
	switch {
	case s == nil:
		return ""
	case s.Type == huma.TypeArray && s.Items != nil:
		return "array of " + d.typeOf(s.Items) + "s"
	case s.Type == huma.TypeObject:
		if values, is := s.AdditionalProperties.(*huma.Schema); is {
			return "map of " + d.typeOf(values) + "s"
		}
		return "object"
	case s.Format == "date-time":
		return "time"
	case s.Type == "":
		return "value"
	}
	return s.Type
}

// boundsOf describes the values that are accepted.
func boundsOf(s *huma.Schema) string {
	if s == nil {
		return ""
	}
	var all []string
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		all = append(all, "one of "+strings.Join(values, ", "))
	}
	if s.Minimum != nil || s.Maximum != nil {
		all = append(all, strings.TrimSpace(boundOf("at least ", s.Minimum)+boundOf(" at most ", s.Maximum)))
	}
	if s.MaxLength != nil {
		all = append(all, fmt.Sprintf("at most %d characters", *s.MaxLength))
	}
	if s.MaxItems != nil {
		all = append(all, fmt.Sprintf("at most %d entries", *s.MaxItems))
	}
	if s.Default != nil {
		all = append(all, fmt.Sprintf("by default %v", s.Default))
	}
	return strings.Join(all, "; ")
}

func boundOf(words string, n *float64) string {
	if n == nil {
		return ""
	}
	return words + strconv.FormatFloat(*n, 'f', -1, 64)
}

// sampleOf returns a value of a type, for examples.
func (d describer) sampleOf(s *huma.Schema) any {
	s = d.resolve(s)
	switch {
	case s == nil:
		return nil
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == huma.TypeArray && s.Items != nil:
		return []any{d.sampleOf(s.Items)}
	case s.Type == huma.TypeObject:
		return map[string]any{}
	case s.Type == huma.TypeBoolean:
		return true
	case s.Type == huma.TypeInteger, s.Type == huma.TypeNumber:
		return 1
	case s.Format == "date-time":
		return "2026-01-02T03:04:05Z"
	}
	return "..."
}
