package console

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/subjects"
)

// putImport starts an import of a list, and stores it as processed: verdicts has a letter for each feed of the list,
// "." waits, "a" was added, "k" existed and "i" is invalid.
func (s *site) putImport(t *testing.T, imp storage.Import, list, verdicts string) {
	t.Helper()
	begun, err := s.Imports.Start(t.Context(), wire.ImportFeedsRequest{Name: imp.Name, RawBody: []byte(list)})
	must(t, err)
	all := storage.Imports(s.Store)
	stored, err := all.Read(t.Context(), begun.ID)
	must(t, err)
	imp.Total, imp.Lines = stored.Total, stored.Lines
	copy(imp.Lines, verdicts)
	imp.Added, imp.Existing, imp.Invalid = strings.Count(verdicts, "a"), strings.Count(verdicts, "k"), strings.Count(verdicts, "i")
	imp.Done = imp.Added + imp.Existing + imp.Invalid
	must(t, all.Put(t.Context(), imp))
	stored.Started, stored.Finished, stored.Lines = time.Unix(0, 0), s.now, nil // not listed with the states under test
	must(t, all.Put(t.Context(), stored))
}

// hostileImports stores imports in all states. The import "runs" has a line of each outcome.
func (s *site) hostileImports(t *testing.T) {
	t.Helper()
	list := "<opml><body>\n" + `<outline xmlUrl="https://a.example/"/>` + "\n" + `<outline xmlUrl="` + html.EscapeString(evil) + `"/>` + "\n"
	for n := range 1498 {
		list += fmt.Sprintf(`<outline xmlUrl="https://n%d.example/"/>`, n)
	}
	list += "</body></opml>"
	s.putImport(t, storage.Import{ID: "runs", Name: evil, Started: noon}, list, "ai"+strings.Repeat("k", 9)+strings.Repeat("a", 9)+strings.Repeat(".", 1480))
	s.Mesh.States[storage.FeedID("https://a.example/")] = &subjects.State{Tier: "hot", Polled: noon}
	s.putImport(t, storage.Import{ID: "ends", Started: noon, Cancel: true}, "https://e.example/1\nhttps://e.example/2\n", "..")
	s.putImport(t, storage.Import{ID: "done", Name: "b.opml", Started: noon.Add(-time.Hour), Finished: noon}, "https://d.example/1\nhttps://d.example/2\n", "aa")
	s.putImport(t, storage.Import{ID: "left", Name: "c", Started: noon, Finished: noon, Cancel: true}, "https://l.example/1\nhttps://l.example/2\nhttps://l.example/3\n", "a..")
}

func pagesOfImports(_ *testing.T, all sites) map[string]shown {
	return map[string]shown{
		"imports":            {"/imports", 200, all.hostile},
		"imports down":       {"/imports", 503, all.broken},
		"running import":     {"/imports/runs", 200, all.hostile},
		"ending import":      {"/imports/ends", 200, all.hostile},
		"done import":        {"/imports/done?verdict=failed", 200, all.hostile},
		"cancelled import":   {"/imports/left", 200, all.hostile},
		"more lines":         {"/imports/runs?after=7&verdict=not+a+feed", 200, all.hostile},
		"strange import":     {"/imports/runs?verdict=%3Cscript%3E", 400, all.hostile},
		"no import":          {"/imports/none", 404, all.hostile},
		"import of the dead": {"/imports/runs", 503, all.broken},
	}
}

// upload submits a form with a file.
func upload(s *site, field, name, content string) *http.Response {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	form.WriteField("other", "x")
	file, _ := form.CreateFormFile(field, name)
	file.Write([]byte(content))
	form.Close()
	return sendRaw(s, form.FormDataContentType(), b.String())
}

func sendRaw(s *site, kind, content string) *http.Response {
	r := httptest.NewRequest("POST", "/imports", strings.NewReader(content))
	r.Header.Set("Content-Type", kind)
	return s.answer(r)
}

// imports returns the names of the stored imports, newest first.
func (s *site) imports(t *testing.T) (names []string) {
	t.Helper()
	all, err := s.Imports.List(t.Context(), wire.None{})
	must(t, err)
	for _, imp := range all.Imports {
		names = append(names, imp.Name)
	}
	return names
}

