import { describe, expect, it } from "vitest";
import {
  inputTokenBound,
  toMessages,
  toRequest,
  willContinue,
} from "../../src/agents/conversation";
import type { CallRecord } from "../../src/agents/records";
import type { ModelRequest, ReplyItem } from "../../src/providers/provider";
import { call, teamOf } from "./team-run";
import { cpuMs } from "../fakes/cpu-time";

const start: CallRecord = { kind: "start", system: "S", user: "U" };
const reply = (...items: Extract<CallRecord, { kind: "reply" }>["items"]): CallRecord => ({
  kind: "reply",
  items,
});
const result = (toolCall: string, text: string): CallRecord => ({
  kind: "result",
  toolCall,
  name: "t",
  text,
  isError: false,
});
const note = (text: string): CallRecord => ({ kind: "note", text });
const hosted = (opaque: unknown): ReplyItem => ({ type: "hosted", name: "web_search", opaque });
const brief = (records: CallRecord[]) =>
  toMessages(records).messages.map((message) =>
    message.role === "assistant" ? "assistant" : `${message.role} ${message.text}`,
  );

describe("a conversation", () => {
  it.each<{ name: string; records: CallRecord[]; want: string[] }>([
    { name: "starts with the round's message", records: [start], want: ["user U"] },
    {
      name: "has results in the order of the calls, not of their arrival",
      records: [
        start,
        reply(call("t", {}, "a"), call("t", {}, "b")),
        result("b", "B"),
        result("a", "A"),
      ],
      want: ["user U", "assistant", "tool A", "tool B"],
    },
    {
      name: "puts results before notes, whichever arrived first",
      records: [start, reply(call("t", {}, "a")), note("N"), result("a", "A")],
      want: ["user U", "assistant", "tool A", "user N"],
    },
    {
      name: "joins several notes in one message",
      records: [start, reply({ type: "text", text: "x" }), note("N"), note("M")],
      want: ["user U", "assistant", "user N\n\nM"],
    },
    {
      name: "leaves out an empty reply and continues the message before it",
      records: [start, reply(), note("N"), reply({ type: "text", text: " \n" }), note("M")],
      want: ["user U\n\nN\n\nM"],
    },
    {
      name: "leaves out a reply that only reasoned",
      records: [start, reply({ type: "reasoning", text: "hm", opaque: "sig" }), note("N")],
      want: ["user U\n\nN"],
    },
    {
      name: "joins the notes after results in one message if only empty replies are between them",
      records: [start, reply(call("t", {}, "a")), result("a", "A"), note("N"), reply(), note("M")],
      want: ["user U", "assistant", "tool A", "user N\n\nM"],
    },
    {
      name: "starts a message after a reply with text that follows an empty one",
      records: [start, reply(), note("N"), reply({ type: "text", text: "x" }), note("M")],
      want: ["user U\n\nN", "assistant", "user M"],
    },
    {
      name: "marks the last vote without a result as recorded, and earlier ones as superseded",
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
      name: "marks any other call without a result as not executed",
      records: [start, reply(call("t", {}, "a"))],
      want: ["user U", "assistant", "tool Not executed."],
    },
    {
      name: "uses the first of two results, and no result without a call",
      records: [
        start,
        reply(call("t", {}, "a")),
        result("a", "A"),
        result("a", "again"),
        result("z", "Z"),
      ],
      want: ["user U", "assistant", "tool A"],
    },
    {
      name: "keeps results of different replies apart",
      records: [
        start,
        reply(call("t", {}, "a")),
        result("a", "A"),
        reply(call("t", {}, "b")),
        result("b", "B"),
        note("N"),
      ],
      want: ["user U", "assistant", "tool A", "assistant", "tool B", "user N"],
    },
  ])("$name", ({ records, want }) => {
    expect(brief(records)).toEqual(want);
  });

  it.each<{ name: string; items: ReplyItem[]; sent: boolean }>([
    {
      name: "with the tool call after it",
      items: [hosted("found"), call("t", {}, "a"), hosted("more")],
      sent: true,
    },
    {
      name: "with the text after it",
      items: [hosted("found"), { type: "text", text: "So." }],
      sent: true,
    },
    { name: "but not if the reply ends with it", items: [hosted("found")], sent: false },
    {
      name: "but not if only reasoning follows",
      items: [{ type: "reasoning", text: "hm" }, hosted("found"), { type: "text", text: "\n" }],
      sent: false,
    },
  ])(
    "sends the result of a hosted tool back unchanged and in its place, $name",
    ({ items, sent }) => {
      const { messages } = toMessages([start, reply(...items), note("N")]);
      const said = messages.flatMap((message) =>
        message.role === "assistant" ? [message.items] : [],
      );
      expect(said).toEqual(sent ? [items] : []);
    },
  );

  it("needs records with a start", () => {
    expect(() => toMessages([note("N")])).toThrow("begin with its start");
  });
});

const [agent] = teamOf(["a"]).agents;
const ownTool = { name: "read_file", description: "Reads.", parameters: { type: "object" } };

