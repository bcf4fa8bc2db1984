import { describe, expect, it } from "vitest";
import { isJsonObject } from "../../src/providers/json";
import type { Message, ModelEvent, ModelRequest } from "../../src/providers/provider";
import { hostById } from "../../src/providers/hosts";
import { BACKEND_TYPES, createProvider } from "../../src/providers/registry";
import { errorsOf, FULL_CONTEXT, teamWith } from "../config/teams";
import { ANTHROPIC } from "../contracts/anthropic-wire";
import { collect, FULL, KEY, REQUEST } from "../contracts/contract-support";
import { GEMINI } from "../contracts/gemini-wire";
import { OPENAI_CHAT } from "../contracts/openai-chat-wire";
import { OPENAI_RESPONSES } from "../contracts/openai-responses-wire";
import { SSE_HEADERS } from "../../simulated/raw-server";
import type { Wire } from "../contracts/wire";
import { endpointAt } from "../fakes/endpoint";

/**
 * Defects that the MassGen adapters for several formats have in common. The numbers are those of
 * our list of defects. Our adapters do not have them. The folder of a format tests the defects of
 * that format.
 */

const WIRES = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI];

/**
 * A provider behind a `fetch` that responds with these frames, or with a custom response, and
 * records its requests.
 */
function startProvider(
  wire: Wire,
  answer: string[] | (() => Promise<Response>),
  url = `https://provider.test${wire.basePath}`,
) {
  const sent: Record<string, unknown>[] = [];
  const reply = Array.isArray(answer)
    ? async () => new Response(answer.join(""), { headers: SSE_HEADERS })
    : answer;
  const fake: typeof fetch = async (input, init) => {
    sent.push(JSON.parse(await new Request(input, init).text()));
    return reply();
  };
  const options = endpointAt(url, { apiKey: KEY, fetch: fake });
  const ask = (change: Partial<ModelRequest> = {}, more: Partial<typeof options> = {}) =>
    collect(
      wire
        .create({ ...options, ...more })
        .stream({ ...REQUEST, ...change }, new AbortController().signal),
    );
  return { ask, sent, options };
}

const callsOf = (got: readonly ModelEvent[]) => {
  const stop = got.at(-1);
  return stop?.type === "stop"
    ? stop.items.flatMap((item) => (item.type === "tool_call" ? [item.name] : []))
    : [];
};
const textOf = (got: readonly ModelEvent[]) =>
  got.map((event) => (event.type === "text" ? event.text : "")).join("");
const bodyText = (sent: readonly unknown[]) => JSON.stringify(sent[0]);
const times = (text: string, part: string) => text.split(part).length - 1;
const HOSTED = [{ name: "web_search", maxUses: 2 }] as const;

