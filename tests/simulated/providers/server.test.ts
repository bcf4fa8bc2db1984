import OpenAI from "openai";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  charges,
  peakAwaitingHeaders,
  peakConcurrency,
  type RecordedRequest,
} from "../../../simulated/providers/ledger";
import type { Reply, Script } from "../../../simulated/providers/reply";
import {
  type SimulatedProviders,
  startSimulatedProviders,
} from "../../../simulated/providers/server";

/**
 * The tests use real sockets and the official SDK. They check the replies that a client receives,
 * and the records of the simulated providers.
 */

let providers: SimulatedProviders | undefined;

afterEach(async () => {
  await providers?.close();
  providers = undefined;
});

/** Starts providers with one model. Returns a client for them. */
async function startProviders(script: Script | Reply): Promise<OpenAI> {
  const model = typeof script === "function" ? script : () => script;
  providers = await startSimulatedProviders({ models: { m: model } });
  return new OpenAI({ apiKey: "any", baseURL: providers.baseUrl, maxRetries: 0 });
}

const streamed: OpenAI.ChatCompletionCreateParamsStreaming = {
  model: "m",
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: "user", content: "Hi!" }],
};

/** Reads a streamed reply to its end. `at`: arrival times of the chunks with text. */
async function readReply(client: OpenAI, more: object = {}, signal?: AbortSignal) {
  const received = {
    text: "",
    reasoning: "",
    calls: new Map<number, { name: string; arguments: string; pieces: number }>(),
    at: [] as number[],
  };
  const end = {
    finish: null as string | null,
    usage: undefined as OpenAI.CompletionUsage | null | undefined,
  };
  for await (const chunk of await client.chat.completions.create(
    { ...streamed, ...more },
    { signal: signal ?? null },
  )) {
    const choice = chunk.choices[0];
    const delta: { reasoning_content?: string } & OpenAI.ChatCompletionChunk.Choice.Delta =
      choice?.delta ?? {};
    received.text += delta.content ?? "";
    received.reasoning += delta.reasoning_content ?? "";
    if (delta.content) received.at.push(performance.now());
    for (const call of delta.tool_calls ?? []) {
      const known = received.calls.get(call.index) ?? { name: "", arguments: "", pieces: -1 };
      const { name = "", arguments: piece = "" } = call.function ?? {};
      received.calls.set(call.index, {
        name: known.name + name,
        arguments: known.arguments + piece,
        pieces: known.pieces + 1,
      });
    }
    end.finish = choice?.finish_reason ?? end.finish;
    end.usage = chunk.usage ?? end.usage;
  }
  return { ...received, ...end };
}

const recorded = (): RecordedRequest[] => [...(providers?.requests() ?? [])];
const eventually = (check: () => void): Promise<void> =>
  vi.waitFor(check, { interval: 10, timeout: 10_000 });

