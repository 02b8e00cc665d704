// Package offline makes the reading page an installable app that opens without a network: it has the web app
// manifest, its icons, and the service worker with the documents from which the worker fills its cache.
package offline

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/web/locale"
)

// Fixed paths: browsers find an installed app and its worker by them.
const (
	ManifestPath = "/manifest.webmanifest"
	WorkerPath   = "/worker.js" // below the root, so that its scope is every page
	shellPath    = "/read/offline"
	listPath     = shellPath + "/list"
	textsPath    = shellPath + "/texts"
)

// ClientHeader is the header of the reading page and its parts by which the worker notices another client.
const ClientHeader = "Feedmesh-Client"

// ClientKey returns the value of [ClientHeader] of a request: a hash of the client's ID.
func ClientKey(r *http.Request) string {
	sum := sha256.Sum256([]byte("offline " + access.From(r.Context()).ID))
	return hex.EncodeToString(sum[:8])
}

// Bounds of what a browser keeps. The worker keeps at most MaxItems items.
const (
	MaxItems = 200
	MaxBatch = 25        // texts of one response
	MaxText  = 128 << 10 // bytes of an article's HTML; a longer text is left out
)

// A Row is an item of the list that is kept, newest first.
type Row struct {
	ID        string `json:"id"`
	Feed      string `json:"feed"` // ID
	FeedTitle string `json:"feed_title"`
	Starred   bool   `json:"starred"`
	HTML      string `json:"row"`
}

// A Text is the article of an item, in HTML.
type Text struct {
	ID   string `json:"id"`
	HTML string `json:"article"`
}

// A Source renders the unread items of the requesting client without marking them as read.
type Source struct {
	List func(r *http.Request) ([]Row, error)
	// Texts leaves out items that do not exist.
	Texts func(r *http.Request, ids []string) ([]Text, error)
	// Fail responds to a failed request.
	Fail func(w http.ResponseWriter, r *http.Request, err error)
	// Policy is the content security policy of the shell.
	Policy string
}

//go:embed worker.js
var worker []byte

// A Shell is the page that opens without a network, and all files that it needs.
type Shell struct {
	Page   []byte   // HTML without personal data
	Help   string   // path of the page with the help, of which the worker caches the part "help"
	Assets []string // paths, which contain a hash of the content
}

// Register adds the manifest, its icons, the worker and the worker's documents to mux. shell returns the shell in a language.
func Register(mux *http.ServeMux, shell func(*locale.Language) Shell, from Source) {
	manifests, workers, pages := documents{}, documents{}, map[*locale.Language][]byte{}
	for _, l := range locale.Languages {
		s := shell(l)
		manifests[l] = document{"application/manifest+json", manifest(l)}
		workers[l] = document{"text/javascript; charset=utf-8", script(s)}
		pages[l] = s.Page
	}
	mux.Handle("GET "+ManifestPath, manifests)
	mux.Handle("GET "+WorkerPath, workers)
	for _, i := range icons {
		mux.Handle("GET "+i.path(), document{"image/png", i.content})
	}
	mux.HandleFunc("GET "+shellPath, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(ClientHeader, ClientKey(r))
		w.Header().Set("Content-Security-Policy", from.Policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(pages[locale.From(r)])
	})
	mux.HandleFunc("GET "+listPath, func(w http.ResponseWriter, r *http.Request) {
		rows, err := from.List(r)
		respond(w, r, from, rows, err)
	})
	mux.HandleFunc("GET "+textsPath, func(w http.ResponseWriter, r *http.Request) {
		ids := r.URL.Query()["id"]
		if len(ids) > MaxBatch {
			http.Error(w, fmt.Sprintf("at most %d texts in a request", MaxBatch), http.StatusBadRequest)
			return
		}
		texts, err := from.Texts(r, ids)
		respond(w, r, from, texts, err)
	})
}

// respond writes items as JSON.
func respond[T any](w http.ResponseWriter, r *http.Request, from Source, items []T, err error) {
	if err != nil {
		from.Fail(w, r, err)
		return
	}
	body, err := json.Marshal(items)
	if err != nil {
		from.Fail(w, r, err)
		return
	}
	w.Header().Set(ClientHeader, ClientKey(r))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// A document is a file with a fixed path: browsers request it again each time and get 304 if it is unchanged.
type document struct {
	kind    string
	content []byte
}

func (d document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", d.kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("ETag", fmt.Sprintf("%q", hash(d.content)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(d.content))
}

// documents are the versions of a document by language.
type documents map[*locale.Language]document

func (d documents) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d[locale.From(r)].ServeHTTP(w, r)
}

func hash(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

// script returns the worker for a shell. Its first line names the files and a version: it differs whenever one of them
// does, so that browsers install the worker of another version of feedmesh, or of another language, and it caches the new files.
func script(s Shell) []byte {
	settings, err := json.Marshal(map[string]any{
		"version": hash(s.Page), "page": shellPath, "help": s.Help, "assets": s.Assets, "list": listPath, "texts": textsPath,
		"maxItems": MaxItems, "maxBatch": MaxBatch,
	})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return append([]byte("const shell = "+string(settings)+";\n"), worker...)
}

// TouchIcon is the path of the icon for systems that read no manifest.
const TouchIcon = "/icon-192.png"

// An icon is a rendering of the console's icon.
type icon struct {
	pixels   int  // width and height
	maskable bool // without transparent corners, because systems cut it to a circle
	content  []byte
}

//go:embed icon-192.png
var icon192 []byte

//go:embed icon-512.png
var icon512 []byte

//go:embed icon-maskable-512.png
var iconMaskable []byte

var icons = []icon{{192, false, icon192}, {512, false, icon512}, {512, true, iconMaskable}}

func (i icon) path() string {
	if i.maskable {
		return fmt.Sprintf("/icon-maskable-%d.png", i.pixels)
	}
	return fmt.Sprintf("/icon-%d.png", i.pixels)
}

// Colours of the background of pages in light and dark mode.
const (
	LightTheme = "#fdfdfc"
	DarkTheme  = "#15181b"
)

// manifest returns the web app manifest in a language.
//
// Source: W3C Web Application Manifest.
func manifest(l *locale.Language) []byte {
	type image struct {
		Source  string `json:"src"`
		Kind    string `json:"type"`
		Sizes   string `json:"sizes"`
		Purpose string `json:"purpose,omitempty"`
	}
	images := make([]image, len(icons))
	for n, i := range icons {
		images[n] = image{Source: i.path(), Kind: "image/png", Sizes: fmt.Sprintf("%dx%d", i.pixels, i.pixels)}
		if i.maskable {
			images[n].Purpose = "maskable"
		}
	}
	type shortcut struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	content, err := json.MarshalIndent(map[string]any{
		"id": "/read", "name": "feedmesh", "short_name": "feedmesh", "description": locale.T("Read the items of your feeds, also offline.").In(l), "lang": l.Code,
		"start_url": "/read", "scope": "/", "display": "standalone", "theme_color": LightTheme, "background_color": LightTheme, "icons": images,
		"shortcuts": []shortcut{{locale.T("Unread items").In(l), "/read"}, {locale.T("Starred items").In(l), "/read?show=starred"}},
	}, "", "  ")
	if err != nil {
		panic(err) // strings and numbers only
	}
	return content
}
