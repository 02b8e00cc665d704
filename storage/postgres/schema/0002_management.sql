-- json, not jsonb, which takes no U+0000.
ALTER TABLE feeds
	ADD COLUMN pinned  boolean NOT NULL DEFAULT false,
	ADD COLUMN request json;        -- NULL if it is asked as all others

CREATE TABLE moved (
	id   text COLLATE "C" PRIMARY KEY, -- of a feed that is no more
	feed integer NOT NULL              -- num of the one that has its items
);

CREATE INDEX moved_by_feed ON moved (feed);

CREATE TABLE proxies (
	id     text COLLATE "C" PRIMARY KEY,
	url    text NOT NULL,
	hosts  jsonb,
	always boolean NOT NULL,
	added  timestamptz NOT NULL
);

CREATE TABLE imports (
	id       text COLLATE "C" PRIMARY KEY,
	name     text NOT NULL,
	started  timestamptz NOT NULL,
	finished timestamptz,             -- NULL until it is
	total    integer NOT NULL,
	done     integer NOT NULL,
	added    integer NOT NULL,
	known    integer NOT NULL,
	invalid  integer NOT NULL,
	lines    bytea                    -- NULL if there are none
);
