// Package reference serves the reference of the REST API: a page made from its OpenAPI description. It needs no scripts
// and loads nothing from other hosts.
package reference

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Path is the path of the page.
const Path = "/docs/api"

const policy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed page.html
var page string

//go:embed page.css
var style []byte

var pageTemplate = template.Must(template.New("reference").Parse(page))

var styleTag = tagOf(style)

// Register adds the page and its style sheet to the paths of a server. The description must be complete.
func Register(mux *http.ServeMux, description *huma.OpenAPI) {
	html := sync.OnceValues(func() ([]byte, error) {
		var b bytes.Buffer
		err := pageTemplate.Execute(&b, map[string]any{
			"Title": description.Info.Title, "Version": description.Info.Version, "Style": stylePath(), "Groups": groups(description),
		})
		return b.Bytes(), err
	})
	mux.HandleFunc("GET "+Path, func(w http.ResponseWriter, r *http.Request) {
		content, err := html()
		if err != nil {
			http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "private, no-cache")
		send(w, r, "text/html; charset=utf-8", tagOf(content), content)
	})
	mux.HandleFunc("GET "+stylePath(), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		send(w, r, "text/css; charset=utf-8", styleTag, style)
	})
}

// stylePath contains the hash of the style sheet, so that browsers may cache it forever.
func stylePath() string { return Path + "-" + styleTag + ".css" }

func tagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

func send(w http.ResponseWriter, r *http.Request, kind, tag string, content []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("ETag", fmt.Sprintf("%q", tag))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
