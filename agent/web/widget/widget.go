// Package widget serves a script that shows the newest entries of an output on pages of other sites, and the page that
// makes the tag for it. A site that shows it must be one of the origins that CORS allows, and sends a token of scope
// search, which its visitors can read.
package widget

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/web/console"
	"feedmesh/agent/web/locale"
	"feedmesh/agent/web/output"
	"feedmesh/agent/wire"
	"feedmesh/classify/view"
)

// Paths of the script and of the page. Other sites contain that of the script, so it must not change.
const (
	ScriptPath = "/widget.js"
	Path       = "/widget"
)

//go:embed widget.js
var script []byte

//go:embed templates
var templates embed.FS

// Number of entries of a widget.
const (
	defaultEntries = 10
	maxEntries     = 50
)

type pages struct {
	*service.Service
	*console.Layout
	origins []string
}

// Handler returns the handler of [ScriptPath] and [Path]. origins are those that CORS allows.
func Handler(s *service.Service, origins []string) http.Handler {
	p := &pages{s, console.NewLayout(s, templates), origins}
	mux := http.NewServeMux()
	mux.HandleFunc(Path, p.show)
	page := p.Handler(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == ScriptPath {
			serveScript(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// serveScript sends the script, which contains no data.
func serveScript(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256(script)
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=3600")
	h.Set("ETag", fmt.Sprintf("%q", hex.EncodeToString(sum[:8])))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(script))
}

// A settings is what the form contains.
type settings struct {
	Output  string // path and query of an output in the format JSON Feed
	Entries int
	Theme   string // "light", "dark", or empty for that of the browser
}

type widgetPage struct {
	settings
	Outputs []choice
	Themes  []choice
	Tag     string        // HTML for the other site
	Preview template.HTML // the same without the token
	Origins string        // origins that may show it, as text; empty: none
}

type choice struct {
	Label  locale.Text
	Value  string
	Active bool
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	s := settingsOf(r.URL.Query())
	page := widgetPage{settings: s, Origins: strings.Join(p.origins, ", ")}
	page.Outputs = []choice{{Label: locale.T("Newest items"), Value: output.Path + "search.json"}, {Label: locale.T("Stories"), Value: output.Path + "stories.json"}}
	views, err := p.Views.List(r.Context(), wire.None{})
	if err != nil {
		p.Error(w, r, err, locale.T("The store"), locale.T("Views"), "/views")
		return
	}
	for _, v := range views.Views {
		if v.Readers == view.Everyone { // as the visitors of the site are
			page.Outputs = append(page.Outputs, choice{Label: locale.T("View: %s", cmp.Or(v.Title, v.Name)), Value: output.Path + "views/" + v.Name + ".json"})
		}
	}
	page.Outputs = selected(page.Outputs, s.Output)
	page.Themes = selected([]choice{{Label: locale.T("That of the browser")}, {Label: locale.T("Light"), Value: "light"}, {Label: locale.T("Dark"), Value: "dark"}}, s.Theme)
	page.Tag = s.tag(output.BaseURL(r)+ScriptPath, "YOUR-TOKEN")
	page.Preview = template.HTML(s.tag(ScriptPath, ""))
	p.Render(w, r, http.StatusOK, "widget", locale.T("Widget"), page)
}

// settingsOf returns the settings of a form, with defaults for those that are missing or invalid.
func settingsOf(form url.Values) settings {
	s := settings{Output: output.Path + "search.json", Entries: defaultEntries}
	if address := form.Get("output"); isOutput(address) {
		s.Output = address
	}
	if n, err := strconv.Atoi(form.Get("entries")); err == nil {
		s.Entries = min(max(n, 1), maxEntries)
	}
	if theme := form.Get("theme"); theme == "light" || theme == "dark" {
		s.Theme = theme
	}
	return s
}

// isOutput reports whether an address is the path, with query, of an output that the script can read.
func isOutput(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "" && u.Host == "" && u.Fragment == "" && path.Clean(u.Path) == u.Path && strings.HasPrefix(u.Path, output.Path) && strings.HasSuffix(u.Path, ".json")
}

// selected marks the choice with a value, which is added if there is none.
func selected(all []choice, value string) []choice {
	for n := range all {
		if all[n].Active = all[n].Value == value; all[n].Active {
			return all
		}
	}
	return append(all, choice{Label: locale.Data(value), Value: value, Active: true})
}

// tag returns the HTML that shows a widget.
func (s settings) tag(script, token string) string {
	var b strings.Builder
	attribute := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " %s=\"%s\"", name, template.HTMLEscapeString(value))
		}
	}
	b.WriteString("<script async crossorigin")
	attribute("src", script)
	attribute("data-output", s.Output)
	attribute("data-entries", strconv.Itoa(s.Entries))
	attribute("data-theme", s.Theme)
	attribute("data-token", token)
	b.WriteString("></script>")
	return b.String()
}
