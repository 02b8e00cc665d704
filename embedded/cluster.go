package embedded

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/nats-io/nuid"
)

// Cluster configures a server as one of several that replicate each stream. Three servers tolerate the loss
// of one.
type Cluster struct {
	Listen string   // HOST:PORT for connections of the other servers
	Peers  []string // HOST:PORT of all servers; the server's own is ignored
	Secret string   // password shared by all servers; required

	TLS *tls.Config // both ends of a connection between servers; nil: not encrypted
}

// clusterName is the name of the cluster, and the user name between its servers.
const clusterName = "feedmesh"

// tlsTimeout is the timeout of a handshake between servers.
const tlsTimeout = 10 * time.Second

// A server that did not answer the last maxRoutePings pings of another is left at the next one, after 6 to 8 s. Until
// then a part of all reads is sent to it and gets no answer.
const (
	routePingInterval = 2 * time.Second
	maxRoutePings     = 3

	// routeWriteTimeout bounds a write to another server. A server with full buffers to one that hangs serves no other
	// meanwhile.
	routeWriteTimeout = 2 * time.Second
)

// reportEvery is the number of failed connection attempts to another server, at one a second, between two log
// messages.
const reportEvery = 600

// join sets the options of a cluster server and returns the login for clients. A server of a cluster must
// listen for clients. It listens on the loopback address only and accepts only an nkey that this process
// generates.
func (c *Cluster) join(o *server.Options) (login nats.Option, err error) {
	host, port, err := splitAddr(c.Listen)
	if err != nil {
		return nil, err
	}
	if c.Secret == "" {
		return nil, errors.New("a cluster without a secret would accept any server")
	}
	if o.ServerName, err = serverName(o.StoreDir); err != nil {
		return nil, err
	}
	o.Cluster = server.ClusterOpts{
		Name: clusterName, Host: host, Port: port, NoAdvertise: true, Username: clusterName, Password: c.Secret,
		PingInterval: routePingInterval, MaxPingsOut: maxRoutePings, WriteDeadline: routeWriteTimeout,
	}
	if c.TLS != nil {
		o.Cluster.TLSConfig, o.Cluster.TLSTimeout = c.TLS, tlsTimeout.Seconds()
	}
	for _, peer := range c.Peers {
		if peer == c.Listen {
			continue // or the cluster would wait for one server too many
		}
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats", Host: peer, User: url.UserPassword(clusterName, c.Secret)})
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
		return "", 0, fmt.Errorf("invalid cluster address %q: %w", addr, err)
	}
	return host, port, nil
}

// serverName returns the server's name in the cluster. It is generated once and stored with the server's
// files, because the other servers identify those files by it.
func serverName(dir string) (string, error) {
	path := filepath.Join(dir, "name")
	name, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		name = []byte("feedmesh-" + nuid.Next())
		if err = os.MkdirAll(dir, 0o700); err == nil {
			err = os.WriteFile(path, name, 0o600)
		}
	}
	if err != nil {
		return "", fmt.Errorf("store server name: %w", err)
	}
	return strings.TrimSpace(string(name)), nil
}
