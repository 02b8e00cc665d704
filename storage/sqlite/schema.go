package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// schema contains the migrations from an empty file to the current version, one file each, in order of their
// names. A released migration never changes.
//
//go:embed schema/*.sql
var schema embed.FS

// applicationID identifies feedmesh files: "feed" in ASCII.
const applicationID = 0x66656564

// migrate migrates the file to the current version. It does not change files of other programs or of newer
// versions.
func migrate(ctx context.Context, conn *sql.Conn) error {
	steps, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		return err
	}
	missing, err := missingMigrations(ctx, conn, steps)
	if err != nil {
		return err
	}
	if len(missing) == len(steps) {
		// Lets ReleaseSpace shrink the file. It must be set before the first page is written.
		if _, err := conn.ExecContext(ctx, `PRAGMA auto_vacuum = INCREMENTAL`); err != nil {
			return err
		}
	}
	if err := enableWAL(ctx, conn); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := applyMigrations(ctx, conn, steps); err != nil {
		_, undo := conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return errors.Join(err, undo)
	}
	_, err = conn.ExecContext(ctx, `COMMIT`)
	return err
}

// enableWAL switches the file to a write-ahead log, permanently.
func enableWAL(ctx context.Context, conn *sql.Conn) error {
	var mode string
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := conn.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		if err == nil {
			break
		}
		// busy_timeout does not cover two processes that switch concurrently, so retry.
		if !errors.Is(err, sqlite3.BUSY) || ctx.Err() != nil || time.Since(start) > 10*time.Second {
			return err
		}
	}
	if mode != "wal" {
		return fmt.Errorf("the file system cannot share memory, which a write-ahead log needs "+
			"(the journal mode is %s): use a local disk", mode)
	}
	return nil
}

// addedColumns are columns with a default value that were added without a migration: programs of the same schema
// version ignore them, and can open the file again.
var addedColumns = []struct{ table, column, definition string }{
	// Number of transactions that wrote items of the feed. A store that went back to an older state has a lower
	// number than the schedule's state of the feed.
	{"feeds", "writes", "INTEGER NOT NULL DEFAULT 0"},

	{"feeds", "keep", "TEXT NOT NULL DEFAULT ''"},
	{"feeds", "purged", "INTEGER NOT NULL DEFAULT 0"},

	{"people", "issuer", "TEXT NOT NULL DEFAULT ''"},  // OpenID provider, or empty
	{"people", "subject", "TEXT NOT NULL DEFAULT ''"}, // account there, or empty

	{"subscriptions", "topic", "TEXT NOT NULL DEFAULT ''"}, // feed of a WebSub subscriber, or empty
	{"subscriptions", "expires", "INTEGER"},                // NULL: never
	{"subscriptions", "alert", "TEXT NOT NULL DEFAULT ''"}, // condition of an alert, or empty
	{"subscriptions", "timed", "INTEGER NOT NULL DEFAULT 0"},
	{"subscriptions", "alerted", "TEXT"},                     // JSON of keys
	{"subscriptions", "problem", "TEXT NOT NULL DEFAULT ''"}, // why the condition of an alert can't hold, or empty
	{"subscriptions", "inform", "INTEGER"},                   // until when the owner is to be informed that it is off, or NULL
}

