import { describe, expect, it } from "vitest";
import { PartialOutputs, type WrittenPiece } from "../../src/agents/partial-outputs";
import {
  decide,
  EMPTY_WORLD,
  emptySession,
  type InputBody,
  owed,
  type SessionState,
  stateAfter,
} from "../../src/coordination";
import { teamOf } from "./team-run";
import { cpuMs } from "../fakes/cpu-time";

type Piece = WrittenPiece & { text: string };
const IDS = ["a", "b"];

/** A chunk of the first call of the first agent, unless `change` says otherwise. */
const piece = (text: string, change: Partial<WrittenPiece> = {}): Piece => ({
  agent: "a",
  round: 1,
  call: "call_1_1_1_1_1_1",
  kind: "text",
  text,
  ...change,
});
const args = (text: string, change: Partial<WrittenPiece> = {}) =>
  piece(text, { kind: "tool_arguments", name: "new_answer", ...change });
const inCall = (nth: number) => ({ call: `call_1_1_1_1_${nth}_1` });

const step = (state: SessionState, body: InputBody) =>
  stateAfter(state, decide(state, { ...body, at: state.lastAt + 1, seed: 1 }, EMPTY_WORLD));

function started(rules: Parameters<typeof teamOf>[1] = {}): SessionState {
  const team = teamOf(IDS, rules);
  return step(emptySession, {
    type: "turn_requested",
    rules: team.rules,
    question: "?",
    parentTurn: null,
    budget: {},
    timeoutMs: null,
  });
}

const inAttempt = (number: number, { turn, ...rest }: SessionState): SessionState => ({
  ...rest,
  turn: turn && { ...turn, attempt: { ...turn.attempt, number } },
});

/** The first agent's call with the id that the rules give it, and its reply. */
function firstAnswer(state: SessionState): SessionState {
  const effect = owed(state)[0]?.id ?? "";
  const reply = {
    stopReason: "stop" as const,
    usage: null,
    text: "",
    tools: [],
    verdict: null,
    personas: null,
  };
  const decisions = [{ name: "new_answer" as const, tool_call: "t", content: "Mine." }];
  return step(step(state, { type: "call_ready", effect, inputTokens: 1 }), {
    type: "call_replied",
    effect,
    reply: { ...reply, decisions },
  });
}

function partialsOf(state: SessionState, pieces: Piece[]) {
  const texts = new PartialOutputs();
  for (const { text, ...source } of pieces) texts.add(source, text);
  return partialsIn(texts, state);
}

/** By agent index, for the agents that have a partial text. */
const partialsIn = (texts: PartialOutputs, state: SessionState): Record<number, string> =>
  Object.fromEntries(
    IDS.flatMap((_, index) => {
      const text = texts.partial(state, index);
      return text === null ? [] : [[index, text]];
    }),
  );

