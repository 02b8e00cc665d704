package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed templates
var templateFiles embed.FS

//go:embed style.css
var style []byte

// The name of the style sheet changes with its content, so that browsers may
// keep it for ever.
var (
	styleHash = func() string {
		sum := sha256.Sum256(style)
		return hex.EncodeToString(sum[:8])
	}()
	stylePath = "/style-" + styleHash + ".css"
)

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count": count, "plural": plural, "bytes": size, "span": span, "percent": percent,
	"style": func() string { return stylePath },
}).ParseFS(templateFiles, "templates/*.html"))

// A page is what all templates are given.
type page struct {
	Title  string
	Search form
	Here   string  // path of the page if the menu has it
	Foot   *footer // nil if the mesh does not say how it is
	Main   any
}

// A choice is a link that changes what is shown.
type choice struct {
	Label  string
	URL    string
	Count  int64
	Active bool
}

// render answers with a page made from the template. A page is made whole
// before any of it is sent.
func (c *console) render(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	if standing, err := c.standing.get(r.Context(), c.source, c.now()); err == nil {
		p.Foot = foot(standing)
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, p); err != nil {
		http.Error(w, "This page could not be made.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func serveStyle(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("ETag", fmt.Sprintf("%q", styleHash))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(style))
}
