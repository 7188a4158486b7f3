-- CRC-32 of what a row holds and of its key, so that damage is noticed when the row is read. Null: the row was written
-- before there were checksums.
ALTER TABLE batch ADD COLUMN checksum INTEGER;

ALTER TABLE snapshot ADD COLUMN checksum INTEGER;

ALTER TABLE record ADD COLUMN checksum INTEGER;
