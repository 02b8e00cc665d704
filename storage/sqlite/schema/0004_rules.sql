CREATE TABLE rules (
	name    TEXT NOT NULL,         -- of the set
	version INTEGER NOT NULL,      -- from 1
	note    TEXT NOT NULL,
	changed INTEGER NOT NULL,
	text    BLOB,                  -- NULL if it is empty
	PRIMARY KEY (name, version)
) STRICT;

ALTER TABLE feeds ADD COLUMN full_text INTEGER NOT NULL DEFAULT 0;

ALTER TABLE items ADD COLUMN enclosures TEXT; -- JSON, or NULL if there are none

ALTER TABLE items ADD COLUMN comments TEXT NOT NULL DEFAULT '';

ALTER TABLE items ADD COLUMN source TEXT NOT NULL DEFAULT '';
