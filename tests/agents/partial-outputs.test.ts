import { describe, expect, it } from "vitest";
import { PartialOutputs, type PiecePosition } from "../../src/agents/partial-outputs";
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

type Piece = PiecePosition & { text: string };
const IDS = ["a", "b"];

/** A piece of the first call of the first agent. `changes` sets other fields. */
const piece = (text: string, changes: Partial<PiecePosition> = {}): Piece => ({
  agent: "a",
  round: 1,
  call: "call_1_1_1_1_1_1",
  kind: "text",
  text,
  ...changes,
});
const argumentsPiece = (text: string, changes: Partial<PiecePosition> = {}) =>
  piece(text, { kind: "tool_arguments", name: "new_answer", ...changes });
const inCall = (number: number) => ({ call: `call_1_1_1_1_${number}_1` });

const step = (state: SessionState, body: InputBody) =>
  stateAfter(state, decide(state, { ...body, at: state.lastAt + 1, seed: 1 }, EMPTY_WORLD));

function startedTurn(rules: Parameters<typeof teamOf>[1] = {}): SessionState {
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

/** The state after the first agent has given its first answer. */
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

/** The partial texts by agent index; agents without one are omitted. */
const partialsIn = (texts: PartialOutputs, state: SessionState): Record<number, string> =>
  Object.fromEntries(
    IDS.flatMap((_, index) => {
      const text = texts.partial(state, index);
      return text === null ? [] : [[index, text]];
    }),
  );

describe("the partial text of an agent without an answer", () => {
  it.each<{ name: string; pieces: Piece[]; expected: Record<number, string> }>([
    { name: "does not exist before the first piece", pieces: [], expected: {} },
    {
      name: "is the decoded content of its unfinished answer",
      pieces: [argumentsPiece('{"content":"It '), argumentsPiece("is \\u00"), argumentsPiece("e4")],
      expected: { 0: "It is ä" },
    },
    {
      name: "is the content even if other text is longer",
      pieces: [piece("Let me think about it."), argumentsPiece('{"content":"It')],
      expected: { 0: "It" },
    },
    {
      name: "is its text if there is no content yet",
      pieces: [piece("Let me "), piece("think."), argumentsPiece('{"cont')],
      expected: { 0: "Let me think." },
    },
    {
      name: "is its longest content, even if the last one is shorter",
      pieces: [argumentsPiece('{"content":"It is so'), argumentsPiece('{"content":"It', inCall(2))],
      expected: { 0: "It is so" },
    },
    {
      name: "is its longest text, even if the last one is shorter",
      pieces: [piece("long text"), piece("short", inCall(2))],
      expected: { 0: "long text" },
    },
    {
      name: "is the longest text of three calls",
      pieces: [piece("long text"), piece("short", inCall(2)), piece("shorts", inCall(3))],
      expected: { 0: "long text" },
    },
    {
      name: "does not join texts of different calls",
      pieces: [piece("abc"), piece("defg", inCall(2))],
      expected: { 0: "defg" },
    },
    {
      name: "is never reasoning",
      pieces: [piece("thinking aloud", { kind: "reasoning" })],
      expected: {},
    },
    {
      name: "is never another tool's argument",
      pieces: [argumentsPiece('{"content":"file text"', { name: "write_file" })],
      expected: {},
    },
    {
      name: "is separate for each agent",
      pieces: [piece("A"), piece("B", { agent: "b" })],
      expected: { 0: "A", 1: "B" },
    },
    {
      name: "may be from an earlier round of the attempt",
      pieces: [piece("first round"), piece("next", { round: 2, ...inCall(1) })],
      expected: { 0: "first round" },
    },
    {
      name: "does not include texts of an earlier attempt",
      pieces: [
        piece("old", { call: "call_1_1_1_1_1_1" }),
        piece("new", { call: "call_1_2_1_1_1_1" }),
      ],
      expected: {},
    },
    {
      name: "does not change when a late piece of an earlier turn arrives",
      pieces: [piece("now"), piece("late", { call: "call_0_9_1_1_1_1" })],
      expected: { 0: "now" },
    },
  ])("$name", ({ pieces, expected }) => {
    expect(partialsOf(startedTurn(), pieces)).toEqual(expected);
  });

  it("has at most 128 KB", () => {
    const pieces = Array.from({ length: 300 }, () => piece("x".repeat(1024)));
    expect(partialsOf(startedTurn(), pieces)[0]).toHaveLength(128 * 1024);
  });

  it("does not include text of the persona generator", () => {
    const personas = {
      diversityMode: "perspective" as const,
      guidelines: null,
      afterFirstAnswer: "drop" as const,
    };
    const state = startedTurn({ rules: { personas: true }, team: { personas } });
    expect(
      partialsOf(state, [piece("Personas are hard."), piece("My view", { round: 2 })]),
    ).toEqual({ 0: "My view" });
  });

  it("no longer counts after the agent's answer, except its final text, until the next attempt", () => {
    const texts = new PartialOutputs();
    const add = ({ text, ...source }: Piece) => texts.add(source, text);
    const partials = (state = startedTurn()) => partialsIn(texts, state);
    add(argumentsPiece('{"content":"It'));
    add(piece("B", { agent: "b" }));
    texts.answered("a");
    expect(partials()).toEqual({ 0: "", 1: "B" });
    add(argumentsPiece('{"content":"It is better', inCall(2)));
    add(piece("The end", { kind: "final", ...inCall(3) }));
    expect(partials()).toEqual({ 0: "", 1: "B" });
    expect(partials(startedTurn({ rules: { skip_coordination: true } }))).toMatchObject({
      0: "The end",
    });
    add(argumentsPiece('{"content":"Anew', { call: "call_1_2_1_1_1_1" }));
    expect(partials(inAttempt(2, startedTurn()))).toEqual({ 0: "Anew" });
  });

  it("is `null` as soon as the state has an answer of the agent", () => {
    expect(
      partialsOf(firstAnswer(startedTurn()), [piece("A"), piece("B", { agent: "b" })]),
    ).toEqual({
      1: "B",
    });
  });

  it("is found with the call ids that the rules give", () => {
    const call = owed(startedTurn())[0]?.id ?? "";
    expect(partialsOf(startedTurn(), [piece("A", { call })])).toEqual({ 0: "A" });
  });
});

describe("the partial text of a presenter", () => {
  it("is its final text, not its earlier text", () => {
    const state = startedTurn({ rules: { skip_coordination: true } });
    expect(partialsOf(state, [piece("Hm."), piece("The end", { kind: "final" })])).toEqual({
      0: "The end",
    });
  });
});

describe("partial texts", () => {
  it("are the same from small and from large pieces, as after a restart", () => {
    const raw = JSON.stringify({ content: 'Zwölf \ud83d\ude00 \\ "gute" Gründe\n' });
    const small = [...raw].map((char) => argumentsPiece(char));
    const large = raw.match(/[\s\S]{1,7}/g)?.map((part) => argumentsPiece(part)) ?? [];
    expect(partialsOf(startedTurn(), small)).toEqual(partialsOf(startedTurn(), large));
  });

  it("are decoded only once if they are read many times", () => {
    const texts = new PartialOutputs();
    const { text, ...source } = argumentsPiece(`{"content":"${"\\nx".repeat(40_000)}`);
    texts.add(source, text);
    const state = startedTurn();
    const before = cpuMs();
    for (let n = 0; n < 2_000; n += 1) expect(texts.partial(state, 0)?.length).toBe(80_000);
    expect(cpuMs() - before).toBeLessThan(500);
  });
});
