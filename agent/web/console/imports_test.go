package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

func (f *fake) StartImport(_ context.Context, name string, list []byte) (wire.Import, error) {
	f.done = append(f.done, fmt.Sprintf("import %s %s", name, list))
	return wire.Import{ID: "id"}, errors.Join(f.err, f.setErr)
}

func (f *fake) Imports(context.Context) (wire.Imports, error) { return f.allImports(), f.err }

// allImports are imports in all states.
func (f *fake) allImports() wire.Imports {
	return wire.Imports{Imports: []wire.Import{
		{ID: "runs", Name: evil, State: "running", Started: noon, Total: 1500, Done: 20, Added: 10, Existing: 9, Invalid: 1},
		{ID: "ends", State: "running", Cancel: true, Started: noon, Total: 2},
		{ID: "done", Name: "b.opml", State: "done", Started: noon.Add(-time.Hour), Finished: noon, Total: 2, Done: 2},
		{ID: "left", Name: "c", State: "cancelled", Started: noon, Finished: noon, Total: 3, Done: 1},
	}}
}

func (f *fake) Import(_ context.Context, id string) (wire.Import, error) {
	for _, imp := range f.allImports().Imports {
		if imp.ID == id {
			return imp, f.err
		}
	}
	return wire.Import{}, errors.Join(f.err, fmt.Errorf("import %s: %w", id, storage.ErrNotFound))
}

func (f *fake) ImportLines(_ context.Context, q wire.ImportSearch) (wire.ImportPage, error) {
	f.done = append(f.done, fmt.Sprintf("lines %s %q after %d", q.ID, q.Verdict, q.After))
	if q.ID != "runs" {
		return wire.ImportPage{}, f.err
	}
	return wire.ImportPage{Next: 7, Lines: []wire.ImportLine{
		{ImportResult: wire.ImportResult{Line: 3, URL: evil, Outcome: wire.ImportInvalid}, Verdict: wire.VerdictInvalid, Detail: evil},
		{ImportResult: wire.ImportResult{Line: 4, URL: "https://a.example/", FeedID: "a/b", Outcome: wire.ImportAdded}, Verdict: wire.VerdictRead},
	}}, f.err
}

func (f *fake) CancelImport(ctx context.Context, id string) (wire.Import, error) {
	f.done = append(f.done, "cancel "+id)
	return f.Import(ctx, id)
}

func pagesOfImports() map[string]shown {
	return map[string]shown{
		"imports":            {"/imports", 200, hostile()},
		"imports down":       {"/imports", 503, broken()},
		"running import":     {"/imports/runs", 200, hostile()},
		"ending import":      {"/imports/ends", 200, hostile()},
		"done import":        {"/imports/done?verdict=failed", 200, hostile()},
		"cancelled import":   {"/imports/left", 200, hostile()},
		"more lines":         {"/imports/runs?after=7&verdict=not+a+feed", 200, hostile()},
		"strange import":     {"/imports/runs?verdict=%3Cscript%3E", 400, hostile()},
		"no import":          {"/imports/none", 404, hostile()},
		"import of the dead": {"/imports/runs", 503, broken()},
	}
}

// upload submits a form with a file.
func upload(source Source, field, name, content string) *http.Response {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	form.WriteField("other", "x")
	file, _ := form.CreateFormFile(field, name)
	file.Write([]byte(content))
	form.Close()
	return sendRaw(source, form.FormDataContentType(), b.String())
}

func sendRaw(source Source, kind, content string) *http.Response {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("POST", "/imports", strings.NewReader(content))
	r.Header.Set("Content-Type", kind)
	handler(source, func() time.Time { return noon }).ServeHTTP(w, r)
	return w.Result()
}

func TestImports_UploadFile(t *testing.T) {
	source := hostile()
	r := upload(source, "list", `C:\me\feeds.opml`, "https://a.example/")
	if r.StatusCode != 303 || r.Header.Get("Location") != "/imports/id" || !slices.Equal(source.done, []string{"import feeds.opml https://a.example/"}) {
		t.Errorf("status %d to %q after %q", r.StatusCode, r.Header.Get("Location"), source.done)
	}
	source.done = nil
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
	if len(source.done) > 0 {
		t.Errorf("done is %q, want nothing", source.done)
	}
	if r := upload(source, "list", "x", strings.Repeat("x", service.MaxImport+maxFormOverhead)); r.StatusCode != 413 {
		t.Errorf("too large: status %d, want 413", r.StatusCode)
	}
	for _, c := range []struct {
		err    error
		status int
	}{{&service.Error{Kind: service.KindInvalid, Message: evil}, 422}, {fmt.Errorf("x: %w", &service.Error{Kind: service.KindBusy}), 429}, {errors.New("dial tcp 127.0.0.1"), 503}} {
		source.setErr = c.err
		if r := upload(source, "list", "x", "y"); r.StatusCode != c.status || strings.Contains(body(t, r), "127.0.0.1") {
			t.Errorf("%v: status %d, want %d", c.err, r.StatusCode, c.status)
		}
	}
}

func TestImportPage_ShowsProgress(t *testing.T) {
	source := hostile()
	page := parse(t, body(t, serve(source, "GET", "/imports/runs?verdict=invalid&after=7")))
	text := words(page)
	for _, want := range []string{"Running: 20 of 1,500 feeds processed, 10 added, 9 existing, 1 invalid.", "line 3 · invalid · <script>", "Cancel import"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q: %s", want, text)
		}
	}
	if !slices.Equal(source.done, []string{`lines runs "invalid" after 7`}) {
		t.Errorf("asked is %q", source.done)
	}
	for label, want := range map[string]string{
		"More lines": "/imports/runs?after=7&verdict=invalid", "First page": "/imports/runs?verdict=invalid", "CSV": "/api/imports/runs/report",
		"https://a.example/": "/feeds/a%2Fb", "all": "/imports/runs", "not a feed": "/imports/runs?verdict=" + url.QueryEscape("not a feed"),
	} {
		if got := link(page, label); got != want {
			t.Errorf("%q leads to %q, want %q", label, got, want)
		}
	}
	for id, want := range map[string]string{"ends": "Cancelling: 0 of 2", "done": "Done: 2 of 2", "left": "Cancelled: 1 of 3"} {
		if text := words(parse(t, body(t, serve(source, "GET", "/imports/"+id)))); !strings.Contains(text, want) || strings.Contains(text, "Cancel import") {
			t.Errorf("%s: the page says %q, want %q", id, text, want)
		}
	}
}

func TestImportPage_ProgressPart(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/imports/runs", nil)
	r.Header.Set(partHeader, "import-progress")
	handler(hostile(), func() time.Time { return noon }).ServeHTTP(w, r)
	page := w.Body.String()
	if w.Header().Get(partHeader) != "import-progress" || strings.Contains(page, "<html") || !strings.Contains(page, `data-running="true"`) {
		t.Errorf("got %q", page)
	}
}

func TestImportPage_Cancel(t *testing.T) {
	source := hostile()
	for id, want := range map[string]int{"runs": 303, "none": 404} {
		if r := post(source, "/imports/"+id+"/cancel", nil); r.StatusCode != want {
			t.Errorf("%s: status %d, want %d", id, r.StatusCode, want)
		}
	}
	slices.Sort(source.done)
	if want := []string{"cancel none", "cancel runs"}; !slices.Equal(source.done, want) {
		t.Errorf("done is %q, want %q", source.done, want)
	}
}
