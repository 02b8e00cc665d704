package fetch

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

const (
	slowAfter = 10 * time.Second // grace period before the rate is checked
	minRate   = 1 << 10          // bytes per second, averaged from the first byte, required after slowAfter
)

// bodyRate counts the bytes of a body as received, before decompression.
type bodyRate struct {
	io.ReadCloser
	read atomic.Int64
	done atomic.Bool
}

func (p *bodyRate) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.read.Add(int64(n))
	return n, err
}

// checkRate cancels the attempt if fewer than due bytes have arrived, and otherwise schedules the next check
// after a second.
func (p *bodyRate) checkRate(due int64, stop func(error)) {
	switch {
	case p.done.Load():
	case p.read.Load() < due:
		stop(&Error{Class: ClassTimeout, Err: errors.New("the document arrives at less than 1 KB per second")})
	default:
		time.AfterFunc(time.Second, func() { p.checkRate(due+minRate, stop) })
	}
}
