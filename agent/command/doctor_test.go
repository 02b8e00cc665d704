package command

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/service"
	"feedmesh/agent/service/briefing"
	"feedmesh/agent/wire"
	"feedmesh/config"
	"feedmesh/storage"
)

func TestDoctor_AllChecksPass(t *testing.T) {
	w := newTestbed(t)
	s := w.do(t, "doctor", "--data", t.TempDir())
	s.check(t, 0, "ok  api          "+w.URL+" responds", "")
	s.check(t, 0, "ok  clock        in sync with the node", "")
	s.check(t, 0, "ok  node: store", "")
	s.check(t, 0, "ok  dns          example.com resolves", "")
	w.do(t, "doctor", "--json", "--data", t.TempDir()).check(t, 0, `[{"name":"api","ok":true,`, "")
}

func TestDoctor_ReportsFailuresAndFixes(t *testing.T) {
	w := newTestbed(t)
	w.Checks = []wire.Check{{Name: "store", Detail: "the file is gone " + escape}}
	s := w.do(t, "doctor", "--data", write(t, "file", ""), "--nats", "nats://u:s3cret@127.0.0.1:1",
		"--store", "postgres://u:s3cret@127.0.0.1:1/d", "--search", "meilisearch://127.0.0.1:1")
	s.check(t, 1, "FAILED  node: store  the file is gone", "")
	s.check(t, 1, "is not a folder: choose another with --data", "")
	s.check(t, 1, "nats://(hidden)@127.0.0.1:1: connect to the NATS server of --nats: ", "")
	s.check(t, 1, "FAILED  store        open database \"d\" at 127.0.0.1:1 as \"u\": the server can't be reached: check that it runs", "")
	s.check(t, 1, "FAILED  search       the Meilisearch at http://127.0.0.1:1 is unavailable; check that it runs", "")
	if strings.Contains(s.out+s.err, "s3cret") {
		t.Errorf("it prints a secret: %s%s", s.out, s.err)
	}

	p := &program{lookup: func(context.Context, string) ([]string, error) { return nil, errors.New("no resolver") }}
	w.Checks = []wire.Check{{Name: "store", OK: true}}
	doWith(t, p, "doctor", "--data", t.TempDir(), "--api", w.URL).check(t, 0, "warning  dns", "")
}

func TestDoctor_WarnsOfTheModelOfBriefings(t *testing.T) {
	status := http.StatusOK
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, `{"data":[]}`)
	}))
	defer endpoint.Close()
	w := newTestbed(t, func(d *service.Deps) {
		d.Briefing = briefing.Options{URL: endpoint.URL + "/v1", Model: "small", Key: "s3cret", Daily: 1, Metrics: prometheus.NewRegistry()}
	})
	doctor := func(want string) {
		t.Helper()
		w.do(t, "doctor", "--data", t.TempDir(), "--briefing-url", endpoint.URL+"/v1", "--briefing-key", "s3cret").check(t, 0, want, "")
	}
	doctor("ok  node: briefing")
	doctor("ok  briefing        " + endpoint.URL + "/v1 responds")
	status = http.StatusUnauthorized
	doctor("warning  briefing        " + endpoint.URL + "/v1: status 401; check briefing.url and briefing.key")
	w.do(t, "briefing").check(t, 0, "Kernel released", "the endpoint of the model refused the request with status 401")
	doctor("warning  node: briefing  at ")
	endpoint.Close()
	doctor("connection refused")
}