describe.each(WIRES)("$name", (wire) => {
  it("keeps a tool call next to a workflow call (2)", async () => {
    const { events } = await startProvider(wire, wire.encode(FULL)).ask();
    expect(callsOf(events)).toEqual(["vote", "read_file"]);
  });

  it.each(wire.stops.filter((stop) => stop !== "refusal"))(
    "keeps calls with the finish reason %s (6)",
    async (stop) => {
      const { events } = await startProvider(wire, wire.encode({ ...FULL, stop })).ask();
      expect(callsOf(events)).toEqual(["vote", "read_file"]);
    },
  );

  it("offers each tool once, reads the reasoning, and stops at an error in a chunk (7)", async () => {
    const { ask, sent } = startProvider(wire, wire.encode(FULL));
    const { events } = await ask();
    expect(times(bodyText(sent), '"name":"vote"')).toBe(1);
    expect(events.filter((event) => event.type === "reasoning").map((event) => event.text)).toEqual(
      FULL.reasoning,
    );

    const [first = "", ...rest] = wire.encode(FULL);
    const broken = await startProvider(wire, [first, wire.midStreamError.frame, ...rest]).ask();
    expect(broken.error).toMatchObject({ failureClass: wire.midStreamError.failureClass });
    expect(textOf(broken.events)).toBe("");
  });

  it("sends every call of a long round with its result (18)", async () => {
    const rounds = Array.from({ length: 150 }, (_, n): Message[] => [
      {
        role: "assistant",
        items: [{ type: "tool_call", id: `id_${n}`, name: "read_file", arguments: `{"n":${n}}` }],
      },
      {
        role: "tool",
        toolCallId: `id_${n}`,
        name: "read_file",
        text: `result-${n}.`,
        isError: false,
      },
    ]);
    const { ask, sent } = startProvider(wire, wire.encode(FULL));
    await ask({ messages: [...REQUEST.messages, ...rounds.flat()] });
    expect(wire.acceptsHistory(sent[0])).toBeNull();
    expect(rounds.filter((_, n) => !bodyText(sent).includes(`result-${n}.`))).toEqual([]);
  });

  it("reports a rate limit and its delay to the rules, and does not retry itself (19)", async () => {
    const { ask, sent } = startProvider(
      wire,
      async () => new Response("{}", { status: 429, headers: { "retry-after": "7" } }),
    );
    const { error } = await ask();
    expect(error).toMatchObject({ failureClass: "transient", details: { retryAfterMs: 7_000 } });
    expect(sent).toHaveLength(1);
  });

  it("does not block other calls while one call waits (21)", async () => {
    const late = Promise.withResolvers<Response>();
    const waiting = startProvider(wire, () => late.promise);
    const pending = waiting.ask();
    const { error } = await startProvider(wire, wire.encode(FULL)).ask();
    expect(error).toBeUndefined();
    late.resolve(new Response("{}", { status: 503 }));
    expect((await pending).error).toMatchObject({ failureClass: "transient" });
  });

  it("never treats the text of an error as text of the agent (22)", async () => {
    const words = "the words of a fault";
    const { events, error } = await startProvider(wire, async () =>
      Response.json({ error: { message: words } }, { status: 500 }),
    ).ask();
    expect(error).toMatchObject({ message: words });
    expect(events).toEqual([]);
  });
});

it("the format depends on the backend type, not on the URL (8)", async () => {
  const { sent, options } = startProvider(
    OPENAI_CHAT,
    OPENAI_CHAT.encode(FULL),
    "https://api.openai.com/v1",
  );
  const stream = createProvider("openai-chat", options).stream(
    REQUEST,
    new AbortController().signal,
  );
  expect((await collect(stream)).error).toBeUndefined();
  expect(sent[0]).toMatchObject({ messages: expect.any(Array) });
  expect(sent[0]).not.toHaveProperty("input");
});

it("no search is offered as a function without an implementation (9)", async () => {
  const { ask, sent } = startProvider(OPENAI_CHAT, OPENAI_CHAT.encode(FULL));
  await ask({ hostedTools: HOSTED });
  expect(sent[0]?.["tools"]).toEqual([
    expect.objectContaining({ function: expect.objectContaining({ name: "vote" }) }),
  ]);
  expect(
    errorsOf(
      teamWith("type: chatcompletion\nmodel: gpt-6.2-sol\nenable_web_search: true"),
      FULL_CONTEXT,
    ),
  ).not.toEqual([]);
});

it.each([
  { name: "with our own tools", tools: REQUEST.tools },
  { name: "without our own tools", tools: [] },
])("Grok's search is requested $name, and no call is lost (10)", async ({ tools }) => {
  const { ask, sent } = startProvider(OPENAI_RESPONSES, OPENAI_RESPONSES.encode(FULL));
  const { events } = await ask({ tools, hostedTools: HOSTED }, { host: hostById("xai") });
  const offered = sent[0]?.["tools"];
  expect(
    Array.isArray(offered) ? offered.map((tool) => isJsonObject(tool) && tool["type"]) : [],
  ).toContain("web_search");
  expect(callsOf(events)).toEqual(["vote", "read_file"]);
});

it.each(["chatcompletion", "openai", "claude", "gemini", "grok", "azure_openai", "openrouter"])(
  "an unknown key of %s is refused before any request (16)",
  (type) => {
    const errors = errorsOf(teamWith(`type: ${type}\nmodel: m\nmade_up_key: 1`), FULL_CONTEXT);
    expect(errors.join("\n")).toMatch(/unknown_key \/agents\/0\/backend\/made_up_key/);
  },
);

it("features that need a local program are refused, with an alternative (20)", () => {
  expect(BACKEND_TYPES["claude_code"]).toMatchObject({
    served: false,
    instead: expect.stringContaining("type: claude"),
  });
});
