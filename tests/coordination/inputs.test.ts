import { describe, expect, it } from "vitest";
import {
  decide,
  EMPTY_WORLD,
  emptySession,
  type Input,
  type InputBody,
} from "../../src/coordination";
import { agentRules, listing, teamRules } from "./builders";
import { START, World } from "./world";

type Bodies = { [Type in InputBody["type"]]: Extract<InputBody, { type: Type }> };

const usage = { input_tokens: 10, output_tokens: 5, reasoning_tokens: 0, cached_tokens: 0 };
const call = "call_1_1_1_1_1_1";
const tool = "tool_1_1_1_1_t";

/** One input of every type, with every optional field. */
const BODIES: Bodies = {
  turn_requested: {
    type: "turn_requested",
    rules: teamRules([agentRules("a")]),
    question: "What is best?",
    attached: {
      attachments: [
        { kind: "text", name: "a.txt", media_type: "text/plain", size: 1, sha256: "0".repeat(64) },
      ],
      tokens: 1,
    },
    parentTurn: null,
    budget: { max_tokens: 1_000_000 },
    timeoutMs: 60_000,
    contexts: [{ name: "docs", version: "v1", permissions: { a: "read" } }],
    overrides: { models: { a: "other" }, quick: true },
    overriddenAgents: [agentRules("a", { model: "other" })],
    queueId: "queued_1",
    refused: { code: "context_missing", message: "Push the folder." },
    requested: { contexts: [{ name: "docs", permission: "read" }], overrides: { quick: true } },
  },
  head_requested: { type: "head_requested", turn: 1 },
  cancel_requested: { type: "cancel_requested" },
  call_held: { type: "call_held", effect: call, until: START + 1, inputTokens: 1 },
  call_ready: { type: "call_ready", effect: call, inputTokens: 1, compactionTokens: 1 },
  call_replied: {
    type: "call_replied",
    effect: call,
    reply: {
      stopReason: "stop",
      usage,
      hosted: [],
      citations: [],
      text: "text",
      tools: [{ toolCall: "t", name: "read_file" }],
      decisions: [{ name: "new_answer", tool_call: "n", content: "An answer." }],
      verdict: { restart: true, reason: "r", instructions: "i" },
      storable: true,
      personas: { agent1: "careful" },
      dropped: { replies: 1, tool_calls: 0, tool_results: 0, notes: 0, tokens: 1 },
    },
  },
  call_failed: {
    type: "call_failed",
    effect: call,
    failure: {
      class: "transient",
      code: "http_503",
      message: "overloaded",
      retryAfterMs: 1,
      usage,
      reached: true,
      compactible: true,
    },
  },
  tool_ready: { type: "tool_ready", effect: tool },
  tool_notified: {
    type: "tool_notified",
    effect: tool,
    notification: {
      type: "progress",
      origin: "https://a",
      progress: 1,
      total: 2,
      message: "reads",
    },
  },
  tool_settled: {
    type: "tool_settled",
    effect: tool,
    outcome: "unknown",
    message: "lost",
    accesses: [{ operation: "read", path: "/workspace/a", refused: null }],
  },
  tools_listed: {
    type: "tools_listed",
    agent: 0,
    servers: [listing("s", [])],
  },
  effect_interrupted: { type: "effect_interrupted", effect: call },
  clock: { type: "clock" },
};

describe("an input", () => {
  it.each(Object.values(BODIES))(
    "$type is plain data: `structuredClone` copies it, and `decide` accepts the copy",
    (body) => {
      const world = new World({ agents: ["a"] });
      if (body.type !== "turn_requested") world.ask();
      if (body.type.startsWith("call_re") || body.type === "call_failed") world.starts("a");
      const input: Input = { ...body, at: START + 1, seed: 1 };
      const copy = structuredClone(input);
      expect(copy).toStrictEqual(input);
      expect(decide(world.state, copy, EMPTY_WORLD)).toEqual(
        decide(world.state, input, EMPTY_WORLD),
      );
    },
  );
});

describe("a world", () => {
  it("is read at most once for each fact within one `decide`", () => {
    const world = new World({ agents: ["a", "b"], every: { workspace: true } });
    world.ask();
    world.starts("a");
    const reads: string[] = [];
    const steps = decide(
      world.state,
      { type: "cancel_requested", at: START + 1, seed: 1 },
      {
        partial: (agent) => `${reads.push(`partial ${agent}`)}`,
        workspace: (agent) => ({ files: reads.push(`workspace ${agent}`), changed: true }),
        usage: (id) => ({ ...usage, output_tokens: reads.push(id) }),
      },
    );
    expect(reads).toEqual(expect.arrayContaining(["partial 0", call]));
    expect(new Set(reads).size).toBe(reads.length);
    expect(steps.at(-1)?.event.type).toBe("turn.cancelled");
  });

  it("is not read before a turn runs", () => {
    const neverRead = () => {
      throw new Error("the world was read");
    };
    const world = { partial: neverRead, workspace: neverRead, usage: neverRead };
    const input: Input = { ...BODIES.turn_requested, at: START, seed: 1 };
    expect(decide(emptySession, input, world)).not.toEqual([]);
  });
});
