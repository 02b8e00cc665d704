package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"feedmesh/storage"
)

const (
	lastSerial = `SELECT coalesce(max(last), 0) FROM view_serial`

	firstSerial = `
		SELECT coalesce(min(m.serial), 0) FROM view_members m
		WHERE m.view = ANY($1) AND NOT m.past AND NOT m.absent AND m.entered >= $2`

	deliveryColumns = `s.id, coalesce(s.cursor, s.after_serial), s.failures, s.failing_since, s.due, s.sent, s.off, s.alerted, s.problem, s.inform`
	attemptColumns  = `a.id, a.subscription, a.view, a.serial, a.item_id, a.items, a.number, a.entered, a.at, a.took, a.status, a.error, a.next`

	// The order is that of the last claims, so that each subscription gets its turn. Times in the far future were stored by a
	// process with a wrong clock.
	claimSubscriptions = `
		UPDATE subscriptions u SET claimant = $1, claimed_until = $3 FROM (
			SELECT id FROM subscriptions s
			WHERE (off = '' OR inform IS NOT NULL) AND (expires IS NULL OR expires > $2) AND (failures > 0) = $4
				AND (claimant = '' OR claimed_until <= $2 OR claimed_until > $7)
				AND (due IS NULL OR due <= $2 OR due > $6)
				AND (off <> '' OR timed OR EXISTS (SELECT 1 FROM delivery_attempts a WHERE a.subscription = s.id AND a.next IS NOT NULL AND (a.next <= $2 OR a.next > $6))
					OR EXISTS (SELECT 1 FROM jsonb_array_elements(s.views) j JOIN view_members m ON m.view = j::bigint
						WHERE m.serial > coalesce(s.cursor, s.after_serial) AND NOT m.past AND NOT m.absent))
			ORDER BY claimed_until NULLS FIRST, id LIMIT $5 FOR UPDATE SKIP LOCKED) c WHERE c.id = u.id
		RETURNING u.id, owner, title, views, channel, receiver, secret, schedule, after_serial, created, topic, expires, alert, timed,
			coalesce(cursor, after_serial), failures, failing_since, due, sent, off, alerted, problem, inform`
	nextDelivery = `
		SELECT min(at) FROM (
			SELECT min(due) AS at FROM subscriptions WHERE (failures > 0) = $3 AND due > $2 AND due <= $4
			UNION ALL SELECT min(claimed_until) FROM subscriptions WHERE (failures > 0) = $3 AND claimant NOT IN ('', $1) AND claimed_until > $2
			UNION ALL SELECT min(a.next) FROM subscriptions s JOIN delivery_attempts a ON a.subscription = s.id
				WHERE (s.failures > 0) = $3 AND a.next > $2 AND a.next <= $4) t`
	extendClaims = `UPDATE subscriptions SET claimed_until = $2 WHERE claimant = $1`
	listPending  = `
		SELECT ` + memberColumns + ` FROM view_members m
		WHERE m.view = ANY($1) AND m.serial > $2 AND NOT m.past AND NOT m.absent ORDER BY m.serial LIMIT $3`
	listScored = `
		SELECT m.view, m.serial, m.item_id, coalesce(i.story_id, ''), m.entered, coalesce(i.sentiment, 0)
		FROM view_members m LEFT JOIN items i ON i.id = m.item_id
		WHERE m.view = $1 AND m.serial < $2 AND NOT m.past AND NOT m.absent ORDER BY m.serial DESC LIMIT $3`
	dueAttempts = `
		SELECT ` + attemptColumns + ` FROM delivery_attempts a
		WHERE subscription = $1 AND next IS NOT NULL AND (next <= $2 OR next > $3) ORDER BY next, id LIMIT $4`
	saveDelivery = `
		UPDATE subscriptions SET cursor = $2, failures = $3, failing_since = $4, due = $5, sent = $6, off = $7, alerted = $8,
			problem = $9, inform = $10, claimant = CASE WHEN $12::boolean THEN claimant ELSE '' END
		WHERE id = $1 AND claimant = $11`
	changeDelivery = `
		UPDATE subscriptions SET cursor = $2, failures = $3, failing_since = $4, due = $5, sent = $6, off = $7, alerted = $8, problem = $9, inform = $10, claimant = ''
		WHERE id = $1`
	endAttempts   = `UPDATE delivery_attempts SET next = NULL WHERE subscription = $1 AND item_id = $2 AND next IS NOT NULL`
	insertAttempt = `
		INSERT INTO delivery_attempts (subscription, view, serial, item_id, items, number, entered, at, took, status, error, next)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`
	trimAttempts = `
		DELETE FROM delivery_attempts WHERE subscription = $1 AND next IS NULL
			AND id <= (SELECT id FROM delivery_attempts WHERE subscription = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)`
	deliveryStates = `SELECT ` + deliveryColumns + ` FROM subscriptions s WHERE id = ANY($1)`
	deliveryState  = `SELECT ` + deliveryColumns + ` FROM subscriptions s WHERE id = $1 FOR UPDATE`
	repeatDelivery = `
		UPDATE delivery_attempts SET next = $3
		WHERE id = (SELECT max(id) FROM delivery_attempts WHERE subscription = $1 AND item_id = $2 AND item_id <> '')`
	listAttempts = `
		SELECT ` + attemptColumns + ` FROM delivery_attempts a WHERE subscription = $1 AND ($2::bigint = 0 OR id < $2) ORDER BY id DESC LIMIT $3`
)

