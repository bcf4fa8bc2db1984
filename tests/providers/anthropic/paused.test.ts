import { describe, expect, it } from "vitest";
import { createAnthropic } from "../../../src/providers/anthropic";
import type { ModelEvent, ModelRequest } from "../../../src/providers/provider";
import { endpointAt } from "../../fakes/endpoint";
import { hostedUseBlock, block, calls, stopEvent, textBlock, start } from "./frames";
import { request } from "./requests";
import { sentText } from "../sent-body";

/**
 * Runs a call against a provider that pauses while it runs hosted tools. The provider sends
 * `replies` in order. Returns its received request bodies, the events and the error.
 */
async function runReplies(
  replies: readonly (readonly unknown[])[],
  change: Partial<ModelRequest> = {},
  baseUrl = "https://api.anthropic.com",
) {
  const bodies: Record<string, never>[] = [];
  const fetch = async (_: unknown, init?: RequestInit) => {
    bodies.push(JSON.parse(sentText(init?.body)));
    const frames = replies[bodies.length - 1] ?? [];
    const text = frames.map((frame) => `event: x\ndata: ${JSON.stringify(frame)}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  };
  const hostedTools = [{ name: "web_search" as const, maxUses: 5 }];
  const events: ModelEvent[] = [];
  const stream = createAnthropic(endpointAt(baseUrl, { fetch })).stream(
    request({ maxOutputTokens: null, hostedTools, ...change }),
    new AbortController().signal,
  );
  const error = await (async () => {
    for await (const event of stream) events.push(event);
  })().catch((thrown: unknown) => thrown);
  const stop = events.at(-1);
  return { bodies, events, error, stop: stop?.type === "stop" ? stop : null };
}

const usage = (input_tokens: number, output_tokens: number, searches = 0) => ({
  usage: { input_tokens, output_tokens, server_tool_use: { web_search_requests: searches } },
});
const PAUSED = [
  start(usage(100, 1)),
  ...textBlock(0, "Let me look. "),
  ...hostedUseBlock(1, "srvtoolu_1", "web_search", '{"query":"rain"}'),
  { ...stopEvent("pause_turn", { container: { id: "container_1" } }), ...usage(100, 30, 2) },
  { type: "message_stop" },
];
const REMAINDER = [
  start(usage(140, 1)),
  ...block(0, {
    type: "web_search_tool_result",
    tool_use_id: "srvtoolu_1",
    content: [{ url: "https://a.example", title: "A" }],
  }),
  ...textBlock(1, "It rains."),
  ...calls(2, "toolu_1", "vote", '{"agent_id":"agent1"}'),
  { ...stopEvent("tool_use"), ...usage(140, 40, 1) },
];

describe("a paused reply", () => {
  it("continues in the same stream, so that a vote in its second part is not lost", async () => {
    const { stop, events, bodies } = await runReplies([PAUSED, REMAINDER]);
    expect(bodies).toHaveLength(2);
    expect(events.filter(({ type }) => type === "stop")).toHaveLength(1);
    expect(stop?.reason).toBe("tool_calls");
    expect(stop?.items.map((item) => (item.type === "text" ? item.text : item.type))).toEqual([
      "Let me look. ",
      "hosted",
      "hosted",
      "It rains.",
      "tool_call",
    ]);
    expect(stop?.hosted).toEqual([
      { name: "web_search", input: "rain", outcome: "ok", output: "A – https://a.example" },
    ]);
  });

  it("is sent back unchanged, with nothing after it", async () => {
    const { bodies } = await runReplies([PAUSED, REMAINDER]);
    expect(bodies[1]?.["messages"]).toEqual([
      ...(bodies[0]?.["messages"] ?? []),
      {
        role: "assistant",
        content: [
          { type: "text", text: "Let me look. " },
          {
            type: "server_tool_use",
            id: "srvtoolu_1",
            name: "web_search",
            input: { query: "rain" },
          },
        ],
      },
    ]);
  });

  it("is charged for all its requests, and reports usage only at the end", async () => {
    const { stop, events } = await runReplies([PAUSED, REMAINDER]);
    const tokens = { input_tokens: 240, output_tokens: 70, reasoning_tokens: 0, cached_tokens: 0 };
    expect(stop?.usage).toEqual({ ...tokens, hosted_uses: { web_search: 3 }, requests: 2 });
    expect(events.filter(({ type }) => type === "usage")).toEqual([]);
  });

  it("is continued with only the remaining searches and output tokens", async () => {
    const { bodies } = await runReplies([PAUSED, REMAINDER], { maxOutputTokens: 1_000 });
    expect(bodies[1]).toMatchObject({
      max_tokens: 970,
      tools: [{ name: "web_search", max_uses: 3 }],
    });
  });

  it.each<{ name: string; change: Partial<ModelRequest>; baseUrl?: string }>([
    { name: "no output is left", change: { maxOutputTokens: 30 } },
    { name: "no search is left", change: { hostedTools: [{ name: "web_search", maxUses: 2 }] } },
    {
      name: "the reservation does not cover sending it again",
      change: { maxOutputTokens: 1_000 },
      baseUrl: "https://proxy.example",
    },
  ])("ends as incomplete if $name", async ({ change, baseUrl }) => {
    const { stop, bodies } = await runReplies([PAUSED, REMAINDER], change, baseUrl);
    expect(bodies).toHaveLength(1);
    expect(stop?.reason).toBe("length");
  });

  it("ends as incomplete if it pauses too often", async () => {
    const { stop, bodies } = await runReplies([PAUSED, PAUSED, PAUSED, PAUSED], {
      hostedTools: [{ name: "web_search", maxUses: 50 }],
    });
    expect(bodies).toHaveLength(3);
    expect(stop?.reason).toBe("length");
  });

  it("fails if its second part is incomplete", async () => {
    const { stop, error } = await runReplies([PAUSED, REMAINDER.slice(0, -1)]);
    expect(stop).toBeNull();
    expect(error).toMatchObject({ failureClass: "transient", code: "stream_cut" });
  });

  it("is not continued if it has calls of our own tools, because their results must come first", async () => {
    const { stop, bodies } = await runReplies([
      [...PAUSED.slice(0, -2), ...calls(2, "toolu_1", "vote", "{}"), stopEvent("pause_turn")],
    ]);
    expect(bodies).toHaveLength(1);
    expect(stop?.reason).toBe("tool_calls");
  });
});
