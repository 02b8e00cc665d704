package output

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// firstPage decodes the request for the first page of a list, of 50 entries by default.
func firstPage[In any](query url.Values) (In, error) {
	query.Del("cursor")
	if !query.Has("limit") {
		query.Set("limit", strconv.Itoa(defaultLimit))
	}
	return decode[In](query)
}

// decode decodes parameters into a request of package wire, with the defaults, bounds and errors of the REST
// interface: the error is a response with status 422 that lists all invalid parameters.
func decode[In any](query url.Values) (In, error) {
	var in In
	var invalid huma.ValidateResult
	schemas := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	for field, to := range reflect.ValueOf(&in).Elem().Fields() {
		name := field.Tag.Get("query")
		text := cmp.Or(query.Get(name), field.Tag.Get("default"))
		if text == "" {
			continue
		}
		at := "query." + name
		path := huma.NewPathBuffer([]byte(at), len(at))
		value, err := set(to, text)
		if err != nil {
			invalid.Add(path, text, err.Error())
			continue
		}
		huma.Validate(schemas, huma.SchemaFromField(schemas, field, ""), path, huma.ModeWriteToServer, value, &invalid)
	}
	if len(invalid.Errors) > 0 {
		return in, huma.NewError(http.StatusUnprocessableEntity, "validation failed", invalid.Errors...)
	}
	return in, nil
}

// set parses a parameter into a field and returns the value to validate. The error texts are those of huma.
func set(to reflect.Value, text string) (value any, err error) {
	reason := "invalid integer"
	switch to := to.Addr().Interface().(type) {
	case *string:
		*to, value = text, text
	case *int:
		*to, err = strconv.Atoi(text)
		value = int64(*to)
	case *bool:
		reason = "invalid boolean"
		*to, err = strconv.ParseBool(text)
		value = *to
	case *time.Time:
		reason = "invalid date/time for format " + time.RFC3339Nano
		*to, err = time.Parse(time.RFC3339Nano, text)
		value = text
	default:
		panic("unsupported type of a parameter: " + reflect.TypeOf(to).String())
	}
	if err != nil {
		return nil, errors.New(reason)
	}
	return value, nil
}
