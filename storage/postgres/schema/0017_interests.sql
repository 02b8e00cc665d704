CREATE TABLE interests (
	client   text COLLATE "C" PRIMARY KEY, -- id of the person, or of another client
	learning boolean NOT NULL,
	learned  bytea                         -- by package classify/interest
);
