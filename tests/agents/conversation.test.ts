import { describe, expect, it } from "vitest";
import { inputTokenBound, toMessages, toRequest } from "../../src/agents/conversation";
import type { CallRecord } from "../../src/agents/records";
import type { ModelRequest } from "../../src/providers/provider";
import { call, teamOf } from "./team-run";

const start: CallRecord = { kind: "start", system: "S", user: "U" };
const reply = (...items: Extract<CallRecord, { kind: "reply" }>["items"]): CallRecord => ({ kind: "reply", items });
const result = (toolCall: string, text: string): CallRecord => ({ kind: "result", toolCall, name: "t", text, isError: false });
const note = (text: string): CallRecord => ({ kind: "note", text });
const brief = (records: CallRecord[]) =>
  toMessages(records).messages.map((message) => (message.role === "assistant" ? "assistant" : `${message.role} ${message.text}`));

describe("a conversation", () => {
  it.each<{ name: string; records: CallRecord[]; want: string[] }>([
    { name: "begins with the round's message", records: [start], want: ["user U"] },
    {
      name: "gives results in the order of the calls, not of their arrival",
      records: [start, reply(call("t", {}, "a"), call("t", {}, "b")), result("b", "B"), result("a", "A")],
      want: ["user U", "assistant", "tool A", "tool B"],
    },
    {
      name: "puts results before what is said after them, whichever came first",
      records: [start, reply(call("t", {}, "a")), note("N"), result("a", "A")],
      want: ["user U", "assistant", "tool A", "user N"],
    },
    {
      name: "says several things in one message",
      records: [start, reply({ type: "text", text: "x" }), note("N"), note("M")],
      want: ["user U", "assistant", "user N\n\nM"],
    },
    {
      name: "leaves out a reply that said nothing, and goes on in the message before it",
      records: [start, reply(), note("N"), reply({ type: "text", text: " \n" }), note("M")],
      want: ["user U\n\nN\n\nM"],
    },
    {
      name: "leaves out a reply that only reasoned",
      records: [start, reply({ type: "reasoning", text: "hm", opaque: "sig" }), note("N")],
      want: ["user U\n\nN"],
    },
    {
      name: "goes on after results in one message, whatever silence lies between",
      records: [start, reply(call("t", {}, "a")), result("a", "A"), note("N"), reply(), note("M")],
      want: ["user U", "assistant", "tool A", "user N\n\nM"],
    },
    {
      name: "begins a message after a reply that said something, after one that did not",
      records: [start, reply(), note("N"), reply({ type: "text", text: "x" }), note("M")],
      want: ["user U\n\nN", "assistant", "user M"],
    },
    {
      name: "calls the last vote without a result recorded, earlier ones superseded",
      records: [start, reply(call("vote", {}, "a"), call("vote", {}, "b")), note("N")],
      want: [
        "user U",
        "assistant",
        "tool Not counted: your later vote in the same reply takes its place.",
        "tool Your vote was recorded.",
        "user N",
      ],
    },
    {
      name: "says of any other call without a result that it was not executed",
      records: [start, reply(call("t", {}, "a"))],
      want: ["user U", "assistant", "tool Not executed."],
    },
    {
      name: "takes the first of two results, and none without a call",
      records: [start, reply(call("t", {}, "a")), result("a", "A"), result("a", "again"), result("z", "Z")],
      want: ["user U", "assistant", "tool A"],
    },
    {
      name: "keeps results of different replies apart",
      records: [start, reply(call("t", {}, "a")), result("a", "A"), reply(call("t", {}, "b")), result("b", "B"), note("N")],
      want: ["user U", "assistant", "tool A", "assistant", "tool B", "user N"],
    },
  ])("$name", ({ records, want }) => {
    expect(brief(records)).toEqual(want);
  });

  it("cannot be made of records without a start", () => {
    expect(() => toMessages([note("N")])).toThrow("begin with its start");
  });
});

const [agent] = teamOf(["a"]).agents;
const ownTool = { name: "read_file", description: "Reads.", parameters: { type: "object" } };

function requestFor(offers: string[], forced = false): ModelRequest {
  if (!agent) throw new Error("no agent");
  return toRequest({ records: [start], agent, aliases: ["agent1"], offers, forced, maxOutputTokens: 99, ownTools: [ownTool] });
}

describe("a request", () => {
  it.each([
    { offers: ["new_answer"], want: ["read_file", "new_answer"] },
    { offers: ["new_answer", "vote"], want: ["read_file", "new_answer", "vote"] },
    { offers: ["vote"], want: ["read_file", "vote"] },
    { offers: [], want: ["read_file"] },
    { offers: ["submit", "restart_orchestration"], want: ["submit", "restart_orchestration"] },
    { offers: ["assign_personas"], want: ["assign_personas"] },
  ])("with the offers $offers has the tools $want", ({ offers, want }) => {
    expect(requestFor(offers).tools.map(({ name }) => name)).toEqual(want);
  });

  it("takes model, parameters, output cap and force from where they belong", () => {
    expect(requestFor(["vote"], true)).toMatchObject({
      system: "S",
      model: "model-a",
      params: { temperature: 0.2 },
      maxOutputTokens: 99,
      toolChoice: "required",
    });
    expect(requestFor(["vote"]).toolChoice).toBe("auto");
  });
});

describe("the bound on a request's input tokens", () => {
  const base = requestFor([]);
  const grown = (change: Partial<ModelRequest>) => inputTokenBound({ ...base, ...change }) - inputTokenBound(base);
  const withItems = (...items: Parameters<typeof reply>) => ({
    messages: [...base.messages, { role: "assistant" as const, items }],
  });

  it.each([
    { name: "the system prompt", by: grown({ system: `S${"ä".repeat(500)}` }), least: 1000 },
    { name: "a user message", by: grown({ messages: [...base.messages, { role: "user", text: "€".repeat(100) }] }), least: 300 },
    {
      name: "a tool result",
      by: grown({
        messages: [...base.messages, { role: "tool", toolCallId: "i", name: "n", text: "x".repeat(100), isError: false }],
      }),
      least: 102,
    },
    { name: "an earlier text", by: grown(withItems({ type: "text", text: "x".repeat(100) })), least: 100 },
    {
      name: "earlier reasoning and its signature",
      by: grown(withItems({ type: "reasoning", text: "x".repeat(100), opaque: "y".repeat(100) })),
      least: 200,
    },
    { name: "an earlier call's arguments", by: grown(withItems(call("t", "x".repeat(100)))), least: 100 },
    {
      name: "the config's parameters",
      by: grown({ params: { ...base.params, extra_body: { prompt: "ä".repeat(50) } } }),
      least: 100,
    },
    { name: "a tool's schema", by: grown({ tools: [ownTool, { ...ownTool, description: "x".repeat(100) }] }), least: 100 },
  ])("grows with $name by all its bytes, and not by much more", ({ by, least }) => {
    expect(by).toBeGreaterThanOrEqual(least);
    expect(by).toBeLessThan(least + 150);
  });

  it("takes a few milliseconds for the largest conversation", () => {
    const messages = Array.from({ length: 100 }, () => ({ role: "user" as const, text: "x".repeat(10_000) }));
    inputTokenBound({ ...base, messages });
    const before = performance.now();
    inputTokenBound({ ...base, messages });
    expect(performance.now() - before).toBeLessThan(50);
  });
});
