CREATE TABLE people (
	name       text COLLATE "C" PRIMARY KEY,
	id         text NOT NULL,
	role       text NOT NULL,
	hash       text NOT NULL,         -- of the password, or empty
	passwords  bigint NOT NULL,       -- how many were set
	link       text NOT NULL,         -- hash of the secret of a link that sets a password, or empty
	link_until timestamptz,
	created    timestamptz NOT NULL
);

CREATE TABLE sessions (
	person    text COLLATE "C",       -- id of the person
	hash      text COLLATE "C",
	browser   text NOT NULL,
	passwords bigint NOT NULL,        -- of the person at the login
	created   timestamptz NOT NULL,
	used      timestamptz NOT NULL,
	expires   timestamptz NOT NULL,
	PRIMARY KEY (person, hash)
);
