-- Stories that join another one.
CREATE INDEX follows_by_value ON follows (kind, value);
