package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// A group is the operations of a tag.
type group struct {
	Name, Text string
	Operations []operation
}

// An operation is one request and its answers.
type operation struct {
	ID, Method, Path string
	Summary, Text    string
	Scope            string // that a token needs
	Parameters       []field
	Body             []content // what a request sends
	Answer           []content // of success
	Status           string    // of success
	Errors           []answer
	Example          string // a command
}

// A content is a body of a media type.
type content struct {
	Type   string
	Text   string // of a body without fields
	Fields []field
}

// An answer is a status that is an error.
type answer struct{ Status, Text string }

// methods are the methods of operations, in the order of a page.
var methods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// groups returns the operations of a description by tag, in the order of its tags.
func groups(description *huma.OpenAPI) []group {
	fields := describer{description.Components.Schemas}
	byTag := map[string][]operation{}
	for _, path := range slices.Sorted(maps.Keys(description.Paths)) {
		item := description.Paths[path]
		for n, o := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if o != nil && len(o.Tags) > 0 {
				byTag[o.Tags[0]] = append(byTag[o.Tags[0]], fields.operation(methods[n], path, o))
			}
		}
	}
	var all []group
	for _, t := range description.Tags {
		all = append(all, group{t.Name, t.Description, byTag[t.Name]})
	}
	return all
}

// operation describes an operation of a path.
func (d describer) operation(method, path string, o *huma.Operation) operation {
	out := operation{ID: o.OperationID, Method: method, Path: path, Summary: o.Summary, Text: o.Description}
	for _, schemes := range o.Security {
		for _, scopes := range schemes {
			out.Scope = strings.Join(scopes, ", ")
		}
	}
	for _, p := range o.Parameters {
		f := d.field(p.Name, p.Schema, 0, p.Required)
		f.In, f.Text = p.In, cmp.Or(p.Description, f.Text)
		out.Parameters = append(out.Parameters, f)
	}
	if o.RequestBody != nil {
		out.Body = d.contents(o.RequestBody.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		response := o.Responses[status]
		if strings.HasPrefix(status, "2") {
			out.Status, out.Answer = status, d.contents(response.Content)
			continue
		}
		out.Errors = append(out.Errors, answer{status, response.Description})
	}
	out.Example = example(method, path, o, out.Body)
	return out
}

func (d describer) contents(byType map[string]*huma.MediaType) (all []content) {
	for _, kind := range slices.Sorted(maps.Keys(byType)) {
		c := content{Type: kind}
		if schema := byType[kind].Schema; schema != nil {
			c.Fields = d.fields(schema, 0)
			c.Text = d.typeOf(schema)
		}
		all = append(all, c)
	}
	return all
}

// example returns a command that sends the request.
func example(method, path string, o *huma.Operation, body []content) string {
	var query []string
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			query = append(query, p.Name+"=VALUE")
		}
	}
	for _, p := range o.Parameters {
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", strings.ToUpper(p.Name))
		}
	}
	if len(query) > 0 {
		path += "?" + strings.Join(query, "&")
	}
	b := &strings.Builder{}
	fmt.Fprint(b, "curl")
	if method != http.MethodGet {
		fmt.Fprint(b, " -X ", method)
	}
	fmt.Fprint(b, ` -H "Authorization: Bearer $TOKEN"`)
	if len(body) > 0 {
		fmt.Fprintf(b, ` -H "Content-Type: %s"`, body[0].Type)
		if len(body[0].Fields) > 0 {
			fmt.Fprintf(b, " \\\n  -d '%s'", sample(body[0].Fields))
		} else {
			fmt.Fprint(b, " \\\n  --data-binary @FILE")
		}
	}
	fmt.Fprintf(b, " \\\n  \"$FEEDMESH%s\"", path)
	return b.String()
}

// sample returns a JSON object with the required fields, or with the first if none is.
func sample(fields []field) string {
	values := map[string]any{}
	for _, f := range fields {
		if f.Depth == 0 && f.Required {
			values[f.Name] = f.sample
		}
	}
	if len(values) == 0 {
		values[fields[0].Name] = fields[0].sample
	}
	text, err := json.Marshal(values)
	if err != nil {
		return "{}"
	}
	return string(text)
}
