package simulate

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	slowFor    = 5 * time.Second
	slowPieces = 10
	bombPieces = 64 // of bombPiece bytes each: 1 GB
	bombPiece  = 16 << 20
)

// send sends the response with its fault, and reports whether the client received it completely.
func (a answer) send(w http.ResponseWriter, r *http.Request) (whole bool) {
	if a.fault == Hang {
		<-r.Context().Done() // until the client disconnects, or the server closes
		return false
	}
	for name, values := range a.header {
		w.Header()[name] = values
	}
	if a.fault == Bomb {
		sendBomb(w)
		return false
	}
	if a.status == http.StatusOK {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	half := a.body[:len(a.body)/2]
	switch a.fault {
	case Slow:
		return sendSlowly(w, r, a.body)
	case Truncated:
		w.Write(half) // less than Content-Length: the server closes the connection
		return false
	case Reset:
		w.Write(half)
		reset(w)
		return false
	}
	_, err := w.Write(a.body)
	return err == nil && a.status == http.StatusOK
}

// sendSlowly sends the body in pieces over [slowFor].
func sendSlowly(w http.ResponseWriter, r *http.Request, body []byte) bool {
	out := http.NewResponseController(w)
	for n := range slowPieces {
		select {
		case <-time.After(slowFor / slowPieces):
		case <-r.Context().Done():
			return false
		}
		piece := body[n*len(body)/slowPieces : (n+1)*len(body)/slowPieces]
		if _, err := w.Write(piece); err != nil || out.Flush() != nil {
			return false
		}
	}
	return true
}

// reset resets the connection.
func reset(w http.ResponseWriter) {
	out := http.NewResponseController(w)
	out.Flush()
	conn, _, err := out.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // at least closes the connection
	}
	if tcp, is := conn.(*net.TCPConn); is {
		tcp.SetLinger(0)
	}
	conn.Close()
}

// bomb returns a piece of the bomb: gzip members may be concatenated.
var bomb = sync.OnceValue(func() []byte { return zipped(make([]byte, bombPiece)) })

func sendBomb(w http.ResponseWriter) {
	w.Header().Set("Content-Type", rss.contentType)
	w.Header().Set("Content-Encoding", "gzip")
	for range bombPieces {
		if _, err := w.Write(bomb()); err != nil {
			return
		}
	}
}
