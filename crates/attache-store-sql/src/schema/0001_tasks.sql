-- Whose tasks. Interned: every other table names a caller by number.
CREATE TABLE scope (
    number INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    UNIQUE (tenant, owner)
) STRICT;

-- One row per task: its number and the row by which it is listed.
CREATE TABLE task (
    number INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    context TEXT NOT NULL,
    state INTEGER NOT NULL,
    status_at INTEGER NOT NULL, -- milliseconds since 1970
    hidden INTEGER NOT NULL,
    unfinished INTEGER NOT NULL
) STRICT;

-- Find a task by a hash of its scope and id, and those of a context by a hash of scope and context. Both
-- are random, so that entering each task at once would touch two more pages; instead the latest tasks
-- are found otherwise, and entered here many at a time.
CREATE TABLE task_by_id (
    hash INTEGER NOT NULL,
    task INTEGER NOT NULL,
    PRIMARY KEY (hash, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE task_by_context (
    hash INTEGER NOT NULL,
    task INTEGER NOT NULL,
    PRIMARY KEY (hash, task)
) STRICT, WITHOUT ROWID;

-- Tasks with a number up to this one are all entered in both. One row.
CREATE TABLE filing (
    up_to INTEGER NOT NULL
) STRICT;

INSERT INTO filing VALUES (0);

-- Serves listings with and without a state, whole from the index.
CREATE INDEX task_by_status ON task (scope, state, status_at, id) WHERE hidden = 0;

CREATE INDEX task_unfinished ON task (unfinished) WHERE unfinished = 1;

-- The log. One row per append, found by the task's number and the number of its last event in one
-- integer, so that a task's rows lie side by side and a row fills a page before it spills over.
CREATE TABLE batch (
    place INTEGER PRIMARY KEY,
    body TEXT NOT NULL -- JSON array of events
) STRICT;

-- Placed as batches are. Losing all of these costs time only.
CREATE TABLE snapshot (
    place INTEGER PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE record (
    space TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;
