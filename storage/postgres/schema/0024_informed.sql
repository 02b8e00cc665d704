-- Conditions of alerts that can't hold, and owners who are to be informed that a subscription is off.
ALTER TABLE subscriptions
	ADD COLUMN problem text NOT NULL DEFAULT '', -- why the condition can't hold, or empty
	ADD COLUMN inform  timestamptz;              -- until when the owner is to be informed; NULL: not to be
