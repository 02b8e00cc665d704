package machines

import (
	"errors"
	"net"
	"regexp"
	"slices"
	"time"
)

// A Link is a way to a server on which all data takes longer.
type Link struct {
	Address  string // to be used instead of the server's
	listener net.Listener
}

// Link returns a link from the machines to the server at a TCP address of this machine, with a delay in each direction.
func (n *Network) Link(server string, delay time.Duration) (*Link, error) {
	l, err := net.Listen("tcp", n.subnet+"1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return // closed
			}
			go func() {
				far, err := net.Dial("tcp", server)
				if err != nil {
					near.Close()
					return
				}
				go carry(far, near, delay)
				carry(near, far, delay)
			}()
		}
	}()
	return &Link{l.Addr().String(), l}, nil
}

// servers matches addresses of servers of this machine.
var servers = regexp.MustCompile(`127\.0\.0\.1:[0-9]+`)

// Linked returns the arguments of a program for the machines, with links instead of the addresses of servers at 127.0.0.1. The
// links end with the process.
func (n *Network) Linked(args []string, delay time.Duration) ([]string, error) {
	return ReplaceServers(args, func(server string) (string, error) {
		link, err := n.Link(server, delay)
		if err != nil {
			return "", err
		}
		return link.Address, nil
	})
}

// ReplaceServers returns the arguments of a program with other addresses instead of those of servers at 127.0.0.1.
func ReplaceServers(args []string, other func(server string) (string, error)) ([]string, error) {
	replaced := slices.Clone(args)
	var failed error
	for i, arg := range args {
		replaced[i] = servers.ReplaceAllStringFunc(arg, func(server string) string {
			address, err := other(server)
			failed = errors.Join(failed, err)
			return address
		})
	}
	return replaced, failed
}

// Close ends the link for new connections.
func (l *Link) Close() error { return l.listener.Close() }

// maxChunks bounds the chunks of a connection that are on their way in one direction.
const maxChunks = 256

// carry passes data from one connection to another, each chunk after a delay, until either ends.
func carry(to, from net.Conn, delay time.Duration) {
	type chunk struct {
		data []byte
		at   time.Time
	}
	chunks := make(chan chunk, maxChunks)
	go func() {
		defer close(chunks)
		for {
			data := make([]byte, 16<<10)
			n, err := from.Read(data)
			if n > 0 {
				chunks <- chunk{data[:n], time.Now().Add(delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	defer to.Close()
	for c := range chunks {
		time.Sleep(time.Until(c.at))
		if _, err := to.Write(c.data); err != nil {
			from.Close() // and take what it still has read
		}
	}
}
