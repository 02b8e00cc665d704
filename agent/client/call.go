package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/url"
	"reflect"
	"strings"
	"time"

	"feedmesh/agent/wire"
)

// Call sends the request of an operation and returns its answer.
func Call[In, Out any](ctx context.Context, c *Client, o wire.Operation[In, Out], in In) (Out, error) {
	return roundTrip(ctx, c, o, encode(o.Path, reflect.ValueOf(in)))
}

// roundTrip sends the encoded request of an operation and returns its answer.
func roundTrip[In, Out any](ctx context.Context, c *Client, o wire.Operation[In, Out], r request) (Out, error) {
	var out Out
	resp, err := c.sendWithin(ctx, cmp.Or(o.Within, answerTimeout), o.Method, r.path, r.query, r.body)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return out, c.decodeProblem(resp)
	}
	switch out := any(&out).(type) {
	case *wire.None:
		return *new(Out), nil
	case *wire.Document:
		out.Type, out.ETag = resp.Header.Get("Content-Type"), strings.Trim(resp.Header.Get("ETag"), `"`)
		if out.Data, err = io.ReadAll(resp.Body); err != nil {
			err = fmt.Errorf("copy the response of %s: %w", r.path, err)
		}
		return any(*out).(Out), err
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return out, c.unreadable(resp, err)
	}
	return out, nil
}

// Do sends the request of an operation without an answer.
func Do[In any](ctx context.Context, c *Client, o wire.Operation[In, wire.None], in In) error {
	_, err := Call(ctx, c, o, in)
	return err
}

// Download sends the request of an operation that answers with a file. The caller closes its body.
func Download[In any](ctx context.Context, c *Client, o wire.Operation[In, wire.Download], in In) (wire.Download, error) {
	r := encode(o.Path, reflect.ValueOf(in))
	resp, err := c.sendWithin(ctx, makeTimeout, o.Method, r.path, r.query, r.body)
	if err != nil {
		return wire.Download{}, err
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return wire.Download{}, c.decodeProblem(resp)
	}
	_, disposition, err := mime.ParseMediaType(resp.Header.Get("Content-Disposition"))
	if err != nil || resp.Header.Get("Content-Type") != o.Type {
		defer resp.Body.Close()
		return wire.Download{}, c.errNotFeedmesh(resp)
	}
	return wire.Download{Name: disposition["filename"], Type: o.Type, Size: resp.ContentLength, Body: resp.Body}, nil
}

// A request is an encoded request of an operation.
type request struct {
	path  string
	query url.Values
	body  any // as [Client.send] takes it
}

// encode puts the fields of a request into its path, query and body by their tags. A zero value is left out
// of the query unless the parameter is required.
func encode(path string, in reflect.Value) request {
	r := request{path: path, query: url.Values{}}
	r.add(in)
	return r
}

func (r *request) add(in reflect.Value) {
	for i := range in.NumField() {
		field, value := in.Type().Field(i), in.Field(i)
		switch {
		case field.Anonymous:
			r.add(value)
		case field.Name == "Body" || field.Name == "RawBody":
			r.body = value.Interface()
		case field.Tag.Get("path") != "":
			r.path = strings.ReplaceAll(r.path, "{"+field.Tag.Get("path")+"}", url.PathEscape(format(value)))
		case field.Tag.Get("query") != "" && (!value.IsZero() || field.Tag.Get("required") == "true"):
			r.query.Set(field.Tag.Get("query"), format(value))
		}
	}
}

// format returns a value as it stands in paths and queries.
func format(v reflect.Value) string {
	if t, is := v.Interface().(time.Time); is {
		return t.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v.Interface())
}