describe("a simulated provider", () => {
  it("streams reasoning, text and several calls in chunks, with usage at the end", async () => {
    const calls = [
      { name: "read_file", arguments: { path: "notes.txt" } },
      { name: "vote", arguments: '{"agent_id":"agent2","reason":"✓ “right” 🎉🎉🎉"}' },
    ];
    const usage = { inputTokens: 100, outputTokens: 30, cachedTokens: 64, reasoningTokens: 7 };
    const reply = await readReply(
      await startProviders({ reasoning: "Well, well.", text: "I have decided.", calls, usage }),
    );
    expect(reply).toMatchObject({
      reasoning: "Well, well.",
      text: "I have decided.",
      finish: "tool_calls",
    });
    expect([...reply.calls.values()].map(({ name, arguments: text }) => [name, text])).toEqual([
      ["read_file", '{"path":"notes.txt"}'],
      ["vote", '{"agent_id":"agent2","reason":"✓ “right” 🎉🎉🎉"}'],
    ]);
    expect(reply.calls.get(1)?.pieces).toBeGreaterThan(5);
    expect(reply.usage).toEqual({
      prompt_tokens: 100,
      completion_tokens: 30,
      total_tokens: 130,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 7 },
    });
  });

  // Retried, because a busy machine may send late.
  it("keeps the configured pace without drift", { retry: 2 }, async () => {
    const client = await startProviders({
      text: "abcd".repeat(40),
      pace: { ttftMs: 200, tokensPerSecond: 200 },
    });
    await readReply(client);
    const start = performance.now();
    const { at } = await readReply(client);
    expect(at).toHaveLength(40);
    const [first = 0, last = 0] = [at[0], at.at(-1)];
    expect(first - start).toBeGreaterThanOrEqual(199);
    expect(first - start).toBeLessThan(260);
    expect(last - first).toBeGreaterThan(185);
    expect(last - first).toBeLessThan(235);
  });

  it("sends headers together with the first token", async () => {
    const client = await startProviders({ text: "late", pace: { ttftMs: 120 } });
    const start = performance.now();
    await client.chat.completions.create(streamed);
    expect(performance.now() - start).toBeGreaterThan(110);
  });

  it("also sends a reply as a whole, after the time that streaming would take", async () => {
    const client = await startProviders({
      text: "abcd".repeat(10),
      pace: { ttftMs: 50, tokensPerSecond: 100 },
    });
    const start = performance.now();
    const reply = await client.chat.completions.create({
      ...streamed,
      stream: false,
      stream_options: null,
    });
    expect(reply.choices[0]?.message.content).toBe("abcd".repeat(10));
    expect(reply.usage).toMatchObject({
      completion_tokens: 10,
      prompt_tokens_details: { cached_tokens: 0 },
    });
    expect(performance.now() - start).toBeGreaterThan(135);
  });

  it("ends a reply at the request's output cap, and reports the usage up to there", async () => {
    const reply = await readReply(await startProviders({ text: "abcd".repeat(50) }), {
      max_completion_tokens: 3,
    });
    expect(reply).toMatchObject({
      text: "abcdabcdabcd",
      finish: "length",
      usage: { completion_tokens: 3 },
    });
  });

  it("sends the scripted finish reason, also if it contradicts the calls", async () => {
    const reply = await readReply(
      await startProviders({ calls: [{ name: "vote", arguments: {} }], finishReason: "stop" }),
    );
    expect(reply).toMatchObject({ finish: "stop" });
    expect(reply.calls.size).toBe(1);
  });

  it.each<{
    name: string;
    reply: Reply;
    status: number;
    code: string | null;
    retryAfter: string | null;
  }>([
    {
      name: "a rate limit",
      reply: { fail: { status: 429, code: "rate_limit", retryAfter: 7 } },
      status: 429,
      code: "rate_limit",
      retryAfter: "7",
    },
    {
      name: "an overload with a retry time",
      reply: { fail: { status: 503, retryAfter: 2 } },
      status: 503,
      code: null,
      retryAfter: "2",
    },
    {
      name: "an error without a retry time",
      reply: { fail: { status: 500, code: "boom" } },
      status: 500,
      code: "boom",
      retryAfter: null,
    },
  ])("fails with $name", async ({ reply, status, code, retryAfter }) => {
    const failure = await readReply(await startProviders(reply)).catch((error: unknown) => error);
    if (!(failure instanceof OpenAI.APIError)) throw new Error("expected an API error");
    expect(failure).toMatchObject({ status });
    expect(failure.code ?? null).toBe(code);
    expect(failure.headers?.get("retry-after") ?? null).toBe(retryAfter);
    expect(charges(recorded())).toEqual([]);
  });

  it("refuses a model without a script", async () => {
    const client = await startProviders({});
    const failure = readReply(client, { model: "gpt-9" });
    await expect(failure).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });

  it("breaks the connection in the middle of a reply", async () => {
    const client = await startProviders({ text: "abcd".repeat(10), cutAfterChunks: 4 });
    const pieces: string[] = [];
    const reading = (async () => {
      for await (const chunk of await client.chat.completions.create(streamed))
        pieces.push(chunk.choices[0]?.delta.content ?? "");
    })();
    await expect(reading).rejects.toThrow();
    expect(pieces.join("")).toBe("abcd".repeat(4));
    expect(recorded()).toMatchObject([{ outcome: "cut", tokensSent: 4, reported: null }]);
    expect(charges(recorded())).toMatchObject([{ outputTokens: 4 }]);
  });
});

