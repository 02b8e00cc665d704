CREATE TABLE follows (
	client  text COLLATE "C",     -- id of the person or the token
	kind    text COLLATE "C",
	value   text COLLATE "C",
	mute    boolean NOT NULL,
	created timestamptz NOT NULL,
	PRIMARY KEY (client, kind, value)
);

CREATE TABLE visits (
	client   text COLLATE "C" PRIMARY KEY,
	previous timestamptz,
	latest   timestamptz NOT NULL
);
