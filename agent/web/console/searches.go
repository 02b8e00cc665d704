package console

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// A savedSource stores searches. Its methods return [storage.ErrNotFound] for a missing search.
type savedSource interface {
	Searches(ctx context.Context) ([]storage.SavedSearch, error)
	PutSearch(ctx context.Context, name string, what wire.SearchSetting) (storage.SavedSearch, error)
	RemoveSearch(ctx context.Context, name string) error
}

const searchesPath = "/searches"

func (c *console) savedRoutes(mux *http.ServeMux) {
	mux.HandleFunc(searchesPath, c.searches)
	mux.HandleFunc("POST "+searchesPath, c.saveSearch)
	mux.HandleFunc("POST "+searchesPath+"/{name}/remove", c.removeSearch)
}

// A savedRow is a saved search.
type savedRow struct {
	follow
	URL    string // of the search page
	Added  *timestamp
	Remove string // action of the form that removes it
}

func (c *console) searches(w http.ResponseWriter, r *http.Request) {
	saved, err := c.source.Searches(r.Context())
	if err != nil {
		c.showUnavailable(w, r, err, "The store")
		return
	}
	rows := make([]savedRow, len(saved))
	for i, s := range saved {
		rows[i] = savedRow{
			follow: savedFollow(s), URL: strings.TrimSuffix("/?"+s.Query, "?"), Added: newTimestamp(s.Added, c.now()),
			Remove: searchesPath + "/" + s.Name + "/remove",
		}
	}
	c.render(w, r, http.StatusOK, "searches", page{Title: "Saved searches", Main: rows})
}

// savedFollow returns the output URLs of a saved search. They do not change with its query.
func savedFollow(s storage.SavedSearch) follow {
	at := outputsPath + "searches/" + s.Name
	return follow{RSS: at + ".rss", Atom: at + ".atom", JSON: at + ".json", Title: cmp.Or(s.Title, s.Name)}
}

// Maximum lengths of a saved search: title in characters, query in bytes.
const (
	maxTitle = 200
	maxSaved = 4096
)

// saveSearch saves a search under a name derived from its title. An existing search of that name is replaced.
func (c *console) saveSearch(w http.ResponseWriter, r *http.Request) {
	title, query := formValue(w, r, "title"), formValue(w, r, "query")
	if title == "" || utf8.RuneCountInString(title) > maxTitle || len(query) > maxSaved {
		c.redirectOrExplain(w, r, false, &service.Error{Kind: service.KindConflict, Message: "a saved search needs a title, of 200 characters at most"}, "/?"+query, "")
		return
	}
	_, err := c.source.PutSearch(r.Context(), nameOf(title), wire.SearchSetting{Title: title, Query: query})
	c.redirectOrExplain(w, r, false, err, "/", searchesPath)
}

// removeSearch removes a saved search. A missing search is not an error.
func (c *console) removeSearch(w http.ResponseWriter, r *http.Request) {
	err := c.source.RemoveSearch(r.Context(), r.PathValue("name"))
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	c.redirectOrExplain(w, r, false, err, searchesPath, searchesPath)
}

// maxName bounds the name of a saved search, in bytes.
const maxName = 64

// nameOf returns a name for URLs: the title's ASCII letters and digits, joined by hyphens. A title without
// any is named by its hash, so that equal titles get equal names.
func nameOf(title string) string {
	parts := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(parts, "-")
	if name == "" {
		sum := sha256.Sum256([]byte(title))
		return "search-" + hex.EncodeToString(sum[:4])
	}
	return strings.Trim(name[:min(len(name), maxName)], "-")
}
