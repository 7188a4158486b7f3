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

CREATE UNIQUE INDEX task_by_id ON task (scope, id);

-- Serves listings with and without a state, whole from the index.
CREATE INDEX task_by_status ON task (scope, state, status_at, id) WHERE hidden = 0;

-- Without the status on purpose: so it is written once per task, not at every change of status.
CREATE INDEX task_by_context ON task (scope, context) WHERE hidden = 0;

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
