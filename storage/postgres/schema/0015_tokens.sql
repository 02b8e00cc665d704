CREATE TABLE person_tokens (
	person  text COLLATE "C",     -- id of the person
	hash    text COLLATE "C",
	name    text NOT NULL,
	scopes  jsonb,                -- NULL if there are none
	created timestamptz NOT NULL,
	used    timestamptz,          -- NULL: never
	expires timestamptz,          -- NULL: never
	PRIMARY KEY (person, hash)
);
