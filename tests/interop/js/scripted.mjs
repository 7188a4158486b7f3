// What the script model answers: the triggers of `examples/scripts/interop.yaml` and what they lead to.

export const ECHO = 'echo hello there';
export const ECHO_ANSWER = 'hello there';

export const STREAM = 'stream';
export const STREAM_ANSWER = 'one two three four five';

export const ASK = 'ask';
export const QUESTION = 'What is your name?';
export const REPLY = 'Ada';
export const GREETING = 'Hello, Ada!';

export const WAIT_FOR_INPUT = 'input';

export const ARTIFACTS = 'artifacts';
/** Contents by artifact id, as `meaning.mjs` reads them. */
export const ARTIFACT_PARTS = {
  // Streamed in three pieces, which are one part of the whole task.
  text: [{ text: 'abcdefghi' }],
  bytes: [{ raw: 'AAECAwQFBgcICQ==', name: 'ten.bin', type: 'application/octet-stream' }],
  url: [{ url: 'https://example.com/file.txt', name: 'file.txt', type: 'text/plain' }],
  data: [{ data: { number: 1, fraction: 1.5, text: 'ä', list: [true, null], nested: { key: 'value' } } }],
};

export const REJECT = 'reject';
export const FAIL = 'fail';
export const AUTH = 'auth';
export const REASONS = { [REJECT]: 'Not for me.', [FAIL]: 'It did not work.', [AUTH]: 'Sign in first.' };

/** Asks for a credential and goes on by itself. */
export const RESUME = 'resume';

export const STATUS = 'status';
export const STATUS_TEXT = 'All done.';

export const BARE = 'message';
export const BARE_ANSWER = 'Just a message.';

/** Says something, then waits for longer than any test runs. */
export const SLOW = 'slow';

/** One task of every kind that settles by itself. */
export const KINDS_OF_TASKS = [ECHO, ASK, WAIT_FOR_INPUT, ARTIFACTS, REJECT, FAIL, AUTH, STATUS];