// addedTables creates the tables and indexes that were added without a migration, for the same reason.
const addedTables = `
	-- Listed items in order of their times, as marks.go reads them. Most new items stand near its end.
	CREATE INDEX IF NOT EXISTS listed_items_by_time ON items (min(published, first_seen), id, first_seen, feed)
		WHERE NOT spam AND duplicate_of = '' AND (flags IS NULL OR instr(flags, '"muted"') = 0);

	-- Feeds with a request of their own, which are few.
	CREATE INDEX IF NOT EXISTS feeds_request ON feeds (url) WHERE request IS NOT NULL;

	-- Feeds by tag, as in feeds.tags. Triggers maintain it, also for programs that do not know it.
	CREATE TABLE IF NOT EXISTS feed_tags (
		tag  TEXT NOT NULL,
		feed INTEGER NOT NULL, -- num of the feed
		PRIMARY KEY (tag, feed)
	) STRICT, WITHOUT ROWID;

	CREATE TRIGGER IF NOT EXISTS feed_tags_insert AFTER INSERT ON feeds WHEN new.tags IS NOT NULL BEGIN
		INSERT OR IGNORE INTO feed_tags (tag, feed) SELECT value, new.num FROM json_each(new.tags);
	END;
	CREATE TRIGGER IF NOT EXISTS feed_tags_update AFTER UPDATE OF tags ON feeds WHEN new.tags IS NOT old.tags BEGIN
		DELETE FROM feed_tags WHERE feed = old.num AND tag IN (SELECT value FROM json_each(old.tags));
		INSERT OR IGNORE INTO feed_tags (tag, feed) SELECT value, new.num FROM json_each(new.tags);
	END;
	CREATE TRIGGER IF NOT EXISTS feed_tags_delete AFTER DELETE ON feeds WHEN old.tags IS NOT NULL BEGIN
		DELETE FROM feed_tags WHERE feed = old.num AND tag IN (SELECT value FROM json_each(old.tags));
	END;
	INSERT INTO feed_tags (tag, feed)
		SELECT DISTINCT value, num FROM feeds, json_each(tags) WHERE NOT EXISTS (SELECT 1 FROM feed_tags);

	-- Keys of purged items.
	CREATE TABLE IF NOT EXISTS purged (
		feed   INTEGER NOT NULL, -- num of the feed
		key    INTEGER NOT NULL, -- storage.KeyNumber of the key
		listed INTEGER NOT NULL, -- day on which a document was last noted to list it
		PRIMARY KEY (feed, key)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE IF NOT EXISTS people (
		name       TEXT PRIMARY KEY,
		id         TEXT NOT NULL,
		role       TEXT NOT NULL,
		hash       TEXT NOT NULL,    -- of the password, or empty
		passwords  INTEGER NOT NULL, -- how many were set
		link       TEXT NOT NULL,    -- hash of the secret of a link that sets a password, or empty
		link_until INTEGER,
		created    INTEGER NOT NULL
	) STRICT;

	CREATE TABLE IF NOT EXISTS sessions (
		person    TEXT NOT NULL,    -- id of the person
		hash      TEXT NOT NULL,
		browser   TEXT NOT NULL,
		passwords INTEGER NOT NULL, -- of the person at the login
		created   INTEGER NOT NULL,
		used      INTEGER NOT NULL,
		expires   INTEGER NOT NULL,
		PRIMARY KEY (person, hash)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE IF NOT EXISTS person_tokens (
		person  TEXT NOT NULL, -- id of the person
		hash    TEXT NOT NULL,
		name    TEXT NOT NULL,
		scopes  TEXT,          -- JSON, or NULL if there are none
		created INTEGER NOT NULL,
		used    INTEGER,       -- NULL: never
		expires INTEGER,       -- NULL: never
		PRIMARY KEY (person, hash)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE IF NOT EXISTS follows (
		client  TEXT NOT NULL,    -- id of the person or the token
		kind    TEXT NOT NULL,
		value   TEXT NOT NULL,
		mute    INTEGER NOT NULL,
		created INTEGER NOT NULL,
		PRIMARY KEY (client, kind, value)
	) STRICT, WITHOUT ROWID;

	CREATE INDEX IF NOT EXISTS follows_by_value ON follows (kind, value);

	CREATE TABLE IF NOT EXISTS visits (
		client   TEXT PRIMARY KEY,
		previous INTEGER,
		latest   INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;

	CREATE TABLE IF NOT EXISTS fever_keys (
		client    TEXT PRIMARY KEY,
		hash      TEXT NOT NULL,
		passwords INTEGER NOT NULL, -- of the person when it was made
		created   INTEGER NOT NULL,
		used      INTEGER
	) STRICT;

	-- Numbers of items, feeds and tags, see storage.Serials.
	CREATE TABLE IF NOT EXISTS serials (
		serial INTEGER PRIMARY KEY AUTOINCREMENT,
		name   TEXT NOT NULL UNIQUE
	) STRICT;

	CREATE TABLE IF NOT EXISTS annotations (
		client  TEXT NOT NULL,
		item_id TEXT NOT NULL,
		labels  TEXT,            -- JSON, or NULL if there are none
		note    TEXT NOT NULL,
		changed INTEGER NOT NULL,
		PRIMARY KEY (client, item_id)
	) STRICT, WITHOUT ROWID;

	CREATE INDEX IF NOT EXISTS annotations_by_item ON annotations (item_id);

	CREATE TABLE IF NOT EXISTS interests (
		client   TEXT PRIMARY KEY, -- id of the person, or of another client
		learning INTEGER NOT NULL,
		learned  BLOB              -- by package classify/interest
	) STRICT;

	CREATE TABLE IF NOT EXISTS passkeys (
		person     TEXT NOT NULL, -- id of the person
		id         TEXT NOT NULL, -- of the credential
		name       TEXT NOT NULL,
		credential BLOB,          -- public key, flags and sign count
		created    INTEGER NOT NULL,
		used       INTEGER,       -- last login
		challenged INTEGER,       -- when its challenge was issued
		PRIMARY KEY (person, id)
	) STRICT, WITHOUT ROWID;

	CREATE TABLE IF NOT EXISTS views (
		name       TEXT PRIMARY KEY,
		number     INTEGER NOT NULL, -- identifies it in view_members
		owner      TEXT NOT NULL,
		definition TEXT NOT NULL,
		changed    INTEGER NOT NULL,
		filled     INTEGER           -- changed of the definition whose members are complete; NULL: none
	) STRICT;

	-- Items of views. Rows of absent members remain until their item is deleted.
	CREATE TABLE IF NOT EXISTS view_members (
		item_id     TEXT NOT NULL,
		view        INTEGER NOT NULL,
		serial      INTEGER NOT NULL,
		entered     INTEGER NOT NULL,
		published   INTEGER NOT NULL,
		past        INTEGER NOT NULL,
		absent      INTEGER NOT NULL,
		story_id    TEXT NOT NULL,    -- empty unless other members depend on it, as original_id
		original_id TEXT NOT NULL,
		PRIMARY KEY (item_id, view)
	) STRICT, WITHOUT ROWID;

	CREATE INDEX IF NOT EXISTS view_members_by_time ON view_members (view, absent, published DESC, item_id);

	-- At most one row: the last serial of a member.
	CREATE TABLE IF NOT EXISTS view_serial (
		id   INTEGER PRIMARY KEY,
		last INTEGER NOT NULL
	) STRICT;

	-- Members that subscriptions send.
	CREATE INDEX IF NOT EXISTS view_members_by_serial ON view_members (view, serial) WHERE past = 0 AND absent = 0;

	-- The columns from cursor on are the state of the delivery.
	CREATE TABLE IF NOT EXISTS subscriptions (
		id            TEXT PRIMARY KEY,
		owner         TEXT NOT NULL,
		title         TEXT NOT NULL,
		views         TEXT,             -- JSON of numbers
		channel       TEXT NOT NULL,
		receiver      TEXT NOT NULL,
		secret        TEXT NOT NULL,
		schedule      TEXT NOT NULL,
		after_serial  INTEGER NOT NULL,
		created       INTEGER NOT NULL,
		cursor        INTEGER,          -- NULL: after_serial
		failures      INTEGER NOT NULL DEFAULT 0,
		failing_since INTEGER,
		due           INTEGER,
		sent          INTEGER,
		off           TEXT NOT NULL DEFAULT '',
		claimant      TEXT NOT NULL DEFAULT '',
		claimed_until INTEGER
	) STRICT;

	CREATE TABLE IF NOT EXISTS delivery_attempts (
		id           INTEGER PRIMARY KEY AUTOINCREMENT,
		subscription TEXT NOT NULL,
		view         INTEGER NOT NULL,
		serial       INTEGER NOT NULL,
		item_id      TEXT NOT NULL,
		items        INTEGER NOT NULL,
		number       INTEGER NOT NULL,
		entered      INTEGER NOT NULL,
		at           INTEGER NOT NULL,
		took         INTEGER NOT NULL,  -- microseconds
		status       INTEGER NOT NULL,
		error        TEXT NOT NULL,
		next         INTEGER            -- NULL: the message is not sent again
	) STRICT;

	CREATE INDEX IF NOT EXISTS delivery_attempts_by_subscription ON delivery_attempts (subscription, id);
	CREATE INDEX IF NOT EXISTS delivery_attempts_due ON delivery_attempts (subscription, next) WHERE next IS NOT NULL`

