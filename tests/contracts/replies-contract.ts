import { expect, it } from "vitest";
import {
  type Call,
  collect,
  create,
  FULL,
  failed,
  itemsOf,
  KEY,
  REQUEST,
  textIn,
  USAGE,
} from "./contract-support";
import { answer, events, type RawServer, SSE_HEADERS } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";

const CACHE_WRITING: Reply = {
  text: ["x"],
  stop: "stop",
  usage: { ...USAGE, cache_write_tokens: 2 },
};

const repliesOf = (wire: Wire): { name: string; reply: Reply }[] => [
  { name: "a text", reply: { text: ["Hello", " there"], stop: "stop", usage: USAGE } },
  { name: "reasoning, text and several calls in pieces", reply: FULL },
  {
    name: "a call without arguments",
    reply: { calls: [{ id: "a", name: "vote", pieces: [] }], stop: "tool_calls" },
  },
  {
    name: "a reply with only calls",
    reply: { calls: FULL.calls ?? [], stop: "tool_calls", usage: USAGE },
  },
  { name: "a reply without usage", reply: { text: ["x"], stop: "stop" } },
  {
    name: "a usage without cached tokens",
    reply: { text: ["x"], stop: "stop", usage: { ...USAGE, cached_tokens: 0 } },
  },
  { name: "calls with the finish reason of a text", reply: { ...FULL, stop: "stop" } },
  ...(wire.reportsCacheWrites ? [{ name: "a usage with cache writes", reply: CACHE_WRITING }] : []),
];

export function repliesContract(wire: Wire, call: Call): void {
  it.each(repliesOf(wire))(
    "$name arrives as deltas, followed by exactly one stop",
    async ({ reply }) => {
      const { events: got, error } = await call(events(wire.encode(reply)));
      expect(error).toBeUndefined();
      expect(got.filter((event) => event.type === "stop")).toHaveLength(1);
      const reason = reply.calls ? "tool_calls" : reply.stop;
      expect(got.at(-1)).toEqual({
        type: "stop",
        reason,
        items: itemsOf(reply, wire.givesCallIds),
        usage: reply.usage ?? null,
      });
      expect(textIn(got, "text")).toBe((reply.text ?? []).join(""));
      expect(textIn(got, "reasoning")).toBe((reply.reasoning ?? []).join(""));
    },
  );

  it("the arguments of each call are streamed with its index", async () => {
    const { events: got } = await call(events(wire.encode(FULL)));
    const argumentTexts = ["", ""];
    for (const event of got)
      if (event.type === "tool_arguments") argumentTexts[event.index] += event.text;
    expect(argumentTexts).toEqual(FULL.calls?.map(({ pieces }) => pieces.join("")));
  });

  it("the arguments of each call are reported with the id of its item, unless the id is a duplicate (F3)", async () => {
    const twice = [...(FULL.calls ?? []), ...(FULL.calls ?? [])];
    const { events: got } = await call(events(wire.encode({ ...FULL, calls: twice })));
    const stop = got.at(-1);
    const ids =
      stop?.type === "stop"
        ? stop.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []))
        : [];
    const byIndex = new Map(
      got.flatMap((event) =>
        event.type === "tool_arguments" ? [[event.index, event.id] as const] : [],
      ),
    );
    expect([...byIndex.keys()].toSorted()).toEqual([0, 1, 2, 3]);
    expect([byIndex.get(0), byIndex.get(1), byIndex.get(2), byIndex.get(3)]).toEqual([
      "id_a",
      "id_b",
      undefined,
      undefined,
    ]);
    expect(ids.slice(0, 2)).toEqual(["id_a", "id_b"]);
  });
}

/** Tests every stop reason that the format can express. */
export function stopReasonsContract(wire: Wire, call: Call): void {
  it.each(wire.stops.map((stop) => ({ stop })))(
    "a reply that ends with $stop has this stop reason",
    async ({ stop }) => {
      const { events: got, error } = await call(
        events(wire.encode({ text: stop === "refusal" ? [] : ["x"], stop })),
      );
      expect(error).toBeUndefined();
      expect(got.at(-1)).toMatchObject({ type: "stop", reason: stop });
    },
  );

  it.each(wire.stops.filter((stop) => stop !== "refusal").map((stop) => ({ stop })))(
    "a reply with the stop reason $stop keeps its calls",
    async ({ stop }) => {
      const { events: got, error } = await call(events(wire.encode({ ...FULL, stop })));
      expect(error).toBeUndefined();
      expect(got.at(-1)).toMatchObject({ type: "stop", items: itemsOf(FULL, wire.givesCallIds) });
    },
  );
}

