import { describe, expect, it } from "vitest";
import { toReply } from "../../src/agents/reply";
import { LIMITS } from "../../src/coordination";
import type { Purpose, StopReason } from "../../src/protocol/events";
import type { ReplyItem } from "../../src/providers/provider";
import { call } from "./team-run";

const usage = { input_tokens: 1, output_tokens: 2, reasoning_tokens: 0, cached_tokens: 0 };

function readReply(
  items: ReplyItem[],
  purpose: Purpose = "coordination",
  stopReason: StopReason = "tool_calls",
) {
  return toReply({ items, text: "", stopReason, usage }, { purpose, ownTools: ["read_file"] });
}
const decisionOf = (name: string, args: unknown, stopReason?: StopReason) =>
  readReply([call(name, args, "id")], "coordination", stopReason).decisions[0];
const bytes = (count: number) => "x".repeat(count);
const accepted = (content: string) => ({ name: "new_answer", tool_call: "id", content });
const invalid = (tool: string, problem: RegExp) => ({
  name: "invalid",
  tool,
  tool_call: "id",
  problem: expect.stringMatching(problem),
});

describe("the arguments of new_answer", () => {
  it.each([
    { name: "are used unchanged", args: { content: "Because." }, expected: accepted("Because.") },
    {
      name: "may have further fields",
      args: { content: "A", confidence: 1 },
      expected: accepted("A"),
    },
    {
      name: "keep line breaks and white space",
      args: '{"content":" a\\n\\n  b "}',
      expected: accepted(" a\n\n  b "),
    },
    {
      name: "may be empty text, which the rules refuse",
      args: { content: "" },
      expected: accepted(""),
    },
    {
      name: "use the last of two equal keys, as JSON does",
      args: '{"content":"a","content":"b"}',
      expected: accepted("b"),
    },
    {
      name: "have lone surrogates replaced",
      args: '{"content":"a\\ud83d"}',
      expected: accepted("a\ufffd"),
    },
    {
      name: "may have content of exactly the maximum size",
      args: { content: bytes(LIMITS.answerBytes) },
      expected: accepted(bytes(LIMITS.answerBytes)),
    },
    {
      name: "may not have content above the maximum size",
      args: { content: bytes(LIMITS.answerBytes + 1) },
      expected: invalid("new_answer", /over 128 KB/),
    },
    {
      name: "may not have content with fewer characters but too many bytes",
      args: { content: "ä".repeat(LIMITS.answerBytes / 2 + 1) },
      expected: invalid("new_answer", /over 128 KB/),
    },
    {
      name: "may not have two million characters",
      args: JSON.stringify({ content: "A", junk: bytes(2_000_000) }),
      expected: invalid("new_answer", /far too large/),
    },
    {
      name: "may not lack `content`",
      args: {},
      expected: invalid("new_answer", /`content` is missing/),
    },
    { name: "may not be empty", args: "", expected: invalid("new_answer", /`content` is missing/) },
    {
      name: "may not be white space",
      args: " \n",
      expected: invalid("new_answer", /`content` is missing/),
    },
    {
      name: "may not be null",
      args: "null",
      expected: invalid("new_answer", /must be one JSON object, not null/),
    },
    { name: "may not be a list", args: '["A"]', expected: invalid("new_answer", /not a list/) },
    { name: "may not be a string", args: '"A"', expected: invalid("new_answer", /not a string/) },
    {
      name: "may not be JSON inside a string",
      args: JSON.stringify(JSON.stringify({ content: "A" })),
      expected: invalid("new_answer", /not a string/),
    },
    {
      name: "may not be invalid JSON",
      args: '{"content":"A"',
      expected: invalid("new_answer", /not valid JSON/),
    },
    {
      name: "may not be followed by further characters",
      args: '{"content":"A"}}',
      expected: invalid("new_answer", /not valid JSON/),
    },
    {
      name: "may not have content of another type",
      args: { content: 7 },
      expected: invalid("new_answer", /must be a string, not a number/),
    },
    {
      name: "may not have content that is null",
      args: { content: null },
      expected: invalid("new_answer", /must be a string, not null/),
    },
    {
      name: "may not have `content` only in a prototype",
      args: '{"__proto__":{"content":"A"}}',
      expected: invalid("new_answer", /`content` is missing/),
    },
  ])("$name", ({ args, expected }) => {
    expect(decisionOf("new_answer", args)).toEqual(expected);
    expect(Object.hasOwn(Object.prototype, "content")).toBe(false);
  });

  it.each([
    {
      name: "that were cut at the output limit have a problem that names this limit",
      args: '{"content":"A',
      expected: /cut at its output limit/,
    },
    {
      name: "that are complete have a problem that does not name this limit",
      args: {},
      expected: /`content` is missing/,
    },
  ])("$name", ({ args, expected }) => {
    expect(decisionOf("new_answer", args, "length")).toEqual(invalid("new_answer", expected));
  });

  it("that are complete count even if the reply was cut after them", () => {
    expect(decisionOf("new_answer", { content: "A" }, "length")).toEqual(accepted("A"));
  });
});

