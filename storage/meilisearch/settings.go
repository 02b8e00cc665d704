package meilisearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/storage"
)

// A set of settings is as Meilisearch's API has it. The client's own type can
// say neither what an attribute is filtered by, nor false, nor none.
type set map[string]any

// settings are those of the index, all that differ from Meilisearch's own. Lists
// whose order it does not keep are in the order of the alphabet, as it gives them.
var settings = normal(set{
	// The most telling first. People search them all; we, by stem, those in
	// stemAttributes only.
	"searchableAttributes": append([]attribute{attrTitle, attrTags, attrAuthor, attrText}, stemAttributes...),
	"displayedAttributes": []attribute{attrID, attrTitle, attrExcerpt, attrURL, attrPublished, attrSite, attrAuthor,
		attrCategory, attrTopic, attrFlag, attrSentiment, attrTags, attrLanguage, attrFeed, attrSpam, attrDuplicate, attrImage, attrStory},
	"filterableAttributes": []set{
		filterable(set{"equality": true, "comparison": false}, true, attrLanguage, attrCategory, attrTopic, attrFlag, attrSentiment, attrTags,
			attrSite, attrAuthor, attrFeed, attrSpam, attrDuplicate, attrTitleWords),
		// Of which there are as many as items: the list of them for people to
		// search in would be made anew by every task.
		filterable(set{"equality": true, "comparison": true}, false, attrPublished, attrDay, attrID),
		filterable(set{"equality": true, "comparison": false}, false, attrStory, attrHosts, attrLatest, attrForm),
	},
	"sortableAttributes": []attribute{attrID, attrPublished},

	// Who asks for an order gets that order. Equals come the prominent first, then
	// the newest.
	"rankingRules": []string{
		"sort", "words", "typo", "proximity", "attribute", "exactness",
		string(attrProminence) + ":desc", string(attrPublished) + ":desc", string(attrID) + ":asc",
	},
	// A fraction of the work that distances between words are. Search relies on
	// it too: see phrases and pairsOf.
	"proximityPrecision": "byAttribute",
	"typoTolerance": set{
		"enabled":             true,
		"minWordSizeForTypos": set{"oneTypo": 5, "twoTypos": 9},
		"disableOnWords":      []string{},
		"disableOnAttributes": []attribute{attrByStems, attrStems, attrTagStems, attrTitleStems, attrTitleWords},
		"disableOnNumbers":    true, // versions, years
	},
	"dictionary": []string{"C#", "C++", "F#", "c#", "c++", "f#"}, // words to those who search in the dashboard

	"pagination": set{"maxTotalHits": 1e9}, // totals are exact below it
	// Of more values than that it is undefined which of the equally frequent
	// ones are given.
	"faceting": set{
		"maxValuesPerFacet": maxFacetValues,
		"sortFacetValuesBy": set{"*": "count", string(attrDay): "alpha", string(attrLatest): "alpha"},
	},
	"searchCutoffMs": 1500, // after which it gives matches in no order; see patience
})

// maxFacetValues is the most values that Meilisearch lists of a facet.
const maxFacetValues = 1000

// filterable says by what attributes are filtered, and whether people can
// search in the list of their values.
func filterable(by set, search bool, attributes ...attribute) set {
	return set{"attributePatterns": attributes, "features": set{"facetSearch": search, "filter": by}}
}

// normal returns the set as it is after a way through JSON.
func normal(s set) (n set) {
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &n)
	}
	if err != nil {
		panic(err)
	}
	return n
}

// applySettings gives the index the settings if it has others, and makes it if
// it is not there.
func (x *Index) applySettings(ctx context.Context) error {
	var has set
	if err := x.askSettings(ctx, http.MethodGet, nil, &has); err != nil && !isMissing(err) {
		return err
	}
	for name, value := range settings {
		if !reflect.DeepEqual(has[name], value) {
			return x.updateSettings(ctx)
		}
	}
	return nil
}

// prepare makes the index if it is not there, and gives it its settings if it
// has none: a Put makes it so when someone has deleted it a moment before.
// Other settings stay: agents of two versions would change them to and fro.
func (x *Index) prepare(ctx context.Context) error {
	var has set
	if err := x.askSettings(ctx, http.MethodGet, nil, &has); err != nil && !isMissing(err) {
		return err
	}
	if has == nil || reflect.DeepEqual(has["searchableAttributes"], []any{"*"}) {
		return x.updateSettings(ctx)
	}
	return nil
}

// updateSettings is one task, so that there is no index without settings.
func (x *Index) updateSettings(ctx context.Context) error {
	x.log.Info("giving the search index in Meilisearch its settings", "url", x.url)
	var info upstream.TaskInfo
	if err := x.askSettings(ctx, http.MethodPatch, settings, &info); err != nil {
		return err
	}
	err := x.wait(ctx, &info)
	if errors.As(err, new(*refusal)) { // which is of no document
		return fmt.Errorf("%w: Meilisearch refuses the settings: %v", storage.ErrUnavailable, err)
	}
	return err
}

// askSettings sends a request about the index's settings as the client does,
// and returns its kind of error.
func (x *Index) askSettings(ctx context.Context, method string, send set, receive any) error {
	body, err := json.Marshal(send)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, x.address+"/indexes/"+x.name+"/settings", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if x.key != "" {
		request.Header.Set("Authorization", "Bearer "+x.key)
	}
	response, err := x.http.Do(request)
	if err != nil {
		return (&upstream.Error{}).WithErrCode(upstream.MeilisearchCommunicationError, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	failed := &upstream.Error{StatusCode: response.StatusCode}
	if response.StatusCode >= 300 {
		failed.ErrorBody(answer)
		return failed.WithErrCode(upstream.MeilisearchApiError)
	}
	if err := json.Unmarshal(answer, receive); err != nil {
		return failed.WithErrCode(upstream.ErrCodeResponseUnmarshalBody, err)
	}
	return nil
}
