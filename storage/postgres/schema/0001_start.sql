-- Texts are never NULL and compared bytewise, whatever the database's collation.
-- Lists of words are JSON, or NULL when empty.
--
-- Neither table is partitioned: items are asked for by their IDs, which any
-- partition might have.

CREATE TABLE feeds (
	num       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- stands for the 26 bytes of id in each item
	items     integer NOT NULL DEFAULT 0,
	added     timestamptz NOT NULL,
	last_item timestamptz,       -- NULL if there is none
	rate      double precision NOT NULL DEFAULT 0,
	id        text COLLATE "C" NOT NULL UNIQUE,
	url       text COLLATE "C" NOT NULL UNIQUE,
	title     text NOT NULL,
	site      text NOT NULL,
	language  text NOT NULL,
	tags      jsonb
) WITH (fillfactor = 80); -- leaves room for the next row version on the same page, which then no index has to know of

-- An ID is made of feed and key, so that its index finds keys as well, however
-- long they are.
--
-- Nothing references feeds: whoever writes items of a feed holds its row locked.
CREATE TABLE items (
	first_seen   timestamptz NOT NULL,
	published    timestamptz NOT NULL,
	updated      timestamptz,     -- NULL if unknown
	changed      timestamptz NOT NULL,
	feed         integer NOT NULL, -- num of its feed
	day          date NOT NULL GENERATED ALWAYS AS ((first_seen AT TIME ZONE 'UTC')::date) STORED,
	revision     integer NOT NULL,
	spam         boolean NOT NULL,
	id           text COLLATE "C" PRIMARY KEY,
	key          text NOT NULL,
	hash         text NOT NULL,
	lane         text COLLATE "C" NOT NULL,
	assumed      text NOT NULL,
	url          text NOT NULL,
	title        text NOT NULL,
	author       text NOT NULL,
	language     text NOT NULL,
	text_hash    text NOT NULL,
	event_id     text NOT NULL,
	story_id     text NOT NULL,
	duplicate_of text COLLATE "C" NOT NULL,
	duplicate_by text NOT NULL,
	images       jsonb,
	tags         jsonb,
	categories   jsonb,
	topics       jsonb,
	why          jsonb,
	excerpt      text NOT NULL,
	html         text NOT NULL
);

-- Vacuum after every 2 % of new items: it is what lets a comparison with the
-- search index read items_by_day alone.
ALTER TABLE items SET (
	autovacuum_vacuum_insert_scale_factor = 0.02,
	autovacuum_vacuum_scale_factor = 0.05,
	autovacuum_analyze_scale_factor = 0.02
);

-- Compresses nearly as well as the default and several times as fast; not every
-- server has it.
DO $$
BEGIN
	ALTER TABLE items ALTER COLUMN html SET COMPRESSION lz4, ALTER COLUMN excerpt SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
	NULL;
END
$$;

CREATE INDEX items_by_feed ON items (feed, published);

CREATE INDEX items_by_lane ON items (lane, first_seen, id);

CREATE INDEX items_by_day ON items (day, id) INCLUDE (changed);

CREATE INDEX items_by_first ON items (duplicate_of) WHERE duplicate_of <> '';

CREATE TABLE fences (
	name   text COLLATE "C" PRIMARY KEY,
	number bigint NOT NULL       -- the newest given out
);

-- One row.
CREATE TABLE store (
	id    text NOT NULL,         -- the name of this store, to be told from others by
	needs integer NOT NULL       -- how many steps a program must know to work with it
);

INSERT INTO store (id, needs) VALUES (replace(gen_random_uuid()::text, '-', ''), 1);

-- The steps applied so far, of the files in this folder.
CREATE TABLE feedmesh_steps (
	number  integer PRIMARY KEY,
	name    text NOT NULL,
	applied timestamptz NOT NULL DEFAULT now()
);