/** Tests what a caller can rely on while replies stream. */
export function streamsContract(wire: Wire, server: () => RawServer, call: Call): void {
  it("get ids for their calls that no earlier call of the round has", async () => {
    const earlier = { type: "tool_call" as const, id: "id_a", name: "vote", arguments: "{}" };
    const result = {
      role: "tool" as const,
      toolCallId: "id_a",
      name: "vote",
      text: "no",
      isError: true,
    };
    const messages = [
      ...REQUEST.messages,
      { role: "assistant" as const, items: [earlier] },
      result,
    ];
    const { events: got } = await call(events(wire.encode(FULL)), { messages });
    const stop = got.at(-1);
    const ids =
      stop?.type === "stop"
        ? stop.items.flatMap((item) => (item.type === "tool_call" ? [item.id] : []))
        : [];
    expect(new Set(["id_a", "", ...ids]).size).toBe(4);
  });

  it("yield each piece when it arrives, not at the end", async () => {
    const frames = wire.encode({ text: ["one", "two"], stop: "stop" });
    const at = frames.findIndex((frame) => frame.includes("one")) + 1;
    const seen = Promise.withResolvers<void>();
    const { origin } = server();
    server().answer(async (response) => {
      response.writeHead(200, SSE_HEADERS);
      response.write(frames.slice(0, at).join(""));
      await seen.promise; // nothing more until the first piece has arrived
      response.end(frames.slice(at).join(""));
    });
    const got: string[] = [];
    for await (const event of create(wire, origin).stream(REQUEST, new AbortController().signal)) {
      if (event.type === "text") got.push(event.text);
      seen.resolve();
    }
    expect(got).toEqual(["one", "two"]);
  });

  it("do not affect each other if several calls run at once", async () => {
    const one = events(wire.encode(FULL));
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => call(one)));
    for (const { events: got } of outcomes)
      expect(got.at(-1)).toMatchObject({ type: "stop", items: itemsOf(FULL, wire.givesCallIds) });
  });
}

/** Variables that the SDKs would read from the environment. */
const ENVIRONMENT: Readonly<Record<string, string>> = {
  OPENAI_CUSTOM_HEADERS: "X-Leak: yes",
  OPENAI_ORG_ID: "org-leak",
  OPENAI_PROJECT_ID: "project-leak",
  OPENAI_API_KEY: "leak-openai",
  OPENAI_ADMIN_KEY: "leak-admin",
  OPENAI_BASE_URL: "http://127.0.0.1:9/leak",
  ANTHROPIC_CUSTOM_HEADERS: "X-Leak: yes",
  ANTHROPIC_API_KEY: "leak-anthropic",
  ANTHROPIC_AUTH_TOKEN: "leak-token",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9/leak",
  GOOGLE_API_KEY: "leak-google",
  GEMINI_API_KEY: "leak-gemini",
  GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9/leak",
  GOOGLE_GENAI_USE_VERTEXAI: "true",
  GOOGLE_CLOUD_PROJECT: "leak-project",
};

export function requestsContract(wire: Wire, call: Call): void {
  const ok = events(wire.encode({ text: ["x"], stop: "stop" }));

  it("are sent to the path of the format, with the key and without headers of the SDK", async () => {
    const received = await (await call(ok)).server.request();
    expect(received).toMatchObject({ method: "POST", path: wire.basePath + wire.path });
    expect(received.headers[wire.keyHeader.name]).toBe(wire.keyHeader.value(KEY));
    expect(
      Object.keys(received.headers).filter((name) =>
        /^(x-stainless|openai|x-goog-api-client|helicone)/.test(name),
      ),
    ).toEqual([]);
  });

  it("ignore the environment and are sent to the configured address", async () => {
    const names = Object.keys(ENVIRONMENT).filter((name) => process.env[name] === undefined);
    for (const name of names) process.env[name] = ENVIRONMENT[name];
    try {
      const { server, error } = await call(ok);
      expect(error).toBeUndefined();
      expect(JSON.stringify((await server.request()).headers)).not.toMatch(/leak/i);
    } finally {
      for (const name of names) delete process.env[name];
    }
  });

  it("contain no key if the endpoint needs none", async () => {
    const { server } = await call(ok);
    await collect(create(wire, server.origin, "").stream(REQUEST, new AbortController().signal));
    expect((await server.request()).headers[wire.keyHeader.name]).toBeUndefined();
  });

  it("D6 follow no redirect", async () => {
    const { server, error } = await call(answer(307, "", { location: "/elsewhere" }));
    expect(error).toMatchObject(failed("bad_request", "redirect_refused"));
    expect(server.received).toHaveLength(1);
  });
}
