import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FailureClass } from "../../src/protocol/events";
import { transport } from "../../src/providers/transport";
import { NO_HOOKS } from "../fakes/endpoint";
import { classify } from "../../src/providers/errors";
import { ProviderError } from "../../src/providers/provider";

/**
 * Errors as providers send them, one per line, and their meaning for a run. Ids and account names
 * are invented, the texts are original. `status: null`: inside a stream, with the object as
 * received.
 */
type ErrorRow = {
  from: string;
  name: string;
  status: number | null;
  is: FailureClass;
  code: string;
  waitMs?: number;
  headers?: Record<string, string>;
  body: unknown;
};
const ERROR_BODIES: ErrorRow[] = readFileSync("tests/providers/error-bodies.jsonl", "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

const KEY = "canary/key+0123456789=";

/**
 * The error as an adapter receives it: as a response of its `fetch`, or as an object in a stream.
 */
async function met({
  status,
  headers,
  body,
}: Pick<ErrorRow, "status" | "headers" | "body">): Promise<ProviderError> {
  if (status === null) return classify({ status: undefined, body }, [KEY]);
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const fetch = async () => new Response(text, { status, ...(headers && { headers }) });
  const send = transport(
    { fetch, apiKey: KEY, hooks: NO_HOOKS },
    { allowedHeaders: new Set(), onBytes: () => undefined },
  );
  const error = await send("https://provider.test/").catch((thrown: unknown) => thrown);
  if (!(error instanceof ProviderError)) throw new Error("no ProviderError was thrown");
  return error;
}

describe.each(ERROR_BODIES)("$from reports $name ($status)", (row) => {
  it(`which is ${row.is}, ${row.code}`, async () => {
    const { failureClass, code, details } = await met(row);
    expect({ failureClass, code }).toEqual({ failureClass: row.is, code: row.code });
    expect(details.retryAfterMs).toBe(row.waitMs);
  });

  it("without the key, wherever it is echoed", async () => {
    const body = planted(row.body);
    expect(JSON.stringify(body)).toContain(KEY);
    const error = await met({ ...row, body });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("canary");
  });
});

/** The same body with the key in its text: bare, in a URL, and as its own headers. */
function planted(body: unknown): unknown {
  const echo = `${KEY} at https://x.test/v1?key=${encodeURIComponent(KEY)} with x-api-key: ${KEY}, Authorization: Bearer ${KEY}; `;
  if (typeof body === "string")
    return body.includes("<title>") ? body.replace("<title>", `<title>${echo}`) : echo + body;
  return JSON.parse(
    JSON.stringify(body, (name, value) =>
      /^(message|msg|error|detail|raw)$/.test(name) && typeof value === "string"
        ? echo + value
        : value,
    ),
  );
}

it("covers every class that a provider can cause, and every supported backend", () => {
  const classes = new Set(ERROR_BODIES.map(({ is }) => is));
  expect([...classes].sort()).toEqual([
    "bad_credentials",
    "bad_request",
    "content_filter",
    "context_too_long",
    "quota",
    "transient",
    "unknown_model",
  ]);
  expect(new Set(ERROR_BODIES.map(({ from }) => from)).size).toBeGreaterThan(22);
});
