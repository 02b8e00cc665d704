package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"feedmesh/classify/query"
)

// A queryProblem is the response to a query with a syntax error.
type queryProblem struct {
	huma.ErrorModel
	Pos int `json:"pos"`
}

func queryError(err error, syntaxErr *query.SyntaxError) error {
	return &queryProblem{
		ErrorModel: huma.ErrorModel{Title: http.StatusText(http.StatusBadRequest), Status: http.StatusBadRequest, Detail: err.Error()},
		Pos:        syntaxErr.Offset,
	}
}

// describeQueryProblem adds the position of a syntax error to the description of errors.
func describeQueryProblem(api huma.API) {
	errorSchema := api.OpenAPI().Components.Schemas.Map()["ErrorModel"]
	errorSchema.Properties["pos"] = &huma.Schema{Type: "integer", Description: "Of a query that can't be understood: the bytes before the character at fault."}
}