describe("the arguments of vote", () => {
  it.each([
    {
      name: "name an alias and a reason",
      args: { agent_id: "agent2", reason: "exact" },
      expected: { name: "vote", tool_call: "id", alias: "agent2", reason: "exact" },
    },
    {
      name: "may have space around the alias",
      args: { agent_id: " agent2\n", reason: "" },
      expected: { name: "vote", tool_call: "id", alias: "agent2", reason: "" },
    },
    {
      name: "need a reason",
      args: { agent_id: "agent2" },
      expected: invalid("vote", /`reason` is missing\. Give `agent_id` and `reason`/),
    },
    {
      name: "need a short reason",
      args: { agent_id: "agent2", reason: bytes(4097) },
      expected: invalid("vote", /at most 4 KB/),
    },
    {
      name: "need an alias of at most 32 characters",
      args: { agent_id: bytes(40), reason: "" },
      expected: invalid("vote", /names no agent/),
    },
    {
      name: "need an alias as text",
      args: { agent_id: ["agent2"], reason: "" },
      expected: invalid("vote", /must be a string, not a list/),
    },
  ])("$name", ({ args, expected }) => {
    expect(decisionOf("vote", args)).toEqual(expected);
  });
});

describe("a coordination reply", () => {
  it("has separate lists of decisions and other tool calls, both in order", () => {
    const reply = readReply([
      { type: "reasoning", text: "hm" },
      call("read_file", {}, "t1"),
      { type: "text", text: "Now I vote." },
      call("vote", { agent_id: "agent1", reason: "r" }, "v"),
      call("made_up", {}, "t2"),
    ]);
    expect(reply.tools).toEqual([
      { toolCall: "t1", name: "read_file" },
      { toolCall: "t2", name: "made_up" },
    ]);
    expect(reply.decisions).toEqual([
      { name: "vote", tool_call: "v", alias: "agent1", reason: "r" },
    ]);
    expect(reply).toMatchObject({ verdict: null, personas: null, usage, stopReason: "tool_calls" });
  });

  it("never treats text as a decision", () => {
    const text =
      'vote(agent_id="agent1", reason="x") <tool_call>{"name":"new_answer","arguments":{"content":"A"}}</tool_call>';
    const reply = toReply(
      { items: [{ type: "text", text }], text, stopReason: "stop", usage: null },
      { purpose: "coordination", ownTools: [] },
    );
    expect(reply).toMatchObject({ text, tools: [], decisions: [], verdict: null, personas: null });
  });

  it("keeps only decisions that can count, so that its event stays small", () => {
    const vote = (id: string) => call("vote", { agent_id: "agent1", reason: bytes(4000) }, id);
    const answer = (id: string) => call("new_answer", { content: bytes(100_000) }, id);
    const { decisions } = readReply([vote("v1"), answer("a1"), vote("v2"), answer("a2")]);
    expect(decisions.map(({ name, tool_call }) => [name, tool_call])).toEqual([
      ["invalid", "v1"],
      ["new_answer", "a1"],
      ["vote", "v2"],
      ["invalid", "a2"],
    ]);
  });

  it("shortens tool names that were not offered", () => {
    expect(readReply([call(bytes(1_000_000), {})]).tools[0]?.name).toHaveLength(64);
  });

  it("treats coordination tools of other purposes as unknown", () => {
    expect(readReply([call("submit", { confirmed: true })])).toMatchObject({
      tools: [{ name: "submit" }],
      decisions: [],
      verdict: null,
    });
  });
});

