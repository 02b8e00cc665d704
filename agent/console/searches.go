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

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// A savedSource keeps searches. One that is not there is [storage.ErrNotFound].
type savedSource interface {
	Searches(ctx context.Context) ([]storage.SavedSearch, error)
	PutSearch(ctx context.Context, name string, what api.SearchSetting) (storage.SavedSearch, error)
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
	URL    string // of its page
	Added  *stamp
	Remove string // where the form goes that removes it
}

func (c *console) searches(w http.ResponseWriter, r *http.Request) {
	saved, err := c.source.Searches(r.Context())
	if err != nil {
		c.sorry(w, r, err, "The store")
		return
	}
	rows := make([]savedRow, len(saved))
	for i, s := range saved {
		rows[i] = savedRow{
			follow: savedFollow(s), URL: strings.TrimSuffix("/?"+s.Query, "?"), Added: stamped(s.Added, c.now()),
			Remove: searchesPath + "/" + s.Name + "/remove",
		}
	}
	c.render(w, r, http.StatusOK, "searches", page{Title: "Saved searches", Main: rows})
}

// savedFollow returns how a saved search is followed. Its address stays when what
// it searches for is changed.
func savedFollow(s storage.SavedSearch) follow {
	at := outputsPath + "searches/" + s.Name
	return follow{RSS: at + ".rss", Atom: at + ".atom", JSON: at + ".json", Title: cmp.Or(s.Title, s.Name)}
}

// The longest title and query of a saved search, in characters and bytes.
const (
	maxTitle = 200
	maxSaved = 4096
)

// saveSearch saves a search under a name made of its title, in place of any of that name.
func (c *console) saveSearch(w http.ResponseWriter, r *http.Request) {
	title, asked := formValue(w, r, "title"), formValue(w, r, "query")
	if title == "" || utf8.RuneCountInString(title) > maxTitle || len(asked) > maxSaved {
		c.decided(w, r, false, &api.Refusal{Why: "a saved search needs a title, of 200 characters at most"}, "/?"+asked, "")
		return
	}
	_, err := c.source.PutSearch(r.Context(), nameOf(title), api.SearchSetting{Title: title, Query: asked})
	c.decided(w, r, false, err, "/", searchesPath)
}

// removeSearch removes a saved search. One that has gone already is as good.
func (c *console) removeSearch(w http.ResponseWriter, r *http.Request) {
	err := c.source.RemoveSearch(r.Context(), r.PathValue("name"))
	if errors.Is(err, storage.ErrNotFound) {
		err = nil
	}
	c.decided(w, r, false, err, searchesPath, searchesPath)
}

// maxName is the longest name of a saved search, in bytes.
const maxName = 64

// nameOf returns a name for addresses: the title's Latin letters and digits, with
// hyphens between them. A title that has none of them is named by its hash, so that
// the same title gets the same name.
func nameOf(title string) string {
	parts := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name := strings.Join(parts, "-")
	if name == "" {
		sum := sha256.Sum256([]byte(title))
		return "search-" + hex.EncodeToString(sum[:4])
	}
	return strings.Trim(name[:min(len(name), maxName)], "-")
}
