package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/report"
)

// A reader is a feed reader under measurement: its processes, and how feeds are added to it and refreshed.
type reader interface {
	// start starts the reader with its data in a folder.
	start(ctx context.Context, dir string) error
	// add adds feeds, and may begin to read them.
	add(ctx context.Context, urls []string) error
	// refresh polls all feeds once. The documents are fetched whole by this program, which does so at the request of a
	// user, and only if they changed by the others.
	refresh(ctx context.Context) error
	// items returns the number of items that can be found.
	items(ctx context.Context) (int, error)
	// processes returns the processes of the reader.
	processes() []*engines.Process
}

// benchReaders compares this program with other feed readers: the same phases with the same feeds, one reader after the
// other, each with its own feed server.
func benchReaders(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("rivals", flag.ContinueOnError)
	size := feedsSize{feeds: 2_000, items: 20, hosts: 2_000}
	size.flags(flags)
	rest := flags.Duration("rest", time.Minute, "time at rest after the last poll")
	yarr := flags.String("yarr", "", "folder with the sources of yarr, which the module proxy lacks; empty: without yarr")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	readers := []struct {
		name string
		reader
	}{{"feedmesh", &feedmeshReader{}}, {"Miniflux, PostgreSQL", &miniflux{}}}
	if *yarr != "" {
		readers = append(readers, struct {
			name string
			reader
		}{"yarr", &yarrReader{sources: *yarr}})
	}
	for _, r := range readers {
		err := inFolder(func(dir string) error {
			if err := os.Chmod(dir, 0o755); err != nil { // PostgreSQL runs as another user
				return err
			}
			m := &readerRun{Report: out, name: r.name, reader: r.reader, size: size, rest: *rest}
			defer func() {
				for _, p := range slices.Backward(r.processes()) {
					p.Kill()
				}
			}()
			return m.run(ctx, dir)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// A readerRun measures one reader.
type readerRun struct {
	*report.Report
	reader
	name  string
	size  feedsSize
	rest  time.Duration
	feeds *remoteFeeds
	most  atomic.Int64 // bytes of memory
}

func (m *readerRun) run(ctx context.Context, dir string) (err error) {
	if m.feeds, err = startFeedServer(m.size); err != nil {
		return err
	}
	defer m.feeds.stop()
	if err := m.start(ctx, dir); err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	go m.watchMemory(ctx)
	feeds, items := float64(m.size.feeds), float64(m.size.feeds*m.size.items)
	first, err := m.measure(func() error {
		if err := m.add(ctx, m.feeds.urls); err != nil {
			return err
		}
		return m.untilItems(ctx, m.size.feeds*m.size.items)
	})
	if err != nil {
		return fmt.Errorf("first sweep: %w", err)
	}
	m.named("first sweep: feeds", first.rate(feeds), "/s")
	m.named("first sweep: CPU", first.millis(items), "ms an item")
	if err := m.untilRest(ctx); err != nil {
		return err
	}
	unchanged, err := m.measure(func() error { return m.sweep(ctx) })
	if err != nil {
		return fmt.Errorf("refresh of all, nothing new: %w", err)
	}
	m.named("refresh of all, nothing new: feeds", unchanged.rate(feeds), "/s")
	m.named("refresh of all, nothing new: CPU", unchanged.micros(feeds), "us a poll")
	if err := m.feeds.publish(); err != nil {
		return err
	}
	if err := m.untilRest(ctx); err != nil {
		return err
	}
	changed, err := m.measure(func() error {
		if err := m.sweep(ctx); err != nil {
			return err
		}
		return m.untilItems(ctx, m.size.feeds*(m.size.items+1))
	})
	if err != nil {
		return fmt.Errorf("one new item in each feed: %w", err)
	}
	m.named("one new item in each feed: feeds", changed.rate(feeds), "/s")
	m.named("one new item in each feed: CPU", changed.millis(feeds), "ms each")
	m.named("memory, at most", float64(m.most.Load())/1e6, "MB")
	idle, err := m.measure(func() error {
		pause(ctx, m.rest)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	m.named("memory, after "+m.rest.String(), float64(m.memory())/1e6, "MB")
	m.named("CPU at rest", idle.percent(), "% of a core")
	return nil
}

func (m *readerRun) named(what string, value float64, unit string) {
	m.Add(m.name+": "+what, value, unit)
}

// sweep polls all feeds and waits until each was requested.
func (m *readerRun) sweep(ctx context.Context) error {
	return m.feeds.requested(ctx, m.size.feeds, func() error { return m.refresh(ctx) })
}

// untilItems waits until the reader has a number of items.
func (m *readerRun) untilItems(ctx context.Context, n int) error {
	for deadline := time.Now().Add(waitTimeout); ; time.Sleep(200 * time.Millisecond) {
		have, err := m.items(ctx)
		if err != nil || have >= n {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("got %d of %d items within %v", have, n, waitTimeout)
		}
	}
}

// untilRest waits until the reader uses little CPU time.
func (m *readerRun) untilRest(ctx context.Context) error {
	for range waitTimeout / restFor {
		used, err := m.measure(func() error {
			pause(ctx, restFor)
			return ctx.Err()
		})
		if err != nil || used.percent() <= restLoad {
			return err
		}
	}
	return fmt.Errorf("not at rest after %v", waitTimeout)
}

// measure measures the CPU time of the reader's processes during a step.
func (m *readerRun) measure(do func() error) (usagePeriod, error) {
	cpu := func() (sum time.Duration) {
		for _, p := range m.processes() {
			sum += processorTime(p.ID())
		}
		return sum
	}
	began, before := time.Now(), cpu()
	err := do()
	return usagePeriod{elapsed: time.Since(began), cpu: cpu() - before}, err
}

// memory returns the memory of all processes and their children, in bytes.
func (m *readerRun) memory() (sum int64) {
	for _, p := range m.processes() {
		sum += sharedMemory(p.ID())
	}
	return sum
}

// watchMemory measures the memory each second until ctx ends.
func (m *readerRun) watchMemory(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			m.most.Store(max(m.most.Load(), m.memory()))
		}
	}
}

// A feedmeshReader is this program: one node with all roles.
type feedmeshReader struct {
	*agent
	ids []string // of the feeds
}

func (r *feedmeshReader) start(ctx context.Context, dir string) error {
	program, err := buildAgent(ctx, dir)
	if err != nil {
		return err
	}
	if r.agent, err = newAgent(program, filepath.Join(dir, "data")); err != nil {
		return err
	}
	_, err = r.agent.start()
	return err
}

func (r *feedmeshReader) add(ctx context.Context, urls []string) error {
	r.ids = feedIDs(urls)
	_, err := r.ImportFeeds(ctx, strings.NewReader(strings.Join(urls, "\n")))
	return err
}

func (r *feedmeshReader) refresh(ctx context.Context) error {
	return doTo(ctx, r.Client, wire.ActionRefresh, r.ids)
}

func (r *feedmeshReader) items(ctx context.Context) (int, error) {
	st, err := client.Call(ctx, r.Client, wire.GetStatus, wire.None{})
	return int(st.Indexed), err
}

func (r *feedmeshReader) processes() []*engines.Process {
	if r.agent == nil {
		return nil
	}
	return []*engines.Process{r.process}
}

// minifluxVersion is the version of Miniflux that is built from the module proxy.
const minifluxVersion = "v2.3.5"

// A miniflux is Miniflux with a PostgreSQL server of its own.
type miniflux struct {
	server   *engines.Process
	postgres *engines.Postgres
	database string // its URL
	http     jsonClient
}

func (r *miniflux) start(ctx context.Context, dir string) error {
	install := exec.CommandContext(ctx, "go", "install", "miniflux.app/v2@"+minifluxVersion)
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=-mod=mod")
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("build Miniflux: %w: %s", err, out)
	}
	data := filepath.Join(dir, "postgres")
	if err := os.Mkdir(data, 0o755); err != nil {
		return err
	}
	var err error
	// Without it, the compilation of queries takes 50 to 400 ms of each poll, while the tables have no statistics yet.
	if r.postgres, err = engines.StartPostgres(data, "jit=off"); err != nil {
		return err
	}
	if r.database, err = r.postgres.Create("miniflux"); err != nil {
		return err
	}
	port, err := engines.FreePort()
	if err != nil {
		return err
	}
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	r.http = jsonClient{base: "http://" + listen, user: "admin", password: "password1"}
	r.server = &engines.Process{Name: "Miniflux", Path: filepath.Join(dir, "miniflux.app"), Env: []string{
		"DATABASE_URL=" + r.database, "LISTEN_ADDR=" + listen, "RUN_MIGRATIONS=1", "CREATE_ADMIN=1", "ADMIN_USERNAME=admin", "ADMIN_PASSWORD=password1",
		"DISABLE_SCHEDULER_SERVICE=1", "DATABASE_MIN_CONNS=20", "FETCHER_ALLOW_PRIVATE_NETWORKS=1", "LOG_LEVEL=warning",
	}}
	if err := r.server.Start(); err != nil {
		return err
	}
	return r.server.Ready(time.Minute, func() error { return r.http.call(ctx, http.MethodGet, "/v1/me", nil, nil) })
}

func (r *miniflux) add(ctx context.Context, urls []string) error {
	if err := r.http.call(ctx, http.MethodPost, "/v1/import", opmlOf(urls), nil); err != nil {
		return err
	}
	// Feeds with an icon: otherwise it is looked for at each poll, at sites that synthetic feeds do not have.
	err := r.exec(ctx, `WITH icon AS (INSERT INTO icons (hash, mime_type, content) VALUES ('bench', 'image/png', '') RETURNING id)
		INSERT INTO feed_icons (feed_id, icon_id) SELECT feeds.id, icon.id FROM feeds, icon`)
	if err != nil {
		return err
	}
	return r.refresh(ctx)
}

func (r *miniflux) refresh(ctx context.Context) error {
	if err := r.exec(ctx, `UPDATE feeds SET next_check_at = now() - interval '1 minute'`); err != nil {
		return err
	}
	return r.http.call(ctx, http.MethodPut, "/v1/feeds/refresh", nil, nil)
}

func (r *miniflux) exec(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, r.database)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}

func (r *miniflux) items(ctx context.Context) (int, error) {
	var page struct{ Total int }
	err := r.http.call(ctx, http.MethodGet, "/v1/entries?limit=1", nil, &page)
	return page.Total, err
}

func (r *miniflux) processes() (all []*engines.Process) {
	if r.postgres != nil {
		all = append(all, &r.postgres.Process)
	}
	if r.server != nil {
		all = append(all, r.server)
	}
	return all
}

// A yarrReader is yarr, which stores its items in SQLite.
type yarrReader struct {
	sources string
	server  *engines.Process
	http    jsonClient
}

func (r *yarrReader) start(ctx context.Context, dir string) error {
	program := filepath.Join(dir, "yarr")
	build := exec.CommandContext(ctx, "go", "build", "-C", r.sources, "-tags", "sqlite_foreign_keys", "-o", program, "./cmd/yarr")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build yarr: %w: %s", err, out)
	}
	port, err := engines.FreePort()
	if err != nil {
		return err
	}
	listen := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	r.http = jsonClient{base: "http://" + listen}
	r.server = &engines.Process{Name: "yarr", Path: program, Args: []string{"-addr", listen, "-db", filepath.Join(dir, "yarr.db")}}
	if err := r.server.Start(); err != nil {
		return err
	}
	return r.server.Ready(time.Minute, func() error { return r.http.call(ctx, http.MethodGet, "/api/status", nil, nil) })
}

func (r *yarrReader) add(ctx context.Context, urls []string) error {
	return r.http.upload(ctx, "/opml/import", "opml", opmlOf(urls))
}

func (r *yarrReader) refresh(ctx context.Context) error {
	return r.http.call(ctx, http.MethodPost, "/api/feeds/refresh", nil, nil)
}

func (r *yarrReader) items(ctx context.Context) (sum int, err error) {
	var status struct {
		Stats []struct{ Unread, Starred int }
	}
	err = r.http.call(ctx, http.MethodGet, "/api/status", nil, &status)
	for _, s := range status.Stats {
		sum += s.Unread + s.Starred
	}
	return sum, err
}

func (r *yarrReader) processes() []*engines.Process {
	if r.server == nil {
		return nil
	}
	return []*engines.Process{r.server}
}

// opmlOf returns a list of feeds as OPML.
func opmlOf(urls []string) []byte {
	var b bytes.Buffer
	b.WriteString(`<opml version="2.0"><body>`)
	for i, url := range urls {
		fmt.Fprintf(&b, `<outline type="rss" text="feed %d" xmlUrl="%s"/>`, i, url)
	}
	b.WriteString("</body></opml>")
	return b.Bytes()
}

// A jsonClient calls a JSON interface.
type jsonClient struct{ base, user, password string }

// call sends a body, and decodes the answer into out unless it is nil.
func (c jsonClient) call(ctx context.Context, method, path string, body []byte, out any) error {
	return c.send(ctx, method, path, "application/json", body, out)
}

// upload sends a file of a form.
func (c jsonClient) upload(ctx context.Context, path, field string, file []byte) error {
	const boundary = "feedmesh-bench"
	var b bytes.Buffer
	fmt.Fprintf(&b, "--%s\r\nContent-Disposition: form-data; name=%q; filename=\"list\"\r\n\r\n", boundary, field)
	b.Write(file)
	fmt.Fprintf(&b, "\r\n--%s--\r\n", boundary)
	return c.send(ctx, http.MethodPost, path, "multipart/form-data; boundary="+boundary, b.Bytes(), nil)
}

func (c jsonClient) send(ctx context.Context, method, path, contentType string, body []byte, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	if c.user != "" {
		request.SetBasicAuth(c.user, c.password)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = errors.New(response.Status + ": " + strings.TrimSpace(string(answer)))
	}
	if err == nil && out != nil {
		err = json.Unmarshal(answer, out)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}