func TestImports_UploadFile(t *testing.T) {
	source := newSite(t)
	r := upload(source, "list", `C:\me\feeds.opml`, "https://a.example/")
	started, err := source.Imports.List(t.Context(), wire.None{})
	must(t, err)
	if r.StatusCode != 303 || len(started.Imports) != 1 || r.Header.Get("Location") != "/imports/"+started.Imports[0].ID || started.Imports[0].Name != "feeds.opml" {
		t.Errorf("status %d to %q after %+v", r.StatusCode, r.Header.Get("Location"), started)
	}
	lines, err := source.Imports.Lines(t.Context(), wire.ImportSearch{ID: started.Imports[0].ID, Limit: 10})
	if err != nil || len(lines.Lines) != 1 || lines.Lines[0].URL != "https://a.example/" {
		t.Errorf("got %+v, %v; want the line of the file", lines, err)
	}
	for name, r := range map[string]*http.Response{
		"no file":      upload(source, "another", "x", "y"),
		"empty file":   upload(source, "list", "x", ""),
		"no form":      sendRaw(source, "text/plain", "https://a.example/"),
		"broken form":  sendRaw(source, "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"list\"; filename=\"a\"\r\n\r\nhttps://a"),
		"no multipart": sendRaw(source, "application/x-www-form-urlencoded", "list=a"),
	} {
		if text := words(parse(t, body(t, r))); r.StatusCode != 422 || !strings.Contains(text, "No feed was added") {
			t.Errorf("%s: status %d, %q; want 422 and that nothing was added", name, r.StatusCode, text)
		}
	}
	if got := source.imports(t); len(got) != 1 {
		t.Errorf("started are %q, want the first only", got)
	}
	if r := upload(source, "list", "x", strings.Repeat("x", service.MaxImport+maxFormOverhead)); r.StatusCode != 413 {
		t.Errorf("too large: status %d, want 413", r.StatusCode)
	}
	if r := upload(source, "list", "x", "<opml>"+evil); r.StatusCode != 422 || strings.Contains(body(t, r), "<script>alert") {
		t.Errorf("an invalid list: status %d, want 422", r.StatusCode)
	}
	busy := newSite(t)
	for n := range service.MaxWaiting {
		upload(busy, "list", "x", fmt.Sprintf("https://n%d.example/", n))
	}
	if r := upload(busy, "list", "x", "https://a.example/"); r.StatusCode != 429 {
		t.Errorf("too many imports: status %d, want 429", r.StatusCode)
	}
	if r := upload(broken(t), "list", "x", "https://a.example/"); r.StatusCode != 503 || strings.Contains(body(t, r), "sql:") {
		t.Errorf("no store: status %d, want 503 without its error", r.StatusCode)
	}
}

func TestImportPage_ShowsProgress(t *testing.T) {
	source := hostile(t)
	page := parse(t, body(t, serve(source, "GET", "/imports/runs?verdict=invalid&after=1")))
	text := words(page)
	for _, want := range []string{"Running: 20 of 1,500 feeds processed, 10 added, 9 existing, 1 invalid.", `line 3 · invalid · "<script>`, "Cancel import"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if strings.Contains(words(parse(t, body(t, serve(source, "GET", "/imports/runs?verdict=invalid&after=2")))), "line 3") {
		t.Error("the page shows lines before its first")
	}
	for label, want := range map[string]string{
		"First page": "/imports/runs?verdict=invalid", "CSV": "/api/imports/runs/report",
		"all": "/imports/runs", "not a feed": "/imports/runs?verdict=" + url.QueryEscape("not a feed"),
	} {
		if got := link(page, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
	waiting := parse(t, body(t, serve(source, "GET", "/imports/runs?verdict=waiting")))
	if got := link(waiting, "More lines"); got != "/imports/runs?after=120&verdict=waiting" {
		t.Errorf("more lines are at %q", got)
	}
	if got, want := link(parse(t, body(t, serve(source, "GET", "/imports/runs"))), "https://a.example/"), "/feeds/"+storage.FeedID("https://a.example/"); got != want {
		t.Errorf("the feed of a line is at %q, want %q", got, want)
	}
	for id, want := range map[string]string{"ends": "Cancelling: 0 of 2", "done": "Done: 2 of 2", "left": "Cancelled: 1 of 3"} {
		if text := words(parse(t, body(t, serve(source, "GET", "/imports/"+id)))); !strings.Contains(text, want) || strings.Contains(text, "Cancel import") {
			t.Errorf("%s: the page says %q, want %q", id, text, want)
		}
	}
}

func TestImportPage_ProgressPart(t *testing.T) {
	source := newSite(t)
	source.hostileImports(t)
	r := httptest.NewRequest("GET", "/imports/runs", nil)
	r.Header.Set(partHeader, "import-progress")
	got := source.answer(r)
	if page := body(t, got); got.Header.Get(partHeader) != "import-progress" || strings.Contains(page, "<html") || !strings.Contains(page, `data-running="true"`) {
		t.Errorf("got %q", page)
	}
}

func TestImportPage_Cancel(t *testing.T) {
	source := newSite(t)
	source.hostileImports(t)
	for id, want := range map[string]int{"runs": 303, "none": 404} {
		if r := post(source, "/imports/"+id+"/cancel", nil); r.StatusCode != want {
			t.Errorf("%s: status %d, want %d", id, r.StatusCode, want)
		}
	}
	if imp, err := source.Imports.Get(t.Context(), wire.ByID{ID: "runs"}); err != nil || !imp.Cancel {
		t.Errorf("got %+v, %v; want it cancelled", imp, err)
	}
}
