package meilisearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// A refusal says that Meilisearch does not do something, and will not next time.
type refusal struct{ code, message string }

func (r *refusal) Error() string { return fmt.Sprintf("%s (%s)", r.message, r.code) }

// refusedPayload returns the error of sending documents as a [*refusal] if they
// are what is wrong.
func refusedPayload(err error) error {
	var answer *upstream.Error
	if errors.As(err, &answer) &&
		(answer.StatusCode == http.StatusBadRequest || answer.StatusCode == http.StatusRequestEntityTooLarge) {
		return &refusal{answer.MeilisearchApiError.Code, answer.MeilisearchApiError.Message}
	}
	return err
}

// failed returns err, which a call to the server returned, for our caller: as
// ctx's own, as [storage.ErrUnavailable], or as it is.
func (x *Index) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", doing, ctx.Err())
	}
	return fmt.Errorf("%s: %w", doing, x.explain(err))
}

// openError returns err for the person who starts the agent.
func (x *Index) openError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if isRefused(err) {
		return errors.New(x.keyRefused()) // and no one's retrying makes it better
	}
	return x.explain(err)
}

func (x *Index) keyRefused() string {
	return fmt.Sprintf("the Meilisearch at %s refuses the key: give its master key, "+
		"or a key whose actions are \"*\" and whose indexes include %q", x.url, x.name)
}

// explain tells what may pass ([storage.ErrUnavailable]) from what will not. It
// does not wrap the cause of the former: a time-out of ours is not ctx's.
func (x *Index) explain(err error) error {
	if errors.Is(err, storage.ErrUnavailable) || errors.As(err, new(*refusal)) {
		return err
	}
	var answer *upstream.Error
	if !errors.As(err, &answer) { // the answer could not be read to its end
		return fmt.Errorf("the Meilisearch at %s is %w: %v", x.url, storage.ErrUnavailable, err)
	}
	said := fmt.Sprintf("%s (%s)", answer.MeilisearchApiError.Message, answer.MeilisearchApiError.Code)
	switch {
	case answer.StatusCode == 0:
		return fmt.Errorf("the Meilisearch at %s is %w; check that it runs, and its address: %v",
			x.url, storage.ErrUnavailable, answer.OriginError)
	case isRefused(err):
		return fmt.Errorf("%w: %s", storage.ErrUnavailable, x.keyRefused())
	case isTemporary(answer.StatusCode), saysNoSettings(answer):
		return fmt.Errorf("the Meilisearch at %s is %w: %s", x.url, storage.ErrUnavailable, said)
	case isUnreadable(err):
		return fmt.Errorf("what answers at %s is not Meilisearch; check the address", x.url)
	}
	return fmt.Errorf("the Meilisearch at %s says: %s", x.url, said)
}

func isTemporary(status int) bool {
	return status >= 500 || status == http.StatusRequestTimeout || status == http.StatusTooManyRequests
}

// saysNoSettings reports whether a request was refused because the index does
// not have its settings yet: our requests are well-formed otherwise.
func saysNoSettings(answer *upstream.Error) bool {
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

// indexNotFound is the code of errors that say there is no index.
const indexNotFound = "index_not_found"

func isMissing(err error) bool { return hasCode(err, indexNotFound) }

func hasCode(err error, code string) bool {
	var answer *upstream.Error
	return errors.As(err, &answer) && answer.MeilisearchApiError.Code == code
}

// isUnreadable reports whether the answer was not what the client expects.
func isUnreadable(err error) bool {
	var answer *upstream.Error
	return errors.As(err, &answer) && answer.ErrCode == upstream.ErrCodeResponseUnmarshalBody
}
