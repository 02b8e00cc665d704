-- Subscriptions of WebSub subscribers to feeds, and alerts.
ALTER TABLE subscriptions
	ADD COLUMN topic   text NOT NULL DEFAULT '',       -- URL of the feed, or empty
	ADD COLUMN expires timestamptz,                    -- NULL: never
	ADD COLUMN alert   text NOT NULL DEFAULT '',       -- condition, or empty
	ADD COLUMN timed   boolean NOT NULL DEFAULT false, -- claimed also without a new member
	ADD COLUMN alerted jsonb;                          -- keys of the last alerts
