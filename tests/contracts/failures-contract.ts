import { expect, it } from "vitest";
import type { FailureClass } from "../../src/protocol/events";
import { MAX_JSON_BYTES, MAX_LINE_BYTES } from "../../src/providers/call-limits";
import { ProviderError } from "../../src/providers/provider";
import {
  type Call,
  collect,
  create,
  FULL,
  failed,
  itemsOf,
  KEY,
  REQUEST,
  USAGE,
} from "./contract-support";
import {
  answer,
  events,
  type Script,
  SSE_HEADERS,
  startRawServer,
} from "../../simulated/raw-server";
import type { Wire } from "./wire";

/**
 * The failure classes that the errors of each format must cover. `content_filter` is missing: not
 * every format reports a content filter as an error.
 */
const NEEDED_CLASSES: readonly FailureClass[] = [
  "bad_credentials",
  "unknown_model",
  "context_too_long",
  "quota",
  "bad_request",
  "transient",
];

export function errorsContract(wire: Wire, call: Call): void {
  it("cover every failure class for which callers have their own rule", () => {
    expect(
      NEEDED_CLASSES.filter(
        (required) => !wire.errors.some(({ failureClass }) => failureClass === required),
      ),
    ).toEqual([]);
  });

  const classes = [...new Set(wire.errors.map(({ failureClass }) => failureClass))].sort();
  it.each(classes.map((failureClass) => ({ failureClass })))(
    "of the class $failureClass get this class from the adapter",
    async ({ failureClass }) => {
      for (const { name, status, body } of wire.errors.filter(
        (one) => one.failureClass === failureClass,
      )) {
        const { events: got, error } = await call(answer(status, body));
        expect(got, name).toEqual([]);
        expect(error, name).toBeInstanceOf(ProviderError);
        expect(error, name).toMatchObject({ failureClass, details: { status } });
      }
    },
  );

  it.each([500, 502, 503, 504, 520, 524, 529])(
    "with status %i are transient, and the request is sent only once",
    async (status) => {
      const { error, server } = await call(
        answer(status, "<html><title>down</title></html>", { "content-type": "text/html" }),
      );
      expect(error).toMatchObject({
        failureClass: "transient",
        message: "an HTML page: down",
        details: { status },
      });
      expect(server.received).toHaveLength(1);
    },
  );

  it("with an endless body are read only in part", async () => {
    const { error } = await call(endlessError);
    expect(error).toMatchObject(failed("transient", "server_error"));
  });

  it("inside a running stream are classified", async () => {
    const [first = ""] = wire.encode({ text: ["x"], stop: "stop" });
    const { events: got, error } = await call(events([first, wire.midStreamError.frame]));
    expect(error).toMatchObject(failed(wire.midStreamError.failureClass));
    expect(got.some((event) => event.type === "stop")).toBe(false);
  });

  it("that refuse the connection are transient", async () => {
    const gone = await startRawServer();
    await gone.close();
    const { error } = await collect(
      create(wire, gone.origin).stream(REQUEST, new AbortController().signal),
    );
    expect(error).toMatchObject(failed("transient", "connection_refused"));
  });
}

/** A 500 whose body ends only when the client closes the connection. */
const endlessError: Script = (response) => {
  response.writeHead(500, { "content-type": "text/plain" });
  const feed = () => {
    while (!response.destroyed && response.write("x".repeat(65_536)));
    if (!response.destroyed) response.once("drain", feed);
  };
  feed();
};

/** Cases of providers that repeat the key in an error. */
export function echoesContract(wire: Wire, call: Call): void {
  it("D21 never exposes the key, even if the provider echoes it", async () => {
    const { error } = await call(
      answer(401, { error: { message: `wrong key ${KEY} in Bearer ${KEY}` } }),
    );
    expect(error).toMatchObject({
      failureClass: "bad_credentials",
      message: "wrong key [redacted] in Bearer [redacted]",
    });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(KEY);
  });

  it("D21 never exposes the key in an error inside a running stream either", async () => {
    const [first = ""] = wire.encode({ text: ["x"], stop: "stop" });
    const frame = wire.midStreamError.frame.replace(
      /"message":"[^"]*"/,
      `"message":"wrong key ${KEY} in Bearer ${KEY}"`,
    );
    expect(frame).toContain(KEY);
    const { events: got, error } = await call(events([first, frame]));
    expect(error).toMatchObject({ message: "wrong key [redacted] in Bearer [redacted]" });
    expect(JSON.stringify([got, error, Object.getOwnPropertyDescriptors(error)])).not.toContain(
      KEY,
    );
  });
}

