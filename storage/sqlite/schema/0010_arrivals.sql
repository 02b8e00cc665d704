-- What statistics ask for of items, so that none is read for them: behind the text
-- a column costs as much as the whole row. New items stand at its end, where they
-- cost little.
CREATE INDEX items_by_arrival ON items (first_seen, published, assumed, feed, language, spam, sentiment, categories);
