import { describe, expect, it } from "vitest";
import {
  inputTokenBound,
  toMessages,
  toRequest,
  willContinue,
} from "../../src/agents/conversation";
import { toSummaryRequest } from "../../src/agents/compaction";
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
const messageLines = (records: CallRecord[]) =>
  toMessages(records).messages.map((message) =>
    message.role === "assistant" ? "assistant" : `${message.role} ${message.text}`,
  );

describe("the history of a conversation", () => {
  const history = ["one\n\n", "two\n\n"];
  const begun: CallRecord = { kind: "start", system: "S", history, user: "U" };

  it("begins the first message, also after a note was appended to it", () => {
    expect(toMessages([begun, note("N")]).messages).toEqual([
      { role: "user", history, text: "U\n\nN" },
    ]);
  });

  it("counts in the bound of the input tokens as if it were part of the text", () => {
    const boundOf = (record: CallRecord) =>
      inputTokenBound({ ...requestFor([]), ...toMessages([record]) });
    const asText: CallRecord = { kind: "start", system: "S", user: `${history.join("")}U` };
    expect(boundOf(begun)).toBeGreaterThanOrEqual(boundOf(asText));
  });

  it("is part of the task when the conversation is summed up", () => {
    const records = [begun, reply({ type: "text", text: "x" })];
    const plan = { keepFrom: 2, keepsNotes: true };
    const { user } = toSummaryRequest(records, plan, {
      ...{ contextWindow: 10_000, calibration: 1, nonce: "n1" },
    });
    expect(user).toContain("one\n\ntwo\n\nU");
  });
});

