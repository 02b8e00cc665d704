ALTER TABLE items
	ADD COLUMN spam_score double precision NOT NULL DEFAULT 0,
	ADD COLUMN flags      jsonb,           -- NULL if there are none
	ADD COLUMN score      double precision NOT NULL DEFAULT 0,
	ADD COLUMN sentiment  double precision NOT NULL DEFAULT 0,
	ADD COLUMN corrected  boolean NOT NULL DEFAULT false; -- it is in corrections

-- json, not jsonb, which takes no U+0000.
ALTER TABLE feeds
	ADD COLUMN spam_threshold double precision NOT NULL DEFAULT 0,
	ADD COLUMN categories     json;        -- how many of its last items have each; NULL if none has any

-- The items that are spam. Triggers keep it, so that programs from before this
-- step do so too.
CREATE TABLE spam (
	judged  timestamptz NOT NULL,          -- when it became spam
	score   double precision NOT NULL,
	feed    integer NOT NULL,              -- num of its feed
	item_id text COLLATE "C" PRIMARY KEY,
	reasons jsonb                          -- NULL if there are none
);

CREATE INDEX spam_by_judged ON spam (judged DESC, item_id);

CREATE INDEX spam_by_feed ON spam (feed, judged DESC, item_id);

CREATE FUNCTION spam_begins() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO spam (judged, score, feed, item_id, reasons) VALUES (NEW.changed, NEW.spam_score, NEW.feed, NEW.id, NEW.why);
	RETURN NULL;
END
$$;

CREATE FUNCTION spam_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE spam SET score = NEW.spam_score, feed = NEW.feed, item_id = NEW.id, reasons = NEW.why WHERE item_id = OLD.id;
	RETURN NULL;
END
$$;

CREATE FUNCTION spam_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM spam WHERE item_id = OLD.id;
	RETURN NULL;
END
$$;

CREATE TRIGGER spam_is_new AFTER INSERT ON items FOR EACH ROW
	WHEN (NEW.spam) EXECUTE FUNCTION spam_begins();

CREATE TRIGGER spam_begins AFTER UPDATE OF spam ON items FOR EACH ROW
	WHEN (NEW.spam AND NOT OLD.spam) EXECUTE FUNCTION spam_begins();

CREATE TRIGGER spam_stays AFTER UPDATE OF id, feed, spam, spam_score, why ON items FOR EACH ROW
	WHEN (NEW.spam AND OLD.spam) EXECUTE FUNCTION spam_stays();

CREATE TRIGGER spam_ends AFTER UPDATE OF spam ON items FOR EACH ROW
	WHEN (OLD.spam AND NOT NEW.spam) EXECUTE FUNCTION spam_ends();

CREATE TRIGGER spam_is_gone AFTER DELETE ON items FOR EACH ROW
	WHEN (OLD.spam) EXECUTE FUNCTION spam_ends();

INSERT INTO spam (judged, score, feed, item_id, reasons)
SELECT changed, spam_score, feed, id, why FROM items WHERE spam;

-- What persons said of items. Triggers have it follow them.
CREATE TABLE corrections (
	at         timestamptz NOT NULL,
	item_id    text COLLATE "C" PRIMARY KEY,
	person     text NOT NULL,
	spam       boolean,                    -- NULL leaves it open, as in the next two
	categories jsonb,
	topics     jsonb
);

CREATE INDEX corrections_by_time ON corrections (at, item_id);

CREATE FUNCTION corrected_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE corrections SET item_id = NEW.id WHERE item_id = OLD.id;
	RETURN NULL;
END
$$;

CREATE FUNCTION corrected_goes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	DELETE FROM corrections WHERE item_id = OLD.id;
	RETURN NULL;
END
$$;

CREATE TRIGGER corrected_moves AFTER UPDATE OF id ON items FOR EACH ROW
	WHEN (OLD.corrected) EXECUTE FUNCTION corrected_moves();

CREATE TRIGGER corrected_goes AFTER DELETE ON items FOR EACH ROW
	WHEN (OLD.corrected) EXECUTE FUNCTION corrected_goes();

-- What labels items had before a job. No trigger keeps it: nothing about an item
-- says whether it is here, and to look for each would take long for a large feed.
CREATE TABLE kept_labels (
	job     text COLLATE "C" NOT NULL,
	item_id text COLLATE "C" NOT NULL,
	labels  json NOT NULL,
	PRIMARY KEY (job, item_id)
);

CREATE INDEX kept_labels_by_item ON kept_labels (item_id);

CREATE TABLE jobs (
	id       text COLLATE "C" PRIMARY KEY,
	kind     text NOT NULL,
	note     text NOT NULL,
	started  timestamptz NOT NULL,
	finished timestamptz,                  -- NULL until it is
	state    text NOT NULL,
	cancel   boolean NOT NULL,
	total    integer NOT NULL,
	done     integer NOT NULL,
	changed  integer NOT NULL,
	err      text NOT NULL,
	result   bytea                         -- NULL if there is none
);
