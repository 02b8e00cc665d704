-- The collation is another, and nothing is written anew.
ALTER TABLE items
	ALTER COLUMN event_id TYPE text COLLATE "C",
	ALTER COLUMN story_id TYPE text COLLATE "C",
	ADD COLUMN story_why       text NOT NULL DEFAULT '',
	ADD COLUMN duplicate_score double precision NOT NULL DEFAULT 0,
	ADD COLUMN duplicate_why   text NOT NULL DEFAULT '',
	ADD COLUMN clicks          integer NOT NULL DEFAULT 0;

-- Which story an event belongs to, whatever items say that come late.
CREATE TABLE moved_events (
	at       timestamptz NOT NULL,
	event_id text COLLATE "C" PRIMARY KEY,
	story_id text COLLATE "C" NOT NULL
);

CREATE INDEX moved_events_by_time ON moved_events (at);

-- Marks of stories that are to be told anew. Nobody who makes one waits for
-- another: no two are ever the same row.
CREATE TABLE untold (
	mark     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	due      timestamptz NOT NULL,         -- not given out before
	story_id text COLLATE "C" NOT NULL
);

-- What is told of stories.
CREATE TABLE stories (
	first_seen   timestamptz NOT NULL,
	last_seen    timestamptz NOT NULL,
	told         timestamptz NOT NULL,
	heat         double precision NOT NULL,
	rank         double precision NOT NULL,
	clicks       bigint NOT NULL,
	items        integer NOT NULL,
	events       integer NOT NULL,
	sources      integer NOT NULL,
	burst        boolean NOT NULL,
	id           text COLLATE "C" PRIMARY KEY,
	lane         text NOT NULL,
	headline     text NOT NULL,
	title        text NOT NULL,
	summary      jsonb,                    -- NULL if there is none, as in the next two
	categories   jsonb,
	topics       jsonb,
	listed_under text[] COLLATE "C" NOT NULL -- lane, categories and topics, each after what it is
);

CREATE INDEX stories_by_rank ON stories (rank DESC, id);

CREATE INDEX stories_by_time ON stories (last_seen DESC, id);

CREATE INDEX stories_listed ON stories USING gin (listed_under);

CREATE TABLE notes (
	name text COLLATE "C" PRIMARY KEY,
	note bytea                             -- NULL if it is empty
);
