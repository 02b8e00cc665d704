package fetch

import (
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	slowAfter = 10 * time.Second // a body may take, at whatever rate
	minRate   = 1 << 10          // bytes a second, from the first one on, that it must have come at after that
)

// A pace counts the bytes of a body as they come over the wire.
type pace struct {
	io.ReadCloser
	read atomic.Int64
	done atomic.Bool
}

func (p *pace) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.read.Add(int64(n))
	return n, err
}

// watch ends the try if the answer's body comes too slowly. What it returns
// must be called when the body has been read.
func (t *try) watch(r *http.Response) (end func()) {
	p := &pace{ReadCloser: r.Body}
	r.Body = p
	timer := time.AfterFunc(slowAfter, func() { p.check(int64(slowAfter/time.Second)*minRate, t.stop) })
	return func() {
		p.done.Store(true)
		timer.Stop()
	}
}

// check asks for so many bytes now, and for more a second later.
func (p *pace) check(due int64, stop func(error)) {
	switch {
	case p.done.Load():
	case p.read.Load() < due:
		stop(&Error{Class: ClassTimeout, Err: errors.New("the document comes at less than 1 KB a second")})
	default:
		time.AfterFunc(time.Second, func() { p.check(due+minRate, stop) })
	}
}
