CREATE TABLE tokens (
	id      text COLLATE "C" PRIMARY KEY,
	name    text NOT NULL,
	hash    text NOT NULL,
	scopes  jsonb,                -- NULL if there are none
	created timestamptz NOT NULL,
	used    timestamptz           -- NULL: never
);
