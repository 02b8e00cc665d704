CREATE TABLE rules (
	name    text COLLATE "C" NOT NULL, -- of the set
	version bigint NOT NULL,           -- from 1
	changed timestamptz NOT NULL,
	note    text NOT NULL,
	text    bytea,                     -- NULL if it is empty
	PRIMARY KEY (name, version)
);

ALTER TABLE feeds ADD COLUMN full_text boolean NOT NULL DEFAULT false;

ALTER TABLE items
	ADD COLUMN enclosures jsonb,       -- NULL if there are none
	ADD COLUMN comments   text NOT NULL DEFAULT '',
	ADD COLUMN source     text NOT NULL DEFAULT '';