func scanDeliveryState(row pgx.CollectableRow) (d storage.DeliveryState, err error) {
	err = row.Scan(&d.Subscription, &d.Cursor, &d.Failures, nullTime{&d.FailingSince}, nullTime{&d.Due}, nullTime{&d.Sent}, &d.Off, &d.Alerted, &d.Problem, nullTime{&d.Inform})
	return d, err
}

func scanAttempt(row pgx.CollectableRow) (a storage.Attempt, err error) {
	var took int64
	err = row.Scan(&a.ID, &a.Subscription, &a.View, &a.Serial, &a.ItemID, &a.Items, &a.Number, nullTime{&a.Entered}, nullTime{&a.At}, &took, &a.Status, &a.Error, nullTime{&a.Next})
	a.Took = time.Duration(took) * time.Microsecond
	return a, err
}

func scanScored(row pgx.CollectableRow) (m storage.ScoredMember, err error) {
	err = row.Scan(&m.View, &m.Serial, &m.ItemID, &m.StoryID, nullTime{&m.Entered}, &m.Sentiment)
	return m, err
}

func scanClaimed(row pgx.CollectableRow) (c storage.ClaimedSubscription, err error) {
	err = row.Scan(&c.ID, &c.Owner, &c.Title, &c.Views, &c.Channel, &c.Receiver, &c.Secret, &c.Schedule, &c.After, nullTime{&c.Created}, &c.Topic, nullTime{&c.Expires}, &c.Alert, &c.IsTimed,
		&c.State.Cursor, &c.State.Failures, nullTime{&c.State.FailingSince}, nullTime{&c.State.Due}, nullTime{&c.State.Sent}, &c.State.Off, &c.State.Alerted, &c.State.Problem, nullTime{&c.State.Inform})
	c.State.Subscription = c.ID
	return c, err
}

// LastSerial implements [storage.Deliveries].
func (s deliveryStore) LastSerial(ctx context.Context) (int64, error) {
	return s.serial(ctx, lastSerial)
}

// FirstSerial implements [storage.Deliveries].
func (s deliveryStore) FirstSerial(ctx context.Context, views []int64, since time.Time) (int64, error) {
	return s.serial(ctx, firstSerial, views, since)
}

func (s deliveryStore) serial(ctx context.Context, statement string, args ...any) (int64, error) {
	found, err := read(ctx, s.engine, "read a serial", pgx.RowTo[int64], statement, args...)
	if err != nil {
		return 0, err
	}
	return found[0], nil
}

// ClaimSubscriptions implements [storage.Deliveries].
func (s deliveryStore) ClaimSubscriptions(ctx context.Context, c storage.Claim, failing bool, limit int) ([]storage.ClaimedSubscription, error) {
	return inTransaction(ctx, s.engine, defaultTimeout, "claim subscriptions", func(ctx context.Context, tx pgx.Tx) ([]storage.ClaimedSubscription, error) {
		return collect(ctx, tx, scanClaimed, claimSubscriptions, c.Claimant, c.Now, c.Until, failing, max(limit, 0), storage.LatestDue(c.Now), c.Latest())
	})
}

// NextDelivery implements [storage.Deliveries].
func (s deliveryStore) NextDelivery(ctx context.Context, claimant string, now time.Time, failing bool) (time.Time, error) {
	found, err := read(ctx, s.engine, "read the next due time of subscriptions", func(row pgx.CollectableRow) (next time.Time, err error) {
		err = row.Scan(nullTime{&next})
		return next, err
	}, nextDelivery, claimant, now, failing, storage.LatestDue(now))
	if err != nil {
		return time.Time{}, err
	}
	return found[0], nil
}