export function waitsContract(call: Call): void {
  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString();
  it.each([
    { name: "no delay", headers: () => ({}), min: undefined, max: undefined },
    { name: "a delay in seconds", headers: () => ({ "retry-after": "7" }), min: 7_000, max: 7_000 },
    {
      name: "a delay in fractions of a second",
      headers: () => ({ "retry-after": "1.5" }),
      min: 1_500,
      max: 1_500,
    },
    {
      name: "a negative delay",
      headers: () => ({ "retry-after": "-5" }),
      min: undefined,
      max: undefined,
    },
    {
      name: "a delay in an unknown format",
      headers: () => ({ "retry-after": "soon" }),
      min: undefined,
      max: undefined,
    },
    {
      name: "a delay in milliseconds",
      headers: () => ({ "retry-after-ms": "350" }),
      min: 350,
      max: 350,
    },
    { name: "a date", headers: () => ({ "retry-after": inAMinute() }), min: 50_000, max: 61_000 },
    {
      name: "a delay of 31 years",
      headers: () => ({ "retry-after": "1000000000" }),
      min: 1e12,
      max: 1e12,
    },
  ])(
    "with status 429 and $name are reported with the delay, if it is valid",
    async ({ headers, min, max }) => {
      const { error } = await call(answer(429, { error: { message: "slow down" } }, headers()));
      expect(error).toMatchObject(failed("transient", "rate_limited"));
      const wait = error instanceof ProviderError ? error.details.retryAfterMs : Number.NaN;
      if (min === undefined) expect(wait).toBeUndefined();
      else expect(wait).toSatisfy((ms: number) => ms >= min && ms <= max);
    },
  );
}

type BrokenReply = { name: string; script: Script; code: string };

function brokenReplies(wire: Wire): BrokenReply[] {
  const frames = wire.encode(FULL);
  const page = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
  const html = { "content-type": "text/html; charset=utf-8" };
  return [
    { name: "a web page with status 200", script: answer(200, page, html), code: "bad_response" },
    {
      name: "a web page that claims to be a stream",
      script: answer(200, page, SSE_HEADERS),
      code: "bad_response",
    },
    {
      name: "an empty body with status 200",
      script: answer(200, "", SSE_HEADERS),
      code: "empty_reply",
    },
    {
      name: "a stream with only comments",
      script: events([": hello\n\n", ": bye\n\n"]),
      code: "stream_cut",
    },
    {
      name: "data that is not JSON",
      script: events([frames[0] ?? "", wire.brokenFrame ?? "data: oops\n\n", ...frames.slice(1)]),
      code: "bad_response",
    },
    {
      name: "an endless line",
      script: events(["data: ", "x".repeat(MAX_LINE_BYTES + 1)]),
      code: "bad_response",
    },
    {
      name: "JSON without end",
      script: answer(200, JSON.stringify(["x".repeat(MAX_JSON_BYTES)]), {
        "content-type": "application/json",
      }),
      code: "bad_response",
    },
    {
      name: "JSON that is not a reply",
      script: answer(200, "[1]", { "content-type": "application/json" }),
      code: "bad_response",
    },
  ];
}

/** Encodings that the SSE specification allows, and a stream without its last blank line. */
function unusualEncodings(wire: Wire): { name: string; script: Script }[] {
  const frames = wire.encode(FULL);
  const whole = frames.join("");
  const bytewise: Script = async (response) => {
    response.writeHead(200, SSE_HEADERS);
    for (const byte of Buffer.from(whole)) {
      response.write(Uint8Array.of(byte));
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
    response.end();
  };
  return [
    { name: "CRLF", script: events([whole.replaceAll("\n", "\r\n")]) },
    { name: "a byte order mark", script: events([`\uFEFF${whole}`]) },
    { name: "CR only", script: events([whole.replaceAll("\n", "\r")]) },
    {
      name: "keep-alive comments between the events",
      script: events(frames.flatMap((frame) => [": keep-alive\n\n", frame])),
    },
    { name: "no blank line at the end", script: events([whole.trimEnd()]) },
    { name: "one byte at a time, so that characters are split", script: bytewise },
  ];
}

export function brokenContract(wire: Wire, call: Call): void {
  it.each(brokenReplies(wire))("$name is a transient failure", async ({ script, code }) => {
    const { events: got, error } = await call(script);
    expect(got.some((event) => event.type === "stop")).toBe(false);
    expect(error).toMatchObject(failed("transient", code));
  });

  it.each(unusualEncodings(wire))("a stream with $name is read completely", async ({ script }) => {
    const { events: got, error } = await call(script);
    expect(error).toBeUndefined();
    expect(got.at(-1)).toMatchObject({
      type: "stop",
      items: itemsOf(FULL, wire.givesCallIds),
      usage: USAGE,
    });
  });
}
