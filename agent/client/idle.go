package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Timeouts of a request.
const (
	connectTimeout = 5 * time.Second
	answerTimeout  = 30 * time.Second // time without any byte sent or received
	makeTimeout    = time.Hour        // the same while the node makes a file to download, before its first byte
	noticeAfter    = 2 * time.Second  // time without any byte until [Client.Waiting] is called
)

// errIdle is the cause of a request that was cancelled by its timeout.
var errIdle = errors.New("no answer")

// An exchange is a request with an idle timeout: it is cancelled when nothing is sent or received for answerTimeout.
type exchange struct {
	cancel context.CancelCauseFunc
	abort  *time.Timer
	notice *time.Timer

	mu      sync.Mutex
	noticed bool // the notice was given, or the response has begun
}

// begin returns the context of a request that starts now, with a timeout of its first byte. waiting may be nil.
func begin(ctx context.Context, timeout time.Duration, waiting func()) (context.Context, *exchange) {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{cancel: cancel}
	x.abort = time.AfterFunc(timeout, func() { cancel(errIdle) })
	x.notice = time.AfterFunc(noticeAfter, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if !x.noticed && waiting != nil {
			waiting()
		}
		x.noticed = true
	})
	return ctx, x
}

// answered ends the notice: waiting is not called after it has returned.
func (x *exchange) answered() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.noticed = true
	x.notice.Stop()
	x.abort.Reset(answerTimeout)
}

// end releases the resources.
func (x *exchange) end() {
	x.answered()
	x.abort.Stop()
	x.cancel(nil)
}

// An upload is the body of a request. The timeout does not run while its source is read. A Read ends with ctx even if
// the source blocks: net/http waits for it before it returns from a cancelled request.
type upload struct {
	source io.Reader
	ctx    context.Context
	of     *exchange
}

func (u upload) Read(p []byte) (int, error) {
	u.of.abort.Stop()
	u.of.notice.Stop()
	defer u.of.abort.Reset(answerTimeout)
	defer u.of.notice.Reset(noticeAfter)
	type result struct {
		n   int
		err error
	}
	buffer := make([]byte, len(p)) // the source may write to it after Read has returned
	done := make(chan result, 1)
	go func() {
		n, err := u.source.Read(buffer)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, buffer[:r.n]), r.err
	case <-u.ctx.Done():
		return 0, context.Cause(u.ctx)
	}
}

// A download is the body of a response. Each read starts the timeout again.
type download struct {
	io.ReadCloser
	ctx context.Context
	of  *exchange
}

func (d download) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if err == nil {
		d.of.abort.Reset(answerTimeout)
	} else if context.Cause(d.ctx) == errIdle {
		err = errIdle
	}
	return n, err
}

func (d download) Close() error {
	err := d.ReadCloser.Close()
	d.of.end()
	return err
}