// ExtendClaims implements [storage.Deliveries].
func (s deliveryStore) ExtendClaims(ctx context.Context, claimant string, until time.Time) error {
	return s.transaction(ctx, "extend claims", func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, extendClaims, claimant, until)
		return err
	})
}

// ListPending implements [storage.Deliveries].
func (s deliveryStore) ListPending(ctx context.Context, views []int64, after int64, limit int) ([]storage.Member, error) {
	return read(ctx, s.engine, "list pending members", scanMember, listPending, views, after, max(limit, 0))
}

// ListScored implements [storage.Deliveries].
func (s deliveryStore) ListScored(ctx context.Context, view, before int64, limit int) ([]storage.ScoredMember, error) {
	return read(ctx, s.engine, "list sentiments of members", scanScored, listScored, view, before, max(limit, 0))
}

// DueAttempts implements [storage.Deliveries].
func (s deliveryStore) DueAttempts(ctx context.Context, subscription string, now time.Time, limit int) ([]storage.Attempt, error) {
	return read(ctx, s.engine, "list due attempts", scanAttempt, dueAttempts, subscription, now, storage.LatestDue(now), max(limit, 0))
}

// deliveryValues returns the arguments of an update of a state.
func deliveryValues(d storage.DeliveryState) []any {
	return []any{d.Subscription, d.Cursor, d.Failures, timeOrNull(d.FailingSince), timeOrNull(d.Due), timeOrNull(d.Sent), cleanText(d.Off), d.Alerted, cleanText(d.Problem), timeOrNull(d.Inform)}
}

// FinishDelivery implements [storage.Deliveries].
func (s deliveryStore) FinishDelivery(ctx context.Context, claimant string, state storage.DeliveryState, attempts []storage.Attempt, keep bool) error {
	return s.transaction(ctx, "finish delivery", func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, saveDelivery, append(deliveryValues(state), claimant, keep)...)
		if err != nil {
			return err
		}
		if done.RowsAffected() == 0 {
			return storage.ErrConflict
		}
		if len(attempts) == 0 {
			return nil
		}
		statements := &pgx.Batch{}
		for _, a := range attempts {
			statements.Queue(endAttempts, state.Subscription, a.ItemID)
			statements.Queue(insertAttempt, state.Subscription, a.View, a.Serial, a.ItemID, a.Items, a.Number, a.Entered, a.At,
				a.Took.Microseconds(), a.Status, cleanText(a.Error), timeOrNull(a.Next))
		}
		statements.Queue(trimAttempts, state.Subscription, storage.MaxAttempts)
		return tx.SendBatch(ctx, statements).Close()
	})
}

// ChangeDelivery implements [storage.Deliveries].
func (s deliveryStore) ChangeDelivery(ctx context.Context, subscription string, apply func(*storage.DeliveryState)) error {
	return s.transaction(ctx, "change delivery", func(ctx context.Context, tx pgx.Tx) error {
		state, err := one(ctx, tx, scanDeliveryState, deliveryState, subscription)
		if errors.Is(err, pgx.ErrNoRows) {
			return storage.ErrNotFound
		} else if err != nil {
			return err
		}
		apply(&state)
		_, err = tx.Exec(ctx, changeDelivery, deliveryValues(state)...)
		return err
	})
}

// DeliveryStates implements [storage.Deliveries].
func (s deliveryStore) DeliveryStates(ctx context.Context, subscriptions ...string) (map[string]storage.DeliveryState, error) {
	found, err := read(ctx, s.engine, "read states of deliveries", scanDeliveryState, deliveryStates, subscriptions)
	states := make(map[string]storage.DeliveryState, len(found))
	for _, d := range found {
		states[d.Subscription] = d
	}
	return states, err
}

// RepeatDelivery implements [storage.Deliveries].
func (s deliveryStore) RepeatDelivery(ctx context.Context, subscription, itemID string, now time.Time) error {
	return s.transaction(ctx, "repeat delivery", func(ctx context.Context, tx pgx.Tx) error {
		done, err := tx.Exec(ctx, repeatDelivery, subscription, itemID, now)
		if err == nil && done.RowsAffected() == 0 {
			err = storage.ErrNotFound
		}
		return err
	})
}

// ListAttempts implements [storage.Deliveries].
func (s deliveryStore) ListAttempts(ctx context.Context, subscription string, before int64, limit int) ([]storage.Attempt, error) {
	return read(ctx, s.engine, "list attempts", scanAttempt, listAttempts, subscription, before, max(limit, 0))
}
