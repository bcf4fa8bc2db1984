import { expect, it } from "vitest";
import { toMessage } from "../../src/providers/errors";
import { redact } from "../../src/redaction/redact";

it.each([
  {
    name: "the given key",
    given: "key my.very-own/key= is wrong",
    secrets: ["my.very-own/key="],
    expected: "key [redacted] is wrong",
  },
  {
    name: "the given key at each place",
    given: "abcdef and abcdef",
    secrets: ["abcdef"],
    expected: "[redacted] and [redacted]",
  },
  {
    name: "a text that looks like an OpenAI key",
    given: "Incorrect API key provided: sk-proj-abc123DEF456.",
    expected: "Incorrect API key provided: [redacted]",
  },
  { name: "a masked key", given: "provided: sk-ab**********yz", expected: "provided: [redacted]" },
  {
    name: "keys of other vendors",
    given: "gsk_abcdefgh xai-abcdefgh nvapi-abcdefgh",
    expected: "[redacted] [redacted] [redacted]",
  },
  { name: "a Google key", given: `AIza${"x".repeat(35)}`, expected: "[redacted]" },
  {
    name: "a bearer token",
    given: "Authorization: Bearer abc.def-ghi",
    expected: "Authorization: Bearer [redacted]",
  },
  {
    name: "a key in a query",
    given: "GET /v1?api_key=abcdefgh&x=1",
    expected: "GET /v1?api_key=[redacted]&x=1",
  },
  {
    name: "a key with a short name in a query",
    given: "GET https://x.test/v1?key=abc#d",
    expected: "GET https://x.test/v1?key=[redacted]#d",
  },
  {
    name: "the given key, URL-encoded",
    given: "at a%2Fb%2Bcdef%3D",
    secrets: ["a/b+cdef="],
    expected: "at [redacted]",
  },
  {
    name: "the given key in its JSON form",
    given: JSON.stringify({ key: 'ab"cd\\ef/gh' }),
    secrets: ['ab"cd\\ef/gh'],
    expected: '{"key":"[redacted]"}',
  },
  {
    name: "the given key in JSON that escapes slashes",
    given: "ab\\/cdef",
    secrets: ["ab/cdef"],
    expected: "[redacted]",
  },
  {
    name: "the given key in base64",
    given: `got ${btoa("my.own-key")}`,
    secrets: ["my.own-key"],
    expected: "got [redacted]",
  },
  {
    name: "the given key in base64url",
    given: `got ${Buffer.from("??>>~~own?>").toString("base64url")}`,
    secrets: ["??>>~~own?>"],
    expected: "got [redacted]",
  },
  {
    name: "the given key in hex",
    given: "got 6d792e6f776e2d6b6579.",
    secrets: ["my.own-key"],
    expected: "got [redacted].",
  },
  {
    name: "the given key in upper-case hex",
    given: "got 6D792E6F776E2D6B6579.",
    secrets: ["my.own-key"],
    expected: "got [redacted].",
  },
  {
    name: "the given key in upper case",
    given: "got MY.OWN-KEY.",
    secrets: ["my.own-key"],
    expected: "got [redacted].",
  },
  {
    name: "a key that a provider masked",
    given: "Your api key: ****fcc2 or na***ys",
    expected: "Your api key: [redacted] or [redacted]",
  },
  {
    name: "a key in JSON",
    given: '{"api_key": "abcdefgh"}',
    expected: '{"api_key": "[redacted]"}',
  },
  {
    name: "a JSON web token",
    given: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    expected: "[redacted]",
  },
  {
    name: "a Hugging Face token",
    given: `got hf_${"aB3".repeat(11)}.`,
    expected: "got [redacted].",
  },
  { name: "a Replicate token", given: `got r8_${"aB3".repeat(12)}`, expected: "got [redacted]" },
  { name: "a Perplexity key", given: `got pplx-${"aB3".repeat(16)}`, expected: "got [redacted]" },
  {
    name: "GitHub tokens",
    given: `ghp_${"aB3".repeat(12)} github_pat_11AB_${"aB3".repeat(20)}`,
    expected: "[redacted] [redacted]",
  },
  {
    name: "a new Google key",
    given: `got AQ.Ab8-${"aB3_".repeat(12)}`,
    expected: "got [redacted]",
  },
])("hides $name", ({ given, secrets = [], expected }) =>
  expect(redact(given, secrets)).toBe(expected),
);

it.each([
  "This model's maximum context length is 8192 tokens",
  "install sk-learn",
  "call hf_hub_download, or the models r8_small and pplx-70b-online",
  "the session AQ.1 of github_pat_x",
  "request id req_0123456789abcdef",
  "the bearer of bad news",
  "a **bold** word, the key=value of nothing, what a token=count is",
])("keeps: %s", (text) => expect(redact(text, [])).toBe(text));

it("finds the given key in base64 at any position of the encoded text", () => {
  const key = "caller-key+0123/456";
  for (const before of ["", "u", "u:", "us:", "user:"]) {
    const clean = redact(`got ${btoa(`${before}${key} and more`)}`, [key]);
    expect(clean).toMatch(/^got [A-Za-z0-9+/]{0,8}\[redacted\]/);
  }
});

it("does not treat an empty or tiny key as a secret", () => {
  expect(redact("a plain text", ["", "a"])).toBe("a plain text");
});

it("accepts a key that is invalid Unicode", () => {
  expect(redact("key \ud800abcdef here", ["\ud800abcdef"])).toBe("key [redacted] here");
});

it("joins several lines into one, and marks a cut", () => {
  expect(toMessage("a\n\n  b ", [])).toBe("a b");
  expect(toMessage("a\u001b]0;title\u0007b\u0000\u009b31mc", [])).toBe("a ]0;title b 31mc");
  expect(toMessage("x".repeat(501), [])).toBe(`${"x".repeat(499)}…`);
});
