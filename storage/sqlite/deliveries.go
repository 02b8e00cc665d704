package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"feedmesh/storage"
)

const (
	lastSerial = `SELECT coalesce(max(last), 0) FROM view_serial`

	firstSerial = `
		SELECT coalesce(min(m.serial), 0) FROM json_each(?1) j CROSS JOIN view_members m
		WHERE m.view = j.value AND m.past = 0 AND m.absent = 0 AND m.entered >= ?2`

	deliveryColumns = `s.id, coalesce(s.cursor, s.after_serial), s.failures, s.failing_since, s.due, s.sent, s.off, s.alerted, s.problem, s.inform`
	attemptColumns  = `a.id, a.subscription, a.view, a.serial, a.item_id, a.items, a.number, a.entered, a.at, a.took, a.status, a.error, a.next`

	// The order is that of the last claims, so that each subscription gets its turn. Times in the far future were stored by a
	// process with a wrong clock.
	claimable = `
			SELECT id FROM subscriptions s
			WHERE (off = '' OR inform IS NOT NULL) AND (expires IS NULL OR expires > ?2) AND (failures > 0) = ?4
				AND (claimant = '' OR claimed_until <= ?2 OR claimed_until > ?7)
				AND (due IS NULL OR due <= ?2 OR due > ?6)
				AND (off <> '' OR timed = 1 OR EXISTS (SELECT 1 FROM delivery_attempts a WHERE a.subscription = s.id AND a.next IS NOT NULL AND (a.next <= ?2 OR a.next > ?6))
					OR EXISTS (SELECT 1 FROM json_each(s.views) j CROSS JOIN view_members m
						WHERE m.view = j.value AND m.serial > coalesce(s.cursor, s.after_serial) AND m.past = 0 AND m.absent = 0))
			ORDER BY claimed_until NULLS FIRST, id LIMIT ?5`
	isClaimable        = `SELECT EXISTS (` + claimable + `)`
	claimSubscriptions = `
		UPDATE subscriptions SET claimant = ?1, claimed_until = ?3 WHERE id IN (` + claimable + `)
		RETURNING id, owner, title, views, channel, receiver, secret, schedule, after_serial, created, topic, expires, alert, timed,
			coalesce(cursor, after_serial), failures, failing_since, due, sent, off, alerted, problem, inform`
	nextDelivery = `
		SELECT min(at) FROM (
			SELECT min(due) AS at FROM subscriptions WHERE (failures > 0) = ?3 AND due > ?2 AND due <= ?4
			UNION ALL SELECT min(claimed_until) FROM subscriptions WHERE (failures > 0) = ?3 AND claimant NOT IN ('', ?1) AND claimed_until > ?2
			UNION ALL SELECT min(a.next) FROM subscriptions s CROSS JOIN delivery_attempts a ON a.subscription = s.id
				WHERE (s.failures > 0) = ?3 AND a.next > ?2 AND a.next <= ?4)`
	extendClaims = `UPDATE subscriptions SET claimed_until = ?2 WHERE claimant = ?1`
	listPending  = `
		SELECT ` + memberColumns + ` FROM json_each(?1) j CROSS JOIN view_members m
		WHERE m.view = j.value AND m.serial > ?2 AND m.past = 0 AND m.absent = 0 ORDER BY m.serial LIMIT ?3`
	listScored = `
		SELECT m.view, m.serial, m.item_id, coalesce(i.story_id, ''), m.entered, coalesce(i.sentiment, 0)
		FROM view_members m LEFT JOIN items i ON i.id = m.item_id
		WHERE m.view = ?1 AND m.serial < ?2 AND m.past = 0 AND m.absent = 0 ORDER BY m.serial DESC LIMIT ?3`
	dueAttempts = `
		SELECT ` + attemptColumns + ` FROM delivery_attempts a
		WHERE subscription = ?1 AND next IS NOT NULL AND (next <= ?2 OR next > ?3) ORDER BY next, id LIMIT ?4`
	saveDelivery = `
		UPDATE subscriptions SET cursor = ?2, failures = ?3, failing_since = ?4, due = ?5, sent = ?6, off = ?7, alerted = ?8,
			problem = ?9, inform = ?10, claimant = CASE WHEN ?12 THEN claimant ELSE '' END
		WHERE id = ?1 AND claimant = ?11`
	changeDelivery = `
		UPDATE subscriptions SET cursor = ?2, failures = ?3, failing_since = ?4, due = ?5, sent = ?6, off = ?7, alerted = ?8, problem = ?9, inform = ?10, claimant = ''
		WHERE id = ?1`
	endAttempts   = `UPDATE delivery_attempts SET next = NULL WHERE subscription = ?1 AND item_id = ?2 AND next IS NOT NULL`
	insertAttempt = `
		INSERT INTO delivery_attempts (subscription, view, serial, item_id, items, number, entered, at, took, status, error, next)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	trimAttempts = `
		DELETE FROM delivery_attempts WHERE subscription = ?1 AND next IS NULL
			AND id <= (SELECT id FROM delivery_attempts WHERE subscription = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`
	deliveryStates = `SELECT ` + deliveryColumns + ` FROM subscriptions s WHERE id IN (SELECT value FROM json_each(?))`
	deliveryState  = `SELECT ` + deliveryColumns + ` FROM subscriptions s WHERE id = ?`
	repeatDelivery = `
		UPDATE delivery_attempts SET next = ?3
		WHERE id = (SELECT max(id) FROM delivery_attempts WHERE subscription = ?1 AND item_id = ?2 AND item_id <> '')`
	listAttempts = `
		SELECT ` + attemptColumns + ` FROM delivery_attempts a WHERE subscription = ?1 AND (?2 = 0 OR id < ?2) ORDER BY id DESC LIMIT ?3`
)

func scanDeliveryState(row scanner) (d storage.DeliveryState, err error) {
	err = row.Scan(&d.Subscription, &d.Cursor, &d.Failures, nullTime{&d.FailingSince}, nullTime{&d.Due}, nullTime{&d.Sent}, &d.Off, fromJSON(&d.Alerted), &d.Problem, nullTime{&d.Inform})
	return d, err
}

func scanAttempt(row scanner) (a storage.Attempt, err error) {
	var took int64
	err = row.Scan(&a.ID, &a.Subscription, &a.View, &a.Serial, &a.ItemID, &a.Items, &a.Number, nullTime{&a.Entered}, nullTime{&a.At}, &took, &a.Status, &a.Error, nullTime{&a.Next})
	a.Took = time.Duration(took) * time.Microsecond
	return a, err
}

func scanScored(row scanner) (m storage.ScoredMember, err error) {
	err = row.Scan(&m.View, &m.Serial, &m.ItemID, &m.StoryID, nullTime{&m.Entered}, &m.Sentiment)
	return m, err
}

func scanClaimed(row scanner) (c storage.ClaimedSubscription, err error) {
	err = row.Scan(&c.ID, &c.Owner, &c.Title, fromJSON(&c.Views), &c.Channel, &c.Receiver, &c.Secret, &c.Schedule, &c.After, nullTime{&c.Created}, &c.Topic, nullTime{&c.Expires}, &c.Alert, &c.IsTimed,
		&c.State.Cursor, &c.State.Failures, nullTime{&c.State.FailingSince}, nullTime{&c.State.Due}, nullTime{&c.State.Sent}, &c.State.Off, fromJSON(&c.State.Alerted), &c.State.Problem, nullTime{&c.State.Inform})
	c.State.Subscription = c.ID
	return c, err
}

// LastSerial implements [storage.Deliveries].
func (s deliveryStore) LastSerial(ctx context.Context) (int64, error) {
	return s.serial(ctx, lastSerial)
}

// FirstSerial implements [storage.Deliveries].
func (s deliveryStore) FirstSerial(ctx context.Context, views []int64, since time.Time) (int64, error) {
	return s.serial(ctx, firstSerial, asJSON(views), micros(since))
}

func (s deliveryStore) serial(ctx context.Context, statement string, args ...any) (int64, error) {
	found, err := read(ctx, s.engine, "read a serial", statement, func(row scanner) (serial int64, err error) {
		err = row.Scan(&serial)
		return serial, err
	}, args...)
	if err != nil {
		return 0, err
	}
	return found[0], nil
}

// ClaimSubscriptions implements [storage.Deliveries].
func (s deliveryStore) ClaimSubscriptions(ctx context.Context, c storage.Claim, failing bool, limit int) ([]storage.ClaimedSubscription, error) {
	args := []any{c.Claimant, micros(c.Now), micros(c.Until), failing, max(limit, 0), micros(storage.LatestDue(c.Now)), micros(c.Latest())}
	// Mostly there is nothing to claim, which is no reason to lock the file for a write.
	found, err := read(ctx, s.engine, "find subscriptions to claim", isClaimable, scanBool, args...)
	if err != nil || !found[0] {
		return nil, err
	}
	return inTransaction(ctx, s.engine, "claim subscriptions", func(w *writer) ([]storage.ClaimedSubscription, error) {
		return collect(ctx, w, claimSubscriptions, scanClaimed, args...)
	})
}

// NextDelivery implements [storage.Deliveries].
func (s deliveryStore) NextDelivery(ctx context.Context, claimant string, now time.Time, failing bool) (time.Time, error) {
	found, err := read(ctx, s.engine, "read the next due time of subscriptions", nextDelivery, func(row scanner) (next time.Time, err error) {
		err = row.Scan(nullTime{&next})
		return next, err
	}, claimant, micros(now), failing, micros(storage.LatestDue(now)))
	if err != nil {
		return time.Time{}, err
	}
	return found[0], nil
}

// ExtendClaims implements [storage.Deliveries].
func (s deliveryStore) ExtendClaims(ctx context.Context, claimant string, until time.Time) error {
	return s.transaction(ctx, "extend claims", func(w *writer) error {
		_, err := w.exec(ctx, extendClaims, claimant, micros(until))
		return err
	})
}

// ListPending implements [storage.Deliveries].
func (s deliveryStore) ListPending(ctx context.Context, views []int64, after int64, limit int) ([]storage.Member, error) {
	return read(ctx, s.engine, "list pending members", listPending, scanMember, asJSON(views), after, max(limit, 0))
}

// ListScored implements [storage.Deliveries].
func (s deliveryStore) ListScored(ctx context.Context, view, before int64, limit int) ([]storage.ScoredMember, error) {
	return read(ctx, s.engine, "list sentiments of members", listScored, scanScored, view, before, max(limit, 0))
}

// DueAttempts implements [storage.Deliveries].
func (s deliveryStore) DueAttempts(ctx context.Context, subscription string, now time.Time, limit int) ([]storage.Attempt, error) {
	return read(ctx, s.engine, "list due attempts", dueAttempts, scanAttempt, subscription, micros(now), micros(storage.LatestDue(now)), max(limit, 0))
}

// deliveryValues returns the arguments of an update of a state.
func deliveryValues(d storage.DeliveryState) []any {
	return []any{d.Subscription, d.Cursor, d.Failures, microsOrNull(d.FailingSince), microsOrNull(d.Due), microsOrNull(d.Sent), d.Off, asJSON(d.Alerted), d.Problem, microsOrNull(d.Inform)}
}

// FinishDelivery implements [storage.Deliveries].
func (s deliveryStore) FinishDelivery(ctx context.Context, claimant string, state storage.DeliveryState, attempts []storage.Attempt, keep bool) error {
	return s.batchedTransaction(ctx, "finish delivery", func(w *writer) error {
		isClaimed, err := changes(w.exec(ctx, saveDelivery, append(deliveryValues(state), claimant, keep)...))
		if err != nil {
			return err
		}
		if !isClaimed {
			return storage.ErrConflict
		}
		for _, a := range attempts {
			if _, err := w.exec(ctx, endAttempts, state.Subscription, a.ItemID); err != nil {
				return err
			}
			if _, err := w.exec(ctx, insertAttempt, state.Subscription, a.View, a.Serial, a.ItemID, a.Items, a.Number, micros(a.Entered), micros(a.At),
				a.Took.Microseconds(), a.Status, a.Error, microsOrNull(a.Next)); err != nil {
				return err
			}
		}
		if len(attempts) == 0 {
			return nil
		}
		_, err = w.exec(ctx, trimAttempts, state.Subscription, storage.MaxAttempts)
		return err
	})
}

// ChangeDelivery implements [storage.Deliveries].
func (s deliveryStore) ChangeDelivery(ctx context.Context, subscription string, apply func(*storage.DeliveryState)) error {
	return s.transaction(ctx, "change delivery", func(w *writer) error {
		state, err := scanDeliveryState(w.row(ctx, deliveryState, subscription))
		if errors.Is(err, sql.ErrNoRows) {
			return storage.ErrNotFound
		} else if err != nil {
			return err
		}
		apply(&state)
		_, err = w.exec(ctx, changeDelivery, deliveryValues(state)...)
		return err
	})
}

// DeliveryStates implements [storage.Deliveries].
func (s deliveryStore) DeliveryStates(ctx context.Context, subscriptions ...string) (map[string]storage.DeliveryState, error) {
	found, err := read(ctx, s.engine, "read states of deliveries", deliveryStates, scanDeliveryState, asJSON(subscriptions))
	states := make(map[string]storage.DeliveryState, len(found))
	for _, d := range found {
		states[d.Subscription] = d
	}
	return states, err
}

// RepeatDelivery implements [storage.Deliveries].
func (s deliveryStore) RepeatDelivery(ctx context.Context, subscription, itemID string, now time.Time) error {
	return s.transaction(ctx, "repeat delivery", func(w *writer) error {
		isFound, err := changes(w.exec(ctx, repeatDelivery, subscription, itemID, micros(now)))
		if err == nil && !isFound {
			err = storage.ErrNotFound
		}
		return err
	})
}

// ListAttempts implements [storage.Deliveries].
func (s deliveryStore) ListAttempts(ctx context.Context, subscription string, before int64, limit int) ([]storage.Attempt, error) {
	return read(ctx, s.engine, "list attempts", listAttempts, scanAttempt, subscription, before, max(limit, 0))
}
