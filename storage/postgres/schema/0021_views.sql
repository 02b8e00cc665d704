CREATE TABLE views (
	name       text COLLATE "C" PRIMARY KEY,
	number     bigint NOT NULL,           -- identifies it in view_members
	owner      text NOT NULL,
	definition text NOT NULL,
	changed    timestamptz NOT NULL,
	filled     timestamptz                -- changed of the definition whose members are complete; NULL: none
);

-- Items of views. Rows of absent members remain until their item is deleted.
CREATE TABLE view_members (
	item_id     text COLLATE "C" NOT NULL,
	view        bigint NOT NULL,
	serial      bigint NOT NULL,
	entered     timestamptz NOT NULL,
	published   timestamptz NOT NULL,
	past        boolean NOT NULL,
	absent      boolean NOT NULL,
	story_id    text COLLATE "C" NOT NULL, -- empty unless other members depend on it, as original_id
	original_id text COLLATE "C" NOT NULL,
	PRIMARY KEY (item_id, view)
);

CREATE INDEX view_members_by_time ON view_members (view, absent, published DESC, item_id);

-- At most one row: the last serial of a member.
CREATE TABLE view_serial (
	id   bigint PRIMARY KEY,
	last bigint NOT NULL
);
