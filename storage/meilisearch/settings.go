package meilisearch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"

	upstream "github.com/meilisearch/meilisearch-go"

	"feedmesh/classify/query"
	"feedmesh/storage"
)

// A set contains settings in the form of Meilisearch's API. The client's own type cannot express filter
// features of an attribute, false, or null.
type set map[string]any

// settings are the index settings that differ from Meilisearch's defaults. Unordered lists are sorted
// alphabetically, as Meilisearch returns them.
var settings = normal(set{
	// The most significant first. People search all of them in the dashboard; our searches use only
	// stemAttributes.
	"searchableAttributes": slices.Concat(writtenIn(query.Anywhere), stemAttributes),
	"displayedAttributes": []attribute{attrID, attrTitle, attrExcerpt, attrURL, attrPublished, attrSite, attrAuthor,
		attrCategory, attrTopic, attrFlag, attrSentiment, attrTags, attrLanguage, attrFeed, attrSpam, attrDuplicate, attrImage, attrStory, attrProminence},
	"filterableAttributes": []set{
		filterable(set{"equality": true, "comparison": false}, true, attrLanguage, attrCategory, attrTopic, attrFlag, attrSentiment, attrTags,
			attrSite, attrAuthor, attrFeed, attrSpam, attrDuplicate, attrTitleWords),
		// As many values as items: every task would rebuild their facet search.
		filterable(set{"equality": true, "comparison": true}, false, attrPublished, attrDay, attrID),
		filterable(set{"equality": true, "comparison": false}, false, attrStory, attrHosts, attrLatest, attrForm),
	},
	"sortableAttributes": []attribute{attrID, attrPublished},

	// An explicit order comes first. Ties are ordered by prominence, then newest first.
	"rankingRules": []string{
		"sort", "words", "typo", "proximity", "attribute", "exactness",
		string(attrProminence) + ":desc", string(attrPublished) + ":desc", string(attrID) + ":asc",
	},
	// A fraction of the cost of word distances. Search depends on it: see phrases and addPairs.
	"proximityPrecision": "byAttribute",
	"typoTolerance": set{
		"enabled":             true,
		"minWordSizeForTypos": set{"oneTypo": 5, "twoTypos": 9},
		"disableOnWords":      []string{},
		"disableOnAttributes": slices.Sorted(slices.Values(append(slices.Clone(stemAttributes), attrTitleWords))),
		"disableOnNumbers":    true, // versions, years
	},
	// Tokens are letters of one script, so Meilisearch need not detect the language of each value: a tenth of the time of an item.
	"localizedAttributes": []set{{"attributePatterns": stemAttributes, "locales": []string{"eng"}}},
	// None: with a dictionary, Meilisearch builds an automaton of all separators for each search of an index, in 2.5 ms.
	"dictionary": nil,

	"pagination": set{"maxTotalHits": 1e9}, // totals are exact below it
	// Above this number it is undefined which of the equally frequent values are returned.
	"faceting": set{
		"maxValuesPerFacet": maxFacetValues,
		"sortFacetValuesBy": set{"*": "count", string(attrDay): "alpha", string(attrLatest): "alpha"},
	},
	"searchCutoffMs": 1500, // timeout after which it returns unordered matches; see searchTimeout
})

// maxFacetValues bounds the values of a facet that Meilisearch returns.
const maxFacetValues = 1000

// filterable returns the settings of filtered attributes; search states whether people can search their
// values.
func filterable(by set, search bool, attributes ...attribute) set {
	return set{"attributePatterns": attributes, "features": set{"facetSearch": search, "filter": by}}
}

// normal returns the set after a round trip through JSON.
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

// independent are the settings on which our searches and puts do not depend.
var independent = []string{"dictionary"}

// applySettings creates an index if it is missing, and updates its settings if they differ. It returns when these are applied, unless
// searches do not depend on them: Meilisearch may index all documents again for minutes.
func (c *connection) applySettings(ctx context.Context, index string) error {
	var has set
	if err := c.requestSettings(ctx, http.MethodGet, index, nil, &has); err != nil && !isMissing(err) {
		return err
	}
	var differ []string
	for name, value := range settings {
		if !isSet(has[name], value) {
			differ = append(differ, name)
		}
	}
	if c.embedder != nil && !c.embedder.isApplied(has) {
		differ = append(differ, "embedders")
	}
	if len(differ) == 0 {
		return nil
	}
	task, err := c.sendSettings(ctx, index)
	if err != nil || !slices.ContainsFunc(differ, func(name string) bool { return !slices.Contains(independent, name) }) {
		return err
	}
	return c.settled(ctx, task)
}

// isSet reports whether Meilisearch returns a value for a setting that is to have another. A list that is null is returned as empty.
func isSet(has, want any) bool {
	if list, is := has.([]any); is && want == nil {
		return len(list) == 0
	}
	return reflect.DeepEqual(has, want)
}

// prepare creates an index if it is missing, and applies the settings if it has none, which happens when the
// index was deleted during a Put. Other settings stay: agents of two versions would alternate.
func (c *connection) prepare(ctx context.Context, index string) error {
	var has set
	if err := c.requestSettings(ctx, http.MethodGet, index, nil, &has); err != nil && !isMissing(err) {
		return err
	}
	if has == nil || reflect.DeepEqual(has["searchableAttributes"], []any{"*"}) {
		task, err := c.sendSettings(ctx, index)
		if err != nil {
			return err
		}
		return c.settled(ctx, task)
	}
	return nil
}

// sendSettings sends all settings of an index in one task, so that no index exists without settings.
func (c *connection) sendSettings(ctx context.Context, index string) (*upstream.TaskInfo, error) {
	c.log.Info("giving the search index in Meilisearch its settings", "url", c.url, "index", index)
	all := maps.Clone(settings)
	if c.embedder != nil {
		all["embedders"] = map[string]Embedder{embedderName: c.embedder}
	}
	task := new(upstream.TaskInfo)
	return task, c.requestSettings(ctx, http.MethodPatch, index, all, task)
}

// settled waits until a task has applied settings.
func (c *connection) settled(ctx context.Context, task *upstream.TaskInfo) error {
	err := c.wait(ctx, task)
	if errors.As(err, new(*rejection)) { // not caused by a document
		return fmt.Errorf("%w: Meilisearch rejected the settings: %v", storage.ErrUnavailable, err)
	}
	return err
}

// requestSettings sends a request about an index's settings like the client, and returns its kind of error.
func (c *connection) requestSettings(ctx context.Context, method, index string, send set, receive any) error {
	body, err := json.Marshal(send)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, c.address+"/indexes/"+index+"/settings", bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.http.Do(request)
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
