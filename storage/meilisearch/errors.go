package meilisearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// A rejection reports a request that Meilisearch rejects permanently: a retry is useless.
type rejection struct{ code, message string }

func (r *rejection) Error() string { return fmt.Sprintf("%s (%s)", r.message, r.code) }

// rejectedPayload returns the error of sending documents as a [*rejection] if the documents are the cause.
func rejectedPayload(err error) error {
	var answer *upstream.Error
	if errors.As(err, &answer) &&
		(answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusRequestEntityTooLarge) {
		return &rejection{answer.MeilisearchApiError.Code, answer.MeilisearchApiError.Message}
	}
	return err
}

// failed returns the error of a request for the caller: ctx's own, as [storage.ErrUnavailable], or unchanged.
func (c *connection) failed(ctx context.Context, operation string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", operation, ctx.Err())
	}
	return fmt.Errorf("%s: %w", operation, c.explain(err))
}

// openError returns err for the person who starts the agent.
func (c *connection) openError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isRefused(err) {
		return errors.New(c.keyRefused()) // a retry cannot succeed
	}
	return c.explain(err)
}

func (c *connection) keyRefused() string {
	return fmt.Sprintf("the Meilisearch at %s refuses the key: give its master key, "+
		"or a key whose actions are \"*\" and whose indexes are %q", c.url, c.name+"*")
}

// explain separates temporary errors ([storage.ErrUnavailable]) from permanent ones. It does not wrap the
// cause of a temporary error: our own timeout is not ctx's.
func (c *connection) explain(err error) error {
	if errors.Is(err, storage.ErrUnavailable) || errors.As(err, new(*rejection)) {
		return err
	}
	var answer *upstream.Error
	if !errors.As(err, &answer) { // the response was incomplete
		return fmt.Errorf("the Meilisearch at %s is %w: %v", c.url, storage.ErrUnavailable, err)
	}
	message := fmt.Sprintf("%s (%s)", answer.MeilisearchApiError.Message, answer.MeilisearchApiError.Code)
	switch {
	case answer.StatusCode == 0:
		return fmt.Errorf("the Meilisearch at %s is %w; check that it runs, and its address: %v",
			c.url, storage.ErrUnavailable, answer.OriginError)
	case isRefused(err):
		return fmt.Errorf("%w: %s", storage.ErrUnavailable, c.keyRefused())
	case hasCode(err, noEmbedder):
		return storage.ErrNoEmbedder
	case isTemporary(answer.StatusCode), lacksSettings(answer), hasCode(err, embeddingFailed):
		return fmt.Errorf("the Meilisearch at %s is %w: %s", c.url, storage.ErrUnavailable, message)
	case isUnreadable(err):
		return fmt.Errorf("the server at %s is not Meilisearch; check the address", c.url)
	}
	return fmt.Errorf("the Meilisearch at %s returned an error: %s", c.url, message)
}

func isTemporary(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}

// lacksSettings reports whether a request was rejected because the index lacks its settings: our requests
// are well-formed otherwise.
func lacksSettings(answer *upstream.Error) bool {
	switch answer.MeilisearchApiError.Code {
	case "invalid_search_filter", "invalid_search_sort", "invalid_search_facets",
		"invalid_search_attributes_to_search_on", "invalid_document_filter", "invalid_document_sort",
		"invalid_search_distinct", "invalid_multi_search_facets_by_index", "invalid_facet_search_facet_name":
		return true
	}
	return false
}

func isRefused(err error) bool {
	var answer *upstream.Error
	return errors.As(err, &answer) &&
		(answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden)
}

// indexNotFound is the error code for a missing index.
const indexNotFound = "index_not_found"

func isMissing(err error) bool { return hasCode(err, indexNotFound) }

func hasCode(err error, code string) bool {
	var answer *upstream.Error
	return errors.As(err, &answer) && answer.MeilisearchApiError.Code == code
}

// isUnreadable reports whether the client could not decode the response.
func isUnreadable(err error) bool {
	var answer *upstream.Error
	return errors.As(err, &answer) && answer.ErrCode == upstream.ErrCodeResponseUnmarshalBody
}