describe("the partial text of an agent without an answer", () => {
  it.each<{ name: string; pieces: Piece[]; want: Record<number, string> }>([
    { name: "is empty before the first chunk", pieces: [], want: {} },
    {
      name: "is the decoded content of its unfinished answer",
      pieces: [args('{"content":"It '), args("is \\u00"), args("e4")],
      want: { 0: "It is ä" },
    },
    {
      name: "is the content even if other text is longer",
      pieces: [piece("Let me think about it."), args('{"content":"It')],
      want: { 0: "It" },
    },
    {
      name: "is its text if there is no content yet",
      pieces: [piece("Let me "), piece("think."), args('{"cont')],
      want: { 0: "Let me think." },
    },
    {
      name: "is its longest content, not its last",
      pieces: [args('{"content":"It is so'), args('{"content":"It', inCall(2))],
      want: { 0: "It is so" },
    },
    {
      name: "is its longest text, not its last",
      pieces: [piece("long text"), piece("short", inCall(2))],
      want: { 0: "long text" },
    },
    {
      name: "is the longest of three, at any place",
      pieces: [piece("long text"), piece("short", inCall(2)), piece("shorts", inCall(3))],
      want: { 0: "long text" },
    },
    {
      name: "does not join texts of different calls",
      pieces: [piece("abc"), piece("defg", inCall(2))],
      want: { 0: "defg" },
    },
    {
      name: "is never reasoning",
      pieces: [piece("thinking aloud", { kind: "reasoning" })],
      want: {},
    },
    {
      name: "is never another tool's argument",
      pieces: [args('{"content":"file text"', { name: "write_file" })],
      want: {},
    },
    {
      name: "is separate from that of other agents",
      pieces: [piece("A"), piece("B", { agent: "b" })],
      want: { 0: "A", 1: "B" },
    },
    {
      name: "survives a failed round",
      pieces: [piece("first round"), piece("next", { round: 2, ...inCall(1) })],
      want: { 0: "first round" },
    },
    {
      name: "does not include texts of an earlier attempt",
      pieces: [
        piece("old", { call: "call_1_1_1_1_1_1" }),
        piece("new", { call: "call_1_2_1_1_1_1" }),
      ],
      want: {},
    },
    {
      name: "is kept when a late chunk of an earlier turn arrives",
      pieces: [piece("now"), piece("late", { call: "call_0_9_1_1_1_1" })],
      want: { 0: "now" },
    },
  ])("$name", ({ pieces, want }) => {
    expect(partialsOf(started(), pieces)).toEqual(want);
  });

  it("is bounded", () => {
    const pieces = Array.from({ length: 300 }, () => piece("x".repeat(1024)));
    expect(partialsOf(started(), pieces)[0]).toHaveLength(128 * 1024);
  });

  it("does not count what the generator of personas wrote", () => {
    const personas = {
      diversityMode: "perspective" as const,
      guidelines: null,
      afterFirstAnswer: "drop" as const,
    };
    const state = started({ rules: { personas: true }, team: { personas } });
    expect(
      partialsOf(state, [piece("Personas are hard."), piece("My view", { round: 2 })]),
    ).toEqual({ 0: "My view" });
  });

  it("is dropped once the agent has an answer, until the next attempt; its final text is kept", () => {
    const texts = new PartialOutputs();
    const add = ({ text, ...source }: Piece) => texts.add(source, text);
    const partials = (state = started()) => partialsIn(texts, state);
    add(args('{"content":"It'));
    add(piece("B", { agent: "b" }));
    texts.answered("a");
    expect(partials()).toEqual({ 0: "", 1: "B" });
    add(args('{"content":"It is better', inCall(2)));
    add(piece("The end", { kind: "final", ...inCall(3) }));
    expect(partials()).toEqual({ 0: "", 1: "B" });
    expect(partials(started({ rules: { skip_coordination: true } }))).toMatchObject({
      0: "The end",
    });
    add(args('{"content":"Anew', { call: "call_1_2_1_1_1_1" }));
    expect(partials(inAttempt(2, started()))).toEqual({ 0: "Anew" });
  });

  it("is dropped with the first answer", () => {
    expect(partialsOf(firstAnswer(started()), [piece("A"), piece("B", { agent: "b" })])).toEqual({
      1: "B",
    });
  });

  it("uses the ids that the rules give to calls", () => {
    const call = owed(started())[0]?.id ?? "";
    expect(partialsOf(started(), [piece("A", { call })])).toEqual({ 0: "A" });
  });
});

describe("the partial text of a presenter", () => {
  it("is its final text, not what it wrote before", () => {
    const state = started({ rules: { skip_coordination: true } });
    expect(partialsOf(state, [piece("Hm."), piece("The end", { kind: "final" })])).toEqual({
      0: "The end",
    });
  });
});

describe("partial texts", () => {
  it("are the same when read again in larger chunks, as after a restart", () => {
    const raw = JSON.stringify({ content: 'Zwölf \ud83d\ude00 \\ "gute" Gründe\n' });
    const small = [...raw].map((char) => args(char));
    const large = raw.match(/[\s\S]{1,7}/g)?.map((part) => args(part)) ?? [];
    expect(partialsOf(started(), small)).toEqual(partialsOf(started(), large));
  });

  it("are decoded once, however often they are read", () => {
    const texts = new PartialOutputs();
    const { text, ...source } = args(`{"content":"${"\\nx".repeat(40_000)}`);
    texts.add(source, text);
    const state = started();
    const before = cpuMs();
    for (let n = 0; n < 2_000; n += 1) expect(texts.partial(state, 0)?.length).toBe(80_000);
    expect(cpuMs() - before).toBeLessThan(500);
  });
});
