ALTER TABLE people
	ADD COLUMN issuer  text NOT NULL DEFAULT '', -- OpenID provider, or empty
	ADD COLUMN subject text NOT NULL DEFAULT ''; -- account there, or empty

CREATE TABLE passkeys (
	person     text COLLATE "C",     -- id of the person
	id         text COLLATE "C",     -- of the credential
	name       text NOT NULL,
	credential bytea,                -- public key, flags and sign count
	created    timestamptz NOT NULL,
	used       timestamptz,          -- last login
	challenged timestamptz,          -- when its challenge was issued
	PRIMARY KEY (person, id)
);