// applyMigrations applies the missing migrations and adds the missing tables, then columns, in the caller's transaction.
func applyMigrations(ctx context.Context, conn *sql.Conn, steps []string) error {
	missing, err := missingMigrations(ctx, conn, steps)
	if err != nil {
		return err
	}
	if err := applySteps(ctx, conn, steps, missing); err != nil {
		return err
	}
	if _, err := conn.ExecContext(ctx, addedTables); err != nil {
		return err
	}
	for _, c := range addedColumns {
		var exists bool
		if err := conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = ?)`, c.table, c.column).Scan(&exists); err != nil {
			return err
		}
		if exists {
			continue
		}
		if _, err := conn.ExecContext(ctx, fmt.Sprintf(`ALTER TABLE %s ADD COLUMN %s %s`, c.table, c.column, c.definition)); err != nil {
			return fmt.Errorf("add column %s: %w", c.column, err)
		}
	}
	return nil
}

func applySteps(ctx context.Context, conn *sql.Conn, steps, missing []string) error {
	if len(missing) == 0 {
		return nil
	}
	for _, name := range missing {
		step, err := schema.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, string(step)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	// PRAGMA does not support parameters.
	_, err := conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d; PRAGMA user_version = %d`,
		applicationID, len(steps)))
	return err
}

// missingMigrations returns the migrations that the file lacks, all for an empty file.
func missingMigrations(ctx context.Context, conn *sql.Conn, steps []string) ([]string, error) {
	var app, version, tables int
	err := conn.QueryRowContext(ctx, `
		SELECT (SELECT application_id FROM pragma_application_id),
		       (SELECT user_version FROM pragma_user_version),
		       (SELECT count(*) FROM sqlite_schema)`).Scan(&app, &version, &tables)
	switch {
	case err != nil:
		return nil, err
	case app != applicationID && tables > 0, version < 0:
		return nil, errors.New("the file is another program's database: move it, or choose another path")
	case version > len(steps):
		return nil, fmt.Errorf("the store has schema version %d and this program supports only %d: "+
			"run the newer program, or restore a backup from before it ran", version, len(steps))
	}
	return steps[version:], nil
}
