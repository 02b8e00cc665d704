-- Number of transactions that wrote items of the feed. A store that went back to an
-- older state has a lower number than the schedule was told.
ALTER TABLE feeds ADD COLUMN writes bigint NOT NULL DEFAULT 0;