describe("a conversation", () => {
  it.each<{ name: string; records: CallRecord[]; expected: string[] }>([
    { name: "starts with the round's message", records: [start], expected: ["user U"] },
    {
      name: "has results in the order of the calls, not in the order of their arrival",
      records: [
        start,
        reply(call("t", {}, "a"), call("t", {}, "b")),
        result("b", "B"),
        result("a", "A"),
      ],
      expected: ["user U", "assistant", "tool A", "tool B"],
    },
    {
      name: "has results before notes, even if a note arrived first",
      records: [start, reply(call("t", {}, "a")), note("N"), result("a", "A")],
      expected: ["user U", "assistant", "tool A", "user N"],
    },
    {
      name: "joins several notes in one message",
      records: [start, reply({ type: "text", text: "x" }), note("N"), note("M")],
      expected: ["user U", "assistant", "user N\n\nM"],
    },
    {
      name: "omits an empty reply and appends the next note to the message before it",
      records: [start, reply(), note("N"), reply({ type: "text", text: " \n" }), note("M")],
      expected: ["user U\n\nN\n\nM"],
    },
    {
      name: "omits a reply that contains only reasoning",
      records: [start, reply({ type: "reasoning", text: "hm", opaque: "sig" }), note("N")],
      expected: ["user U\n\nN"],
    },
    {
      name: "joins the notes after results in one message if only empty replies are between them",
      records: [start, reply(call("t", {}, "a")), result("a", "A"), note("N"), reply(), note("M")],
      expected: ["user U", "assistant", "tool A", "user N\n\nM"],
    },
    {
      name: "starts a new user message after a reply with text, even if an empty reply came before",
      records: [start, reply(), note("N"), reply({ type: "text", text: "x" }), note("M")],
      expected: ["user U\n\nN", "assistant", "user M"],
    },
    {
      name: "marks the last vote without a result as recorded, and earlier ones as superseded",
      records: [start, reply(call("vote", {}, "a"), call("vote", {}, "b")), note("N")],
      expected: [
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
      expected: ["user U", "assistant", "tool Not executed."],
    },
    {
      name: "uses only the first result of a call, and ignores results without a call",
      records: [
        start,
        reply(call("t", {}, "a")),
        result("a", "A"),
        result("a", "again"),
        result("z", "Z"),
      ],
      expected: ["user U", "assistant", "tool A"],
    },
    {
      name: "has each result after its own reply",
      records: [
        start,
        reply(call("t", {}, "a")),
        result("a", "A"),
        reply(call("t", {}, "b")),
        result("b", "B"),
        note("N"),
      ],
      expected: ["user U", "assistant", "tool A", "assistant", "tool B", "user N"],
    },
  ])("$name", ({ records, expected }) => {
    expect(messageLines(records)).toEqual(expected);
  });

  it.each<{ name: string; items: ReplyItem[]; sent: boolean }>([
    {
      name: "if a tool call follows",
      items: [hosted("found"), call("t", {}, "a"), hosted("more")],
      sent: true,
    },
    {
      name: "if text follows",
      items: [hosted("found"), { type: "text", text: "So." }],
      sent: true,
    },
    { name: "but not if the reply ends with it", items: [hosted("found")], sent: false },
    {
      name: "but not if only reasoning follows",
      items: [{ type: "reasoning", text: "hm" }, hosted("found"), { type: "text", text: "\n" }],
      sent: false,
    },
  ])("sends a hosted item back unchanged and in its place, $name", ({ items, sent }) => {
    const { messages } = toMessages([start, reply(...items), note("N")]);
    const assistantItems = messages.flatMap((message) =>
      message.role === "assistant" ? [message.items] : [],
    );
    expect(assistantItems).toEqual(sent ? [items] : []);
  });

  it("throws if the records do not begin with a start", () => {
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
    { offers: ["new_answer"], expected: ["read_file", "new_answer"] },
    { offers: ["new_answer", "vote"], expected: ["read_file", "new_answer", "vote"] },
    { offers: ["vote"], expected: ["read_file", "vote"] },
    { offers: [], expected: ["read_file"] },
    { offers: ["submit", "restart_orchestration"], expected: ["submit", "restart_orchestration"] },
    { offers: ["assign_personas"], expected: ["assign_personas"] },
  ])("with the offers $offers has the tools $expected", ({ offers, expected }) => {
    expect(requestFor(offers).tools.map(({ name }) => name)).toEqual(expected);
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
    { offers: ["new_answer", "vote"], expected: hostedTools },
    { offers: [], expected: hostedTools },
    { offers: ["submit", "restart_orchestration"], expected: [] },
    { offers: ["assign_personas"], expected: [] },
  ])("with the offers $offers may use the hosted tools $expected", ({ offers, expected }) => {
    expect(requestFor(offers).hostedTools).toEqual(expected);
  });
});

describe("a conversation is expected to continue soon", () => {
  const first = { offers: ["new_answer"], usesTools: false, hasReplied: false };
  it.each([
    { name: "but not if it only asks for an answer", signs: first, expected: false },
    { name: "if the agent has tools", signs: { ...first, usesTools: true }, expected: true },
    { name: "if it already has a reply", signs: { ...first, hasReplied: true }, expected: true },
    {
      name: "if a vote may be stale",
      signs: { ...first, offers: ["new_answer", "vote"] },
      expected: true,
    },
    {
      name: "but not for a final text without tools",
      signs: { ...first, offers: [] },
      expected: false,
    },
    {
      name: "for a final text with tools",
      signs: { offers: [], usesTools: true, hasReplied: false },
      expected: true,
    },
    {
      name: "but never for a verdict",
      signs: { offers: ["submit", "restart_orchestration"], usesTools: true, hasReplied: true },
      expected: false,
    },
    {
      name: "but never for personas",
      signs: { offers: ["assign_personas"], usesTools: true, hasReplied: true },
      expected: false,
    },
  ])("$name", ({ signs, expected }) => {
    expect(willContinue(signs)).toBe(expected);
  });

  it("according to the tools of the request itself", () => {
    expect(
      [requestFor(["new_answer"]), requestFor(["submit"])].map(({ continues }) => continues),
    ).toEqual([true, false]);
  });
});

describe("the bound on a request's input tokens", () => {
  const base = requestFor([]);
  const growth = (change: Partial<ModelRequest>) =>
    inputTokenBound({ ...base, ...change }) - inputTokenBound(base);
  const withItems = (...items: Parameters<typeof reply>) => ({
    messages: [...base.messages, { role: "assistant" as const, items }],
  });

  it.each([
    {
      name: "the system prompt",
      added: growth({ system: `S${"ä".repeat(500)}` }),
      textBytes: 1000,
    },
    {
      name: "a user message",
      added: growth({ messages: [...base.messages, { role: "user", text: "€".repeat(100) }] }),
      textBytes: 300,
    },
    {
      name: "a tool result",
      added: growth({
        messages: [
          ...base.messages,
          { role: "tool", toolCallId: "i", name: "n", text: "x".repeat(100), isError: false },
        ],
      }),
      textBytes: 102,
    },
    {
      name: "an earlier text",
      added: growth(withItems({ type: "text", text: "x".repeat(100) })),
      textBytes: 100,
    },
    {
      name: "earlier reasoning and its signature",
      added: growth(
        withItems({ type: "reasoning", text: "x".repeat(100), opaque: "y".repeat(100) }),
      ),
      textBytes: 200,
    },
    {
      name: "an earlier search and its results",
      added: growth(withItems(hosted("x".repeat(100)))),
      textBytes: 100,
    },
    { name: "a hosted tool", added: -growth({ hostedTools: [] }), textBytes: 1_024 },
    {
      name: "an earlier call's arguments",
      added: growth(withItems(call("t", "x".repeat(100)))),
      textBytes: 100,
    },
    {
      name: "the config's parameters",
      added: growth({ params: { ...base.params, extra_body: { prompt: "ä".repeat(50) } } }),
      textBytes: 100,
    },
    {
      name: "a tool's schema",
      added: growth({ tools: [ownTool, { ...ownTool, description: "x".repeat(100) }] }),
      textBytes: 100,
    },
  ])(
    "grows with $name by at least its bytes and at most 150 tokens more",
    ({ added, textBytes }) => {
      expect(added).toBeGreaterThanOrEqual(textBytes);
      expect(added).toBeLessThan(textBytes + 150);
    },
  );

  it("is computed in a few milliseconds for a very long conversation", () => {
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