const hostedTools = [{ name: "web_search", maxUses: 2 }] as const;

function requestFor(offers: string[], forced = false): ModelRequest {
  if (!agent) throw new Error("no agent");
  const parts = { records: [start], agent, aliases: ["agent1"], ownTools: [ownTool], hostedTools };
  return toRequest({ ...parts, offers, forced, maxOutputTokens: 99 });
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

  it("has model, parameters, output cap and forced tools of the team and the call", () => {
    expect(requestFor(["vote"], true)).toMatchObject({
      system: "S",
      model: "model-a",
      params: { temperature: 0.2 },
      maxOutputTokens: 99,
      toolChoice: "required",
    });
    expect(requestFor(["vote"]).toolChoice).toBe("auto");
  });

  it.each([
    { offers: ["new_answer", "vote"], want: hostedTools },
    { offers: [], want: hostedTools },
    { offers: ["submit", "restart_orchestration"], want: [] },
    { offers: ["assign_personas"], want: [] },
  ])("with the offers $offers may use the hosted tools $want", ({ offers, want }) => {
    expect(requestFor(offers).hostedTools).toEqual(want);
  });
});

describe("a conversation is expected to continue soon", () => {
  const first = { offers: ["new_answer"], usesTools: false, hasReplied: false };
  it.each([
    { name: "but not if only one answer is asked for", prospects: first, want: false },
    { name: "if the agent has tools", prospects: { ...first, usesTools: true }, want: true },
    { name: "if it has continued before", prospects: { ...first, hasReplied: true }, want: true },
    {
      name: "if a vote may be stale",
      prospects: { ...first, offers: ["new_answer", "vote"] },
      want: true,
    },
    {
      name: "but not for a final text without tools",
      prospects: { ...first, offers: [] },
      want: false,
    },
    {
      name: "for a final text with tools",
      prospects: { offers: [], usesTools: true, hasReplied: false },
      want: true,
    },
    {
      name: "but never for a verdict",
      prospects: { offers: ["submit", "restart_orchestration"], usesTools: true, hasReplied: true },
      want: false,
    },
    {
      name: "but never for personas",
      prospects: { offers: ["assign_personas"], usesTools: true, hasReplied: true },
      want: false,
    },
  ])("$name", ({ prospects, want }) => {
    expect(willContinue(prospects)).toBe(want);
  });

  it("according to the tools of the request itself", () => {
    expect(
      [requestFor(["new_answer"]), requestFor(["submit"])].map(({ continues }) => continues),
    ).toEqual([true, false]);
  });
});

describe("the bound on a request's input tokens", () => {
  const base = requestFor([]);
  const grown = (change: Partial<ModelRequest>) =>
    inputTokenBound({ ...base, ...change }) - inputTokenBound(base);
  const withItems = (...items: Parameters<typeof reply>) => ({
    messages: [...base.messages, { role: "assistant" as const, items }],
  });

  it.each([
    { name: "the system prompt", by: grown({ system: `S${"ä".repeat(500)}` }), least: 1000 },
    {
      name: "a user message",
      by: grown({ messages: [...base.messages, { role: "user", text: "€".repeat(100) }] }),
      least: 300,
    },
    {
      name: "a tool result",
      by: grown({
        messages: [
          ...base.messages,
          { role: "tool", toolCallId: "i", name: "n", text: "x".repeat(100), isError: false },
        ],
      }),
      least: 102,
    },
    {
      name: "an earlier text",
      by: grown(withItems({ type: "text", text: "x".repeat(100) })),
      least: 100,
    },
    {
      name: "earlier reasoning and its signature",
      by: grown(withItems({ type: "reasoning", text: "x".repeat(100), opaque: "y".repeat(100) })),
      least: 200,
    },
    {
      name: "an earlier search and its results",
      by: grown(withItems(hosted("x".repeat(100)))),
      least: 100,
    },
    { name: "a hosted tool", by: -grown({ hostedTools: [] }), least: 1_024 },
    {
      name: "an earlier call's arguments",
      by: grown(withItems(call("t", "x".repeat(100)))),
      least: 100,
    },
    {
      name: "the config's parameters",
      by: grown({ params: { ...base.params, extra_body: { prompt: "ä".repeat(50) } } }),
      least: 100,
    },
    {
      name: "a tool's schema",
      by: grown({ tools: [ownTool, { ...ownTool, description: "x".repeat(100) }] }),
      least: 100,
    },
  ])("grows with $name by all its bytes and little more", ({ by, least }) => {
    expect(by).toBeGreaterThanOrEqual(least);
    expect(by).toBeLessThan(least + 150);
  });

  it("takes a few milliseconds for the largest conversation", () => {
    const messages = Array.from({ length: 100 }, () => ({
      role: "user" as const,
      text: "x".repeat(10_000),
    }));
    inputTokenBound({ ...base, messages });
    const before = cpuMs();
    inputTokenBound({ ...base, messages });
    expect(cpuMs() - before).toBeLessThan(50);
  });
});