func TestDoctor_WarnsOfViews(t *testing.T) {
	w := newTestbed(t)
	put := func(v storage.View) {
		t.Helper()
		err := storage.Views(w.Store).Change(t.Context(), v.Name, func(*storage.View) (*storage.View, error) { return &v, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	doctor := func(want string) {
		t.Helper()
		w.do(t, "doctor", "--data", t.TempDir()).check(t, 0, want, "")
	}
	put(storage.View{Name: "good", Definition: "view good = from all", Changed: now, Filled: now})
	doctor("ok  views        1, all current")
	put(storage.View{Name: "new", Definition: "view new = from all", Changed: now})
	doctor("ok  views        2, all current")
	put(storage.View{Name: "new", Definition: "view new = from all", Changed: now.Add(-time.Hour)})
	doctor("warning  view new     its older items are not filled in")
	put(storage.View{Name: "odd", Definition: "view odd = of a newer version", Changed: now})
	doctor("warning  view odd     it gets no items")
}

func TestViews_SaveListReadRemove(t *testing.T) {
	w := newTestbed(t)
	const definition = `view kernels "Kernels" = from all where kernel`
	w.do(t, "views", "save", definition, "--preview").check(t, 0, "Kernel released", "")
	w.do(t, "views", "save", definition).check(t, 0, "kernels: "+w.URL+"/outputs/views/kernels.atom", "")
	w.do(t, "views", "save", "view kernels = from nowhere").check(t, 1, "", "nowhere")
	w.do(t, "views", "save", "view a = from view:b").check(t, 1, "", "b, which does not exist")
	w.do(t, "views", "list").check(t, 0, "kernels  0      being filled in  "+definition, "")
	w.do(t, "views", "items", "kernels").check(t, 0, "", "no items yet")
	v, err := storage.Views(w.Store).Get(t.Context(), "kernels")
	if err != nil {
		t.Fatal(err)
	}
	member := storage.Member{View: v.Number, ItemID: w.item, Entered: time.Now(), Published: time.Now()}
	if err := w.Store.ChangeMembers(t.Context(), storage.Fence{}, []storage.Member{member}, nil); err != nil {
		t.Fatal(err)
	}
	w.do(t, "views", "items", "kernels").check(t, 0, "Kernel released", "")
	w.do(t, "views", "remove", "kernels").check(t, 0, "kernels: removed", "")
}

// Checks that hang do not add their times: each check here waits until all have started.
func TestCheckAll_ConcurrentInOrder(t *testing.T) {
	var started sync.WaitGroup
	var checks []func() []wire.Check
	for _, name := range []string{"a", "b", "c"} {
		started.Add(1)
		checks = append(checks, func() []wire.Check {
			started.Done()
			started.Wait()
			return []wire.Check{{Name: name}, {Name: name + "2"}}
		})
	}
	var names []string
	for _, c := range checkAll(checks) {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "a a2 b b2 c c2" {
		t.Errorf("got %s", got)
	}
}

func TestDoctor_ChecksPortWithoutNode(t *testing.T) {
	isolate(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	args := []string{"doctor", "--api", "http://127.0.0.1:1", "--data", t.TempDir(), "--listen"}
	do(t, "", append(args, l.Addr().String())...).check(t, 1, "FAILED  port", "")
	s := do(t, "", append(args, "127.0.0.1:0")...)
	s.check(t, 1, "127.0.0.1:0 is free", "")
	s.check(t, 1, "is one running? start one with: agent", "")
}

func TestDoctor_SkipsDataOfRemoteNode(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080": true, "http://localhost": true, "http://[::1]:80": true, "http://pi.example:8080": false, "::": false,
	} {
		if got := isLocal(address); got != want {
			t.Errorf("isLocal(%q) is %v", address, got)
		}
	}
}

func TestCheckData_LeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range checkData(filepath.Join(dir, "not", "there", "yet")) {
		if !c.OK {
			t.Errorf("%s: %s", c.Name, c.Detail)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("it left %v", files)
	}
	if os.Getuid() == 0 {
		return // root can write anywhere
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if c := checkData(dir)[0]; c.OK {
		t.Error("a folder that may not be written to passes")
	}
}

func TestCheckClock(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	cases := []struct {
		node, now time.Time
		ok        bool
	}{
		{time.Time{}, now, true},
		{now.Add(-3 * time.Second), now, true},
		{now.Add(time.Minute), now, false},
		{time.Time{}, time.Unix(0, 0), false},
	}
	for _, c := range cases {
		if got := checkClock(c.node, c.now); got.OK != c.ok {
			t.Errorf("node %v, here %v: %v", c.node, c.now, got)
		}
	}
}

func TestCheckNATS_RequiresJetStream(t *testing.T) {
	for _, js := range []bool{true, false} {
		s, err := server.NewServer(&server.Options{
			Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: js, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		s.Start()
		defer s.Shutdown()
		if !s.ReadyForConnections(10 * time.Second) {
			t.Fatal("the NATS server does not start")
		}
		if c := checkServer(config.Address(s.ClientURL()), config.NATSLogin{}); c.OK != js {
			t.Errorf("with JetStream %v: %+v", js, c)
		}
	}
}
