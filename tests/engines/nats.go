package engines

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// NATS is a cluster of NATS servers with JetStream, each a separate process that syncs writes to disk before
// it acknowledges them.
type NATS struct {
	Servers []*NATSServer
}

// A NATSServer is a server of a cluster. It may be killed and restarted, and then has the same address and
// data.
type NATSServer struct {
	Process
	Data    string // folder of its streams; it may be removed while the server is down
	client  int    // ports
	monitor int
	member  bool // of a cluster of several servers
}

// A Router returns the address at which one server of a cluster reaches the route of another, such as that of
// a proxy between them.
type Router func(from, to int, address string) (string, error)

// StartNATS builds the server and starts n of them, with their data in folders of dir, and returns when all
// are ready.
func StartNATS(dir string, n int) (*NATS, error) {
	return StartRoutedNATS(dir, n, func(_, _ int, address string) (string, error) { return address, nil })
}

// StartRoutedNATS is [StartNATS] with routes that router changes.
func StartRoutedNATS(dir string, n int, router Router) (*NATS, error) {
	program := filepath.Join(dir, "nats-server")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", program, "github.com/nats-io/nats-server/v2")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the NATS server: %w: %s", err, out)
	}
	var addresses []string
	for range n {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, fmt.Sprintf("127.0.0.1:%d", port))
	}
	cluster := new(NATS)
	for from := range addresses {
		routes, err := routesOf(from, addresses, router)
		if err != nil {
			cluster.Kill()
			return nil, err
		}
		s, err := newNATSServer(dir, from, program, addresses[from], routes)
		if err == nil {
			cluster.Servers = append(cluster.Servers, s)
			err = s.Process.Start()
		}
		if err != nil {
			cluster.Kill()
			return nil, err
		}
	}
	// A server becomes ready only after most of them run.
	for _, s := range cluster.Servers {
		if err := s.Ready(time.Minute, s.Healthy); err != nil {
			cluster.Kill()
			return nil, err
		}
	}
	return cluster, nil
}

// routesOf returns the addresses at which a server reaches the routes of the others.
func routesOf(from int, addresses []string, router Router) ([]string, error) {
	var routes []string
	for to, address := range addresses {
		if to == from {
			continue
		}
		route, err := router(from, to, address)
		if err != nil {
			return nil, err
		}
		routes = append(routes, route)
	}
	return routes, nil
}

func newNATSServer(dir string, i int, program, address string, routes []string) (*NATSServer, error) {
	s := &NATSServer{member: len(routes) > 0}
	for _, port := range []*int{&s.client, &s.monitor} {
		var err error
		if *port, err = FreePort(); err != nil {
			return nil, err
		}
	}
	s.Name, s.Path = fmt.Sprintf("nats-%d", i), program
	s.Data = filepath.Join(dir, s.Name)
	file := s.Data + ".conf"
	s.Args = []string{"--config", file}
	// max_file bounds the reservations of streams, independent of the disk's size.
	settings := fmt.Sprintf(`
server_name: %s
listen: 127.0.0.1:%d
http: 127.0.0.1:%d
max_payload: 8MB
jetstream { store_dir: %q, sync_interval: always, max_file: 256GB, max_mem: 256MB }
`, s.Name, s.client, s.monitor, s.Data)
	if s.member {
		// The advertised address serves nothing, so that servers connect by their configured routes only.
		settings += fmt.Sprintf("cluster { name: tests, listen: %s, advertise: \"127.0.0.1:1\", no_advertise: true, ping_interval: 2s, ping_max: 3, write_deadline: 2s, routes: [ \"nats://%s\" ] }\n",
			address, strings.Join(routes, `", "nats://`))
	}
	if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
		return nil, fmt.Errorf("configure %s: %w", s.Name, err)
	}
	return s, nil
}

// URLs returns the URLs of all servers.
func (n *NATS) URLs() []string {
	var urls []string
	for _, s := range n.Servers {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", s.client))
	}
	return urls
}

// Kill kills all servers together.
func (n *NATS) Kill() {
	for _, s := range n.Servers {
		s.Process.Kill()
	}
}

// Start starts or restarts the server, and returns when it is ready, which requires a running majority of its
// cluster.
func (s *NATSServer) Start() error {
	if err := s.Process.Start(); err != nil {
		return err
	}
	return s.Ready(time.Minute, s.Healthy)
}

// Healthy returns nil if the server and its streams are healthy and its cluster has a leader.
func (s *NATSServer) Healthy() error {
	if err := s.get("/healthz", nil); err != nil || !s.member {
		return err
	}
	var js struct {
		Cluster struct {
			Leader string `json:"leader"`
		} `json:"meta_cluster"`
	}
	if err := s.get("/jsz", &js); err != nil {
		return err
	}
	if js.Cluster.Leader == "" {
		return errors.New("the cluster has no leader")
	}
	return nil
}

// Traffic is what clients sent to a server since its start.
type Traffic struct {
	Messages int64 `json:"in_msgs"`
	Bytes    int64 `json:"in_bytes"`
}

// Since returns the traffic since an earlier time.
func (t Traffic) Since(before Traffic) Traffic {
	return Traffic{t.Messages - before.Messages, t.Bytes - before.Bytes}
}

// Traffic returns the traffic so far.
func (s *NATSServer) Traffic() (t Traffic, err error) { return t, s.get("/varz", &t) }

// get reads a page of the server's monitoring into answer, unless that is nil.
func (s *NATSServer) get(page string, answer any) error {
	client := http.Client{Timeout: 5 * time.Second}
	response, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", s.monitor, page))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(page + ": " + response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