describe("the report of hosted tools in a reply", () => {
  const use = { name: "web_search", input: "passes", outcome: "ok", output: "three" } as const;
  const citation = { url: "https://a.example/", title: "A" };
  const reply = { items: [], text: "", stopReason: "stop", usage } as const;
  const context = { purpose: "coordination", ownTools: [] } as const;

  it("is neither a decision nor a tool call of the agent", () => {
    const converted = toReply({ ...reply, hosted: [use], citations: [citation] }, context);
    expect(converted).toMatchObject({
      hosted: [use],
      citations: [citation],
      tools: [],
      decisions: [],
    });
  });

  it("is omitted if no hosted tool ran", () => {
    const converted = toReply({ ...reply, hosted: [], citations: [] }, context);
    expect([Object.hasOwn(converted, "hosted"), Object.hasOwn(converted, "citations")]).toEqual([
      false,
      false,
    ]);
  });

  it("is cut to the limits of events", () => {
    const citations = Array.from({ length: 300 }, (_, index) => ({
      ...citation,
      url: `https://a.example/${index}`,
    }));
    const converted = toReply(
      { ...reply, hosted: Array(80).fill({ ...use, output: bytes(100_000) }), citations },
      context,
    );
    expect([
      converted.hosted?.length,
      converted.hosted?.[0]?.output.length,
      converted.citations?.length,
    ]).toEqual([64, 16_000, 100]);
  });
});

describe("a presentation", () => {
  it("has tools but no decisions", () => {
    expect(readReply([call("read_file", {}), call("vote", {})], "presentation")).toMatchObject({
      tools: [{ name: "read_file" }, { name: "vote" }],
      decisions: [],
    });
  });
});

describe("a verdict", () => {
  const restart = { reason: "wrong", instructions: "redo" };
  it.each([
    { name: "submits", items: [call("submit", { confirmed: true })], expected: { restart: false } },
    {
      name: "restarts",
      items: [call("restart_orchestration", restart)],
      expected: { restart: true, ...restart },
    },
    {
      name: "is the last of several",
      items: [call("submit", { confirmed: true }), call("restart_orchestration", restart)],
      expected: { restart: true, ...restart },
    },
    {
      name: "is the last valid call",
      items: [call("restart_orchestration", restart), call("submit", "{")],
      expected: { restart: true, ...restart },
    },
    {
      name: "is missing without confirmation",
      items: [call("submit", { confirmed: false })],
      expected: null,
    },
    {
      name: "is missing without a reason",
      items: [call("restart_orchestration", { reason: " ", instructions: "redo" })],
      expected: null,
    },
    {
      name: "is missing if the model only wrote text",
      items: [{ type: "text" as const, text: "submit" }],
      expected: null,
    },
    {
      name: "is missing if another tool was called",
      items: [call("read_file", {})],
      expected: null,
    },
  ])("$name", ({ items, expected }) => {
    expect(readReply(items, "judgement")).toMatchObject({
      verdict: expected,
      tools: [],
      decisions: [],
    });
  });

  it("is cut to a size that fits into every prompt", () => {
    const { verdict } = readReply(
      [call("restart_orchestration", { reason: bytes(100_000), instructions: bytes(100_000) })],
      "judgement",
    );
    expect(JSON.stringify(verdict).length).toBeLessThan(20_000);
  });
});

describe("personas", () => {
  const doubt = { agent_id: "agent1", persona: "Doubt." };
  it.each([
    {
      name: "are keyed by alias",
      args: { personas: [doubt, { agent_id: "agent2", persona: "Trust." }] },
      expected: { agent1: "Doubt.", agent2: "Trust." },
    },
    {
      name: "omit invalid entries",
      args: { personas: [doubt, null, "x", { agent_id: 2, persona: "" }, []] },
      expected: { agent1: "Doubt." },
    },
    { name: "are missing without an entry", args: { personas: [] }, expected: null },
    {
      name: "are missing without a list",
      args: { personas: { agent1: "Doubt." } },
      expected: null,
    },
    { name: "are missing if the arguments are invalid JSON", args: "{", expected: null },
  ])("$name", ({ args, expected }) => {
    expect(readReply([call("assign_personas", args)], "personas")).toMatchObject({
      personas: expected,
      tools: [],
      decisions: [],
    });
  });

  it("cannot change a prototype", () => {
    const { personas } = readReply(
      [call("assign_personas", { personas: [{ agent_id: "__proto__", persona: "x" }, doubt] })],
      "personas",
    );
    expect(personas?.["agent1"]).toBe("Doubt.");
    expect(Object.getPrototypeOf(personas)).toBe(Object.prototype);
  });
});
