package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"time"

	"feedmesh/agent/web/locale"
)

//go:embed style
var styleFiles embed.FS

// scriptFiles has the scripts of pages, and the service worker for its texts.
//
//go:embed script offline/worker.js
var scriptFiles embed.FS

// An asset is a static file. Its path contains a hash of its content, so that browsers may cache it forever.
type asset struct {
	Path    string
	content []byte
	kind    string // media type
	hash    string
}

func newAsset(name, ending, kind string, content []byte) asset {
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:8])
	return asset{Path: "/" + name + "-" + hash + ending, content: content, kind: kind, hash: hash}
}

func (a asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("ETag", fmt.Sprintf("%q", a.hash))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.content))
}

//go:embed icon.svg
var icon []byte

// iconPath is the default path of a site's icon in browsers.
const iconPath = "/favicon.ico"

func serveIcon(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Cache-Control", "public, max-age=86400")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(icon))
}

// sheet contains all style sheets, concatenated in the order of their names.
var sheet = newAsset("style", ".css", "text/css; charset=utf-8", func() []byte {
	var all []byte
	for _, name := range names(styleFiles, "style") {
		all = append(all, read(styleFiles, "style/"+name)...)
	}
	return all
}())

const baseScript = "base.js"

// scripts are the scripts by name. Imports of base.js are replaced with its hashed path. Those of textsName have the texts of
// the others and of the service worker in a language. They are made at the first use and cached.
var scripts = sync.OnceValue(func() map[string]asset {
	const kind = "text/javascript; charset=utf-8"
	base := newAsset("base", ".js", kind, read(scriptFiles, "script/"+baseScript))
	all := map[string]asset{baseScript: base}
	sources := [][]byte{base.content, read(scriptFiles, "offline/worker.js")}
	for _, name := range names(scriptFiles, "script") {
		if name == baseScript {
			continue
		}
		content := bytes.ReplaceAll(read(scriptFiles, "script/"+name), []byte(`"./base.js"`), []byte(`"`+base.Path+`"`))
		all[name] = newAsset(strings.TrimSuffix(name, ".js"), ".js", kind, content)
		sources = append(sources, content)
	}
	texts := locale.ScriptTexts(sources...)
	for _, language := range locale.Languages {
		if content := language.Script(texts); content != nil {
			name := textsName(language)
			all[name] = newAsset(strings.TrimSuffix(name, ".js"), ".js", kind, content)
		}
	}
	return all
})

// scriptPath returns the path of a script. The error for a missing script makes the template fail.
func scriptPath(name string) (string, error) {
	script, is := scripts()[name]
	if !is {
		return "", fmt.Errorf("script not found: %s", name)
	}
	return script.Path, nil
}

// textsName returns the name of the script with the texts of a language, such as "texts-ru.js".
func textsName(l *locale.Language) string { return "texts-" + l.Code + ".js" }

// textsPath returns the path of the script with the texts of a language; empty if it has none.
func textsPath(l *locale.Language) string { return scripts()[textsName(l)].Path }

// names returns the sorted file names of an embedded folder.
func names(files embed.FS, folder string) []string {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		panic(err) // it is embedded above
	}
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = e.Name()
	}
	return list
}

func read(files embed.FS, path string) []byte {
	content, err := files.ReadFile(path)
	if err != nil {
		panic(err) // it is embedded above
	}
	return content
}
