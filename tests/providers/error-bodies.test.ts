import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FailureClass } from "../../src/protocol/events";
import { transport } from "../../src/providers/transport";
import { NO_HOOKS } from "../fakes/endpoint";
import { classify } from "../../src/providers/errors";
import { ProviderError } from "../../src/providers/provider";

/**
 * Errors as providers send them, one per line, with the failure class and code that they must get.
 * The texts are original; ids and account names are invented. `status` is `null` for an error
 * inside a stream; `body` is then the received object.
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

/** The ProviderError for a row: through a response of `fetch`, or through an object in a stream. */
async function toError({
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
  it(`and the error has the class ${row.is} and the code ${row.code}`, async () => {
    const { failureClass, code, details } = await toError(row);
    expect({ failureClass, code }).toEqual({ failureClass: row.is, code: row.code });
    expect(details.retryAfterMs).toBe(row.waitMs);
  });

  it("and the error does not contain the key that the body repeats", async () => {
    const body = withEchoedKey(row.body);
    expect(JSON.stringify(body)).toContain(KEY);
    const error = await toError({ ...row, body });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("canary");
  });
});

/** The body with the key in its text: alone, in a URL, and in headers. */
function withEchoedKey(body: unknown): unknown {
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

it("the rows cover every class that a provider can cause, and every supported backend", () => {
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
