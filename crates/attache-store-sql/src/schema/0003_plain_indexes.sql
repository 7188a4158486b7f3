-- Tasks are found by their id and by their context through indexes, written with the task. Before, tasks were entered
-- into tables later, many at a time.
DROP TABLE task_by_id;

DROP TABLE task_by_context;

DROP TABLE filing;

CREATE UNIQUE INDEX task_by_id ON task (scope, id);

CREATE INDEX task_by_context ON task (scope, context);

-- How many visible tasks a caller has in each state, changed with the tasks, so that a listing need not count them.
CREATE TABLE task_count (
    scope INTEGER NOT NULL,
    state INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    PRIMARY KEY (scope, state)
) STRICT, WITHOUT ROWID;

INSERT INTO task_count SELECT scope, state, count(*) FROM task WHERE hidden = 0 GROUP BY scope, state;
