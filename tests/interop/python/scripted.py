"""What the script model answers: the triggers of `examples/scripts/interop.yaml` and what they lead to."""

ECHO = "echo hello there"
ECHO_ANSWER = "hello there"

STREAM = "stream"
STREAM_ANSWER = "one two three four five"

ASK = "ask"
QUESTION = "What is your name?"
REPLY = "Ada"
GREETING = "Hello, Ada!"

WAIT_FOR_INPUT = "input"

ARTIFACTS = "artifacts"
# Contents by artifact id, as `meaning` reads them.
ARTIFACT_PARTS = {
    # Streamed in three pieces, which are one part of the whole task.
    "text": [{"text": "abcdefghi"}],
    "bytes": [{"raw": bytes(range(10)), "name": "ten.bin", "type": "application/octet-stream"}],
    "url": [{"url": "https://example.com/file.txt", "name": "file.txt", "type": "text/plain"}],
    "data": [
        {
            "data": {
                "number": 1,
                "fraction": 1.5,
                "text": "ä",
                "list": [True, None],
                "nested": {"key": "value"},
            }
        }
    ],
}

REJECT = "reject"
FAIL = "fail"
AUTH = "auth"
REASONS = {REJECT: "Not for me.", FAIL: "It did not work.", AUTH: "Sign in first."}

# Asks for a credential and goes on by itself.
RESUME = "resume"

STATUS = "status"
STATUS_TEXT = "All done."

BARE = "message"
BARE_ANSWER = "Just a message."

# Says something, then waits for longer than any test runs.
SLOW = "slow"

# One task of every kind that settles by itself.
KINDS_OF_TASKS = (ECHO, ASK, WAIT_FOR_INPUT, ARTIFACTS, REJECT, FAIL, AUTH, STATUS)