describe("a cut of all connections", () => {
  it("breaks running replies, charges the sent part, and answers later requests", async () => {
    let replies = 0;
    const client = await startProviders((): Reply => {
      replies += 1;
      return replies > 2
        ? { text: "here again" }
        : { hang: "body", text: "abcdabcd", cutAfterChunks: replies };
    });
    const broken = [readReply(client), readReply(client)].map((one) =>
      one.then(() => "whole").catch(() => "broken"),
    );
    await eventually(() =>
      expect(recorded().reduce((sum, { tokensSent }) => sum + tokensSent, 0)).toBe(3),
    );
    expect(providers?.cut()).toBe(2);
    expect(await Promise.all(broken)).toEqual(["broken", "broken"]);
    expect(recorded()).toMatchObject([
      { outcome: "cut", endedAt: expect.any(Number) },
      { outcome: "cut" },
    ]);
    expect(charges(recorded()).reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBe(3);
    expect((await readReply(client)).text).toBe("here again");
    expect(providers?.cut()).toBe(0);
    expect(recorded()[2]?.outcome).toBe("completed");
  });
});

describe("the record of a request of the simulated providers", () => {
  it("contains the key, the body and the times", async () => {
    const client = await startProviders({
      text: "abcdefgh",
      pace: { ttftMs: 40, tokensPerSecond: 50 },
    });
    await readReply(client);
    const [request] = recorded();
    expect(request).toMatchObject({
      id: 1,
      model: "m",
      outcome: "completed",
      status: 200,
      tokensSent: 2,
      body: streamed,
    });
    expect(request?.headers["authorization"]).toBe("Bearer any");
    expect(request?.reported).toEqual({ inputTokens: 2, outputTokens: 2 });
    expect((request?.firstByteAt ?? 0) - (request?.startedAt ?? 0)).toBeGreaterThan(38);
    await eventually(() =>
      expect((recorded()[0]?.endedAt ?? 0) - (request?.startedAt ?? 0)).toBeGreaterThan(58),
    );
  });

  it.each<{ name: string; reply: Reply; tokens: number; headers: boolean }>([
    {
      name: "before the headers",
      reply: { hang: "headers", text: "abcd" },
      tokens: 0,
      headers: false,
    },
    {
      name: "right after the headers",
      reply: { hang: "body", text: "abcd" },
      tokens: 0,
      headers: true,
    },
    {
      name: "in the middle of its text",
      reply: { hang: "body", text: "abcdabcdabcd", cutAfterChunks: 2 },
      tokens: 2,
      headers: true,
    },
    {
      name: "after its whole text",
      reply: { hang: "body", text: "abcd", cutAfterChunks: 9 },
      tokens: 1,
      headers: true,
    },
    { name: "and has no text", reply: { hang: "body" }, tokens: 0, headers: true },
  ])(
    "covers a reply that hangs $name until the client disconnects",
    async ({ reply, tokens, headers }) => {
      const client = await startProviders(reply);
      const leave = new AbortController();
      const reading = readReply(client, {}, leave.signal).catch(() => "left");
      const soFar = {
        outcome: "open",
        endedAt: null,
        tokensSent: tokens,
        firstByteAt: headers ? expect.any(Number) : null,
      };
      await eventually(() => expect(recorded()).toMatchObject([soFar]));
      await new Promise((later) => setTimeout(later, 150)); // no further data arrives
      expect(recorded()).toMatchObject([soFar]);
      leave.abort();
      await eventually(() =>
        expect(recorded()).toMatchObject([{ outcome: "closed", endedAt: expect.any(Number) }]),
      );
      await reading;
      expect(charges(recorded())).toMatchObject([{ inputTokens: 2, outputTokens: tokens }]);
    },
  );

  it("ends when its client disconnects in the middle of the reply", async () => {
    const client = await startProviders({
      text: "abcd".repeat(500),
      pace: { ttftMs: 0, tokensPerSecond: 100 },
    });
    const leave = new AbortController();
    const reading = readReply(client, {}, leave.signal).catch(() => undefined);
    await eventually(() => expect(recorded()[0]?.tokensSent).toBeGreaterThan(3));
    leave.abort();
    await reading;
    await eventually(() =>
      expect(recorded()).toMatchObject([{ outcome: "closed", reported: null }]),
    );
    const sent = recorded()[0]?.tokensSent ?? 0;
    await new Promise((later) => setTimeout(later, 150)); // time for fifteen more
    expect(recorded()[0]?.tokensSent).toBe(sent);
    expect(sent).toBeLessThan(500);
  });

  it("distinguishes an error of a script from an error of a provider", async () => {
    const client = await startProviders(() => {
      throw new Error("typo in the script");
    });
    await expect(readReply(client)).rejects.toMatchObject({ status: 500, code: "script_failed" });
    expect(recorded()[0]?.scriptError).toContain("typo in the script");
  });

  it("keeps the pace of sixteen concurrent streams of 200 tokens per second", {
    retry: 2,
  }, async () => {
    const client = await startProviders({
      text: "abcd".repeat(200),
      pace: { ttftMs: 400, tokensPerSecond: 200 },
    });
    await readReply(client);
    const alone = await timed(() => readReply(client));
    let replies: Awaited<ReturnType<typeof readReply>>[] = [];
    const tookMs = await timed(async () => {
      replies = await Promise.all(Array.from({ length: 16 }, () => readReply(client)));
    });
    expect(replies.every(({ text }) => text === "abcd".repeat(200))).toBe(true);
    expect(tookMs).toBeGreaterThan(1_390);
    // if late timers added up, each of the 200 tokens would be later than the one before
    expect(tookMs).toBeLessThan(1.5 * alone);
    const requests = recorded().slice(2);
    expect(peakConcurrency(requests)).toBe(16);
    expect(peakAwaitingHeaders(requests)).toBe(16);
    expect(charges(requests).reduce((sum, { outputTokens }) => sum + outputTokens, 0)).toBe(
      16 * 200,
    );
  });
});

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
