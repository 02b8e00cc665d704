package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// killPause is the time between two kills of agents with the role deliver.
const killPause = 15 * time.Second

// A receiver is the receiver of webhooks of the view of all items, which fails at times.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	requests int
	items    map[string]string // by ID of their message
	messages map[string]int    // number of receipts of each
	failed   map[string]bool   // messages that were refused or cut off
	problems []string          // at most 10
	lags     []time.Duration   // from the entry of an item in the view to its first receipt
}

// startDeliveries adds a subscription to the view of all items, and two agents that send its items and are killed in turn for as
// long as the mesh runs: each other fault meets a delivery that was cut off.
func (m *mesh) startDeliveries() {
	m.t.Helper()
	m.receiver = &receiver{items: map[string]string{}, messages: map[string]int{}, failed: map[string]bool{}}
	m.receiver.Server = httptest.NewServer(m.receiver)
	m.t.Cleanup(m.receiver.Close)
	in := wire.AddSubscriptionRequest{}
	in.Body.Views, in.Body.Channel, in.Body.Receiver = []string{"all"}, "webhook", m.receiver.URL
	err := eventually(startTimeout, func() error {
		return m.request(func(ctx context.Context, c *client.Client) error {
			_, err := client.Call(ctx, c, wire.AddSubscription, in)
			return err
		})
	})
	if err != nil {
		m.t.Fatalf("add a subscription: %v", err)
	}
	m.senders = []*agent{m.add("deliver-0", []string{"deliver"}), m.add("deliver-1", []string{"deliver"})}
	go func() {
		for i := 0; ; i++ {
			select {
			case <-m.ctx.Done():
				return
			case <-time.After(killPause):
				m.senders[i%2].end(syscall.SIGKILL)
			}
		}
	}()
}

// ServeHTTP accepts most messages. Every tenth is refused, and every fiftieth accepted without a response, but none twice: its
// third retry would be later than the end of the test.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var event struct {
		Timestamp time.Time
		Data      struct{ ID string }
	}
	body, err := io.ReadAll(request.Body)
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	id := request.Header.Get("Webhook-Id")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	switch {
	case err != nil || id == "" || event.Data.ID == "":
		if request.Context().Err() == nil { // not cut off by a kill
			r.problem("%s: %v: %.200s", id, err, body)
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	case r.requests%10 == 0 && !r.failed[id]:
		r.failed[id] = true
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if before := r.items[id]; before == "" {
		r.items[id] = event.Data.ID
		r.lags = append(r.lags, time.Since(event.Timestamp))
	} else if before != event.Data.ID {
		r.problem("message %s was of item %s and is of item %s", id, before, event.Data.ID)
	}
	r.messages[id]++
	if r.requests%50 == 25 && !r.failed[id] { // not after a refusal: two failures in a row are a pause
		r.failed[id] = true
		panic(http.ErrAbortHandler)
	}
}

func (r *receiver) problem(format string, args ...any) {
	if len(r.problems) < 10 {
		r.problems = append(r.problems, fmt.Sprintf(format, args...))
	}
}

// allReceived checks that each item that the view has was received, each with one message ID.
func (m *mesh) allReceived(e *end) {
	var lacking []string
	var err error
	left := -1 // least so far
	for began := time.Now(); time.Since(began) < settleTime; time.Sleep(2 * time.Second) {
		if lacking, err = m.unreceived(); err == nil && len(lacking) == 0 {
			break
		}
		if err == nil && (left < 0 || len(lacking) < left) {
			left, began = len(lacking), time.Now()
		}
	}
	r := m.receiver
	r.mu.Lock()
	defer r.mu.Unlock()
	ids := map[string]bool{}
	for _, item := range r.items {
		if ids[item] {
			r.problem("item %s has two message IDs", item)
		}
		ids[item] = true
	}
	repeats := 0
	for _, n := range r.messages {
		repeats += n - 1
	}
	slices.Sort(r.lags)
	if n := len(r.lags); n > 0 {
		m.logf("webhooks: %d items received, %d repeats with the same ID, in %d requests; from the view to the receiver half within %v, 99 %% within %v",
			n, repeats, r.requests, r.lags[n/2].Round(time.Millisecond), r.lags[n*99/100].Round(time.Millisecond))
	}
	if len(lacking) > 0 || err != nil || len(r.problems) > 0 {
		e.miss("the receiver of webhooks lacks %d items of the view (%v): %q, %q", len(lacking), err, lacking[:min(len(lacking), 5)], r.problems)
	}
}

// unreceived returns the members to send that the receiver lacks, each with the last attempt and the state of the subscription.
func (m *mesh) unreceived() (lacking []string, err error) {
	conn, err := pgx.Connect(m.ctx, m.ledger.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(m.ctx)
	rows, err := conn.Query(m.ctx, `
		SELECT DISTINCT ON (m.item_id) m.item_id, format('serial %s of %s, attempt %s: %s, next %s; cursor %s, due %s, off "%s"',
			m.serial, m.entered, a.number, a.error, a.next, s.cursor, s.due, s.off)
		FROM subscriptions s, view_members m LEFT JOIN delivery_attempts a ON a.item_id = m.item_id
		WHERE NOT past AND NOT absent ORDER BY m.item_id, a.id DESC`)
	if err != nil {
		return nil, err
	}
	type member struct{ Item, Progress string }
	members, err := pgx.CollectRows(rows, pgx.RowToStructByPos[member])
	if err != nil {
		return nil, err
	}
	m.receiver.mu.Lock()
	defer m.receiver.mu.Unlock()
	received := map[string]bool{}
	for _, item := range m.receiver.items {
		received[item] = true
	}
	for _, member := range members {
		if !received[member.Item] {
			lacking = append(lacking, member.Item+" "+member.Progress)
		}
	}
	return lacking, nil
}
