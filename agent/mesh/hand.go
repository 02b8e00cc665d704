package mesh

import (
	"cmp"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"feedmesh/subjects"
)

// A parcel is a task as it was delivered: in a message of its own, or in a bundle;
// or without any, as what follows from one in the same hand.
type parcel struct {
	msg   jetstream.Msg // nil if there was none
	part  subjects.Part
	alone bool
}

// unpack returns what a message brings.
func unpack(msg jetstream.Msg) ([]parcel, error) {
	parts, err := subjects.Unbundle(msg.Data())
	if err != nil {
		return nil, err
	}
	if parts == nil {
		own := subjects.Part{ID: msg.Headers().Get(jetstream.MsgIDHeader), Header: msg.Headers(), Data: msg.Data()}
		return []parcel{{msg, own, true}}, nil
	}
	parcels := make([]parcel, len(parts))
	for i, part := range parts {
		parcels[i] = parcel{msg, part, false}
	}
	return parcels, nil
}

// message returns the parcel as a message of its own.
func (p parcel) message() subjects.Message {
	return subjects.Message{Subject: p.msg.Subject(), ID: p.part.ID, Header: p.part.Header, Data: p.part.Data}
}

// again reports whether the message was in some hand before.
func again(msg jetstream.Msg) bool {
	meta, err := msg.Metadata()
	return err == nil && meta.NumDelivered > 1
}

// A hand has the messages that a worker took at once and has not settled yet.
// Its methods may be called concurrently.
type hand struct {
	log *slog.Logger

	mu   sync.Mutex
	open map[jetstream.Msg]*remains
}

// remains is what is left of a message.
type remains struct {
	parcels int   // that are not done
	err     error // why one of them could not be
}

func newHand(msgs []jetstream.Msg, log *slog.Logger) *hand {
	h := &hand{log: log, open: make(map[jetstream.Msg]*remains, len(msgs))}
	for _, msg := range msgs {
		h.open[msg] = &remains{parcels: 1}
	}
	return h
}

// expect says how many parcels a message brings, if not one.
func (h *hand) expect(msg jetstream.Msg, parcels int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open[msg].parcels = parcels
}

// done notes that a parcel of a message is done, or could not be. If it is the
// last, it returns how that went for all of them.
func (h *hand) done(msg jetstream.Msg, err error) (last bool, _ error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m := h.open[msg]
	m.parcels--
	m.err = cmp.Or(m.err, err)
	return m.parcels == 0, m.err
}

// hold tells the server that the messages are in good hands.
func (h *hand) hold() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for msg := range h.open {
		if err := msg.InProgress(); err != nil {
			h.log.Warn("can't hold on to a task", "subject", msg.Subject(), "err", err)
		}
	}
}

// release lets go of a message that was settled. If that failed, the server will
// deliver it again, and doing it again is harmless.
func (h *hand) release(msg jetstream.Msg, err error) {
	if err != nil {
		h.log.Warn("can't settle a task", "subject", msg.Subject(), "err", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, msg)
}
