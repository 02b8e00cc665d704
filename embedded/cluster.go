package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/nats-io/nuid"
)

// A Cluster is several processes' servers that keep each stream together. Three
// of them survive the loss of any one.
type Cluster struct {
	Listen string   // HOST:PORT where the others find this server
	Peers  []string // HOST:PORT of the others; this one's own among them is harmless
	Secret string   // that all of them know; empty: none is asked for
}

// clusterName is what the servers of one mesh call their cluster, and the user
// they are to each other.
const clusterName = "feedmesh"

// reportEvery is how many attempts to reach another server, at one a second, go
// by between two words about it.
const reportEvery = 600

// join completes the options of a server that is one of a cluster. It returns
// what connections to the server need: a server of a cluster must listen for
// clients, so it does where only this machine's can reach it, and lets in nobody
// but who has a key that this process draws.
func (c *Cluster) join(o *server.Options) (login nats.Option, err error) {
	host, port, err := splitAddr(c.Listen)
	if err != nil {
		return nil, err
	}
	if o.ServerName, err = serverName(o.StoreDir); err != nil {
		return nil, err
	}
	o.Cluster = server.ClusterOpts{Name: clusterName, Host: host, Port: port, NoAdvertise: true}
	if c.Secret != "" {
		o.Cluster.Username, o.Cluster.Password = clusterName, c.Secret
	}
	for _, peer := range c.Peers {
		if peer == c.Listen {
			continue // or the cluster would wait for a server more than there is
		}
		route := &url.URL{Scheme: "nats", Host: peer}
		if c.Secret != "" {
			route.User = url.UserPassword(clusterName, c.Secret)
		}
		o.Routes = append(o.Routes, route)
	}
	o.ConnectErrorReports, o.ReconnectErrorReports = reportEvery, reportEvery
	o.DontListen, o.Host, o.Port = false, "127.0.0.1", server.RANDOM_PORT
	key, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	o.Nkeys = []*server.NkeyUser{{Nkey: public}}
	return nats.Nkey(public, key.Sign), nil
}

func splitAddr(addr string) (host string, port int, err error) {
	host, number, err := net.SplitHostPort(addr)
	if err == nil {
		port, err = strconv.Atoi(number)
	}
	if err != nil {
		return "", 0, fmt.Errorf("its cluster address %q is none: %w", addr, err)
	}
	return host, port, nil
}

// serverName returns the name that the others know this server's files by: it is
// drawn once and kept beside them.
func serverName(dir string) (string, error) {
	path := filepath.Join(dir, "name")
	name, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		name = []byte("feedmesh-" + nuid.Next())
		if err = os.MkdirAll(dir, 0o750); err == nil {
			err = os.WriteFile(path, name, 0o640)
		}
	}
	if err != nil {
		return "", fmt.Errorf("keep its name: %w", err)
	}
	return strings.TrimSpace(string(name)), nil
}
