import { describe, expect, it } from "vitest";
import { type Bug, ModelWorld } from "./model-world";
import { play } from "./play";
import { playSeeds, seedsFrom } from "./play-seeds";
import { randomHistory } from "./random-history";
import { turnOf } from "./state";
import { CONVERSATION, PLAYED } from "./written-conversation";

/** Whether the comparison finds wrong services. The real service is compared in a campaign. */

const HISTORIES = 60;
const LENGTH = 25;

it(`finds nothing in ${HISTORIES} histories of a service without a bug, which have all kinds of steps`, async () => {
  const figures = await playSeeds({
    ...{ seeds: seedsFrom(1, HISTORIES), length: LENGTH, tries: 0 },
    newWorld: async () => new ModelWorld(),
  });
  expect(figures.failures).toEqual([]);
  const { turns, branches, moves, diffs, kills, queued, ...rarer } = figures;
  expect(Math.min(turns, branches, moves, diffs, kills, queued)).toBeGreaterThan(HISTORIES);
  const { interrupts, repeats, compacts, summaries, cuts } = rarer;
  expect(Math.min(interrupts, repeats, compacts, summaries)).toBeGreaterThan(HISTORIES / 6);
  expect(cuts).toBeGreaterThan(2);
});

it("finds nothing in the written conversation, which does all that it says", async () => {
  expect(await play(CONVERSATION, new ModelWorld())).toEqual(PLAYED);
});

const lastCompleted = (bug: Parameters<NonNullable<Bug["before"]>>[0]) =>
  bug.turns.findLast(({ status }) => status === "completed");

const NO_FILES = { workspace: new Map<string, string>(), context: new Map<string, string>() };

const BUGS: readonly { name: string; bug: Bug; found: string }[] = [
  {
    name: "continues the latest turn instead of the head",
    bug: { before: (state) => ({ ...state, head: state.turns.at(-1)?.number ?? null }) },
    found: "the turn",
  },
  {
    name: "forgets a moved head when it is killed",
    bug: { killed: (state) => ({ ...state, head: state.turns.at(-1)?.number ?? null }) },
    found: "the turn",
  },
  {
    name: "does not move the head",
    bug: { moved: (state) => ({ ...state, head: state.turns.at(-1)?.number ?? null }) },
    found: "the tree",
  },
  {
    name: "shows failed turns to agents",
    bug: {
      ended: (turn) => ({
        ...turn,
        read: turn.read ?? {
          ...{ id: turn.number, reply: null, isUnfinished: true, tools: [], isCut: false },
        },
      }),
    },
    found: "the turn",
  },
  {
    name: "does not show cancelled turns to agents",
    bug: { ended: (turn) => ({ ...turn, read: turn.status === "cancelled" ? null : turn.read }) },
    found: "the turn",
  },
  {
    name: "forgets the tools that a cancelled turn executed",
    bug: { ended: (turn) => ({ ...turn, read: turn.read && { ...turn.read, tools: [] } }) },
    found: "the turn",
  },
  {
    name: "begins a turn with the files of the latest completed turn of any branch",
    bug: {
      before: (state) => {
        const end = lastCompleted(state)?.end;
        return end ? { ...state, turns: state.turns.map((turn) => ({ ...turn, end })) } : state;
      },
    },
    found: "its files",
  },
  {
    name: "takes over files of cancelled turns",
    bug: {
      ended: (turn, presented) =>
        turn.status === "cancelled" ? { ...turn, end: presented } : turn,
    },
    found: "its files",
  },
  {
    name: "loses what the team changed in the context",
    bug: {
      before: (state) => ({
        ...state,
        turns: state.turns.map((turn) => ({
          ...turn,
          end: { ...turn.end, context: turn.uploaded },
        })),
      }),
    },
    found: "its changes",
  },
  {
    name: "uses the user's version of the parent turn instead of the newest",
    bug: {
      before: (state) => ({
        ...state,
        uploaded: turnOf(state, state.head)?.uploaded ?? state.uploaded,
      }),
    },
    found: "the diff from",
  },
  {
    name: "moves the head while a turn runs",
    bug: { asked: (turn) => ({ ...turn, moveDuringTurn: turn.moveDuringTurn && "1" }) },
    found: "a move during the turn",
  },
  {
    name: "has another text so far than the model sent",
    bug: { asked: (turn) => ({ ...turn, partial: turn.partial && "Another text" }) },
    found: "the text so far is",
  },
  {
    name: "loses the queue when it is killed",
    bug: { queue: { killed: () => [] } },
    found: "it threw",
  },
  {
    name: "keeps a removed question in the queue",
    bug: { queue: { removed: (ids) => ids } },
    found: "the queue",
  },
  {
    name: "lets an interrupting question wait behind the queue",
    bug: { queue: { interrupted: (ids) => ids } },
    found: "the turn",
  },
  {
    name: "repeats a question after the head",
    bug: { repeated: (request) => ({ ...request, named: undefined }) },
    found: "the turn",
  },
  {
    name: "repeats the first question after the turn that asked it",
    bug: { repeated: (request) => ({ ...request, named: request.named ?? 1 }) },
    found: "the turn",
  },
  {
    name: "uses the team of the first turn",
    bug: {
      before: (state) => ({
        ...state,
        turns: state.turns.map((turn) => ({ ...turn, team: state.turns[0]?.team ?? "usual" })),
      }),
    },
    found: "the text",
  },
  {
    name: "never summarises older turns",
    bug: {
      reading: (_, { summary }) => ({ through: summary?.turns.at(-1) ?? null, cut: new Set() }),
    },
    found: "the history of turn",
  },
  {
    name: "summarises all turns although the latest ones fit",
    bug: {
      reading: ({ through, cut }, { summary, turns }) => ({
        through:
          through === (summary?.turns.at(-1) ?? null) ? through : (turns.at(-1)?.number ?? null),
        cut,
      }),
    },
    found: "the history of turn",
  },
  {
    name: "summarises short conversations",
    bug: {
      reading: (reading, { turns }) => ({ ...reading, through: turns[0]?.number ?? null }),
    },
    found: "the history of turn",
  },
  {
    name: "cuts texts in place of a summary that can be written",
    bug: {
      reading: ({ through }, { summary, turns }) => {
        const stored = summary?.turns.at(-1) ?? null;
        const isPlanned = through !== stored;
        return {
          through: stored,
          cut: new Set(isPlanned ? turns.slice(0, 2).map(({ number }) => number) : []),
        };
      },
    },
    found: "the history of turn",
  },
  {
    name: "cuts the latest turns instead of the oldest",
    bug: {
      reading: ({ through, cut }, { turns }) => ({
        through,
        cut: new Set(cut.size === 0 ? [] : turns.slice(-cut.size).map(({ number }) => number)),
      }),
    },
    found: "the history of turn",
  },
  {
    name: "cuts all turns although some fit",
    bug: {
      reading: ({ through, cut }, { turns }) => ({
        through,
        cut: new Set(cut.size === 0 ? [] : turns.map(({ number }) => number)),
      }),
    },
    found: "the history of turn",
  },
  {
    name: "forgets the summaries when it is killed",
    bug: { killed: (state) => ({ ...state, summaries: [] }) },
    found: "the history of turn",
  },
  {
    name: "uses the latest summary, also that of another branch",
    bug: {
      before: (state) => {
        const latest = state.summaries.at(-1);
        const turns = latest && [...latest.turns.slice(0, -1), state.head ?? 0];
        return latest && turns
          ? { ...state, summaries: [...state.summaries, { ...latest, turns }] }
          : state;
      },
    },
    found: "the history of turn",
  },
  {
    name: "writes a summary twice",
    bug: {
      asked: (turn) => ({
        ...turn,
        history: { ...turn.history, written: turn.history.written.flatMap((one) => [one, one]) },
      }),
    },
    found: "the",
  },
  {
    name: "makes a turn that only summarises the head",
    bug: { compacted: (state) => ({ ...state, head: state.turns.length }) },
    found: "the tree",
  },
  {
    name: "loses files of the head in a turn that only summarises",
    bug: {
      compacted: (state) => ({
        ...state,
        turns: state.turns.map((turn) =>
          turn.kind === "compact" ? { ...turn, end: NO_FILES } : turn,
        ),
      }),
    },
    found: "the diff from",
  },
  {
    name: "diffs without one of the changed files",
    bug: { diff: (diff) => ({ ...diff, data: diff.data.slice(1) }) },
    found: "the diff from",
  },
  {
    name: "diffs with hunks that lack their last line",
    bug: {
      diff: (diff) => ({
        ...diff,
        data: diff.data.map((file) => ({
          ...file,
          hunks: file.hunks.map((hunk) => ({ ...hunk, lines: hunk.lines.slice(0, -1) })),
        })),
      }),
    },
    found: "the diff from",
  },
  {
    name: "diffs with the texts in the wrong order",
    bug: {
      diff: ({ answer, ...diff }) => ({
        ...diff,
        answer: answer && {
          ...answer,
          parts:
            answer.parts?.map(({ op, text }) => ({
              op: op === "added" ? "deleted" : op === "deleted" ? "added" : op,
              text,
            })) ?? null,
        },
      }),
    },
    found: "the diff from",
  },
];

describe("the model finds a service that", () => {
  it.each(BUGS)("$name", async ({ bug, found }) => {
    const problems: string[] = [];
    for (const seed of seedsFrom(1, HISTORIES)) {
      const { problem } = await play(randomHistory(seed, LENGTH), new ModelWorld(bug));
      if (problem) problems.push(problem.text);
    }
    expect(problems.length).toBeGreaterThan(0);
    expect(
      problems.some((text) => text.startsWith(found)),
      problems[0],
    ).toBe(true);
  });
});

it("shrinks a failing history to the steps that are necessary for the failure", async () => {
  const bug: Bug = {
    ended: (turn) => ({ ...turn, read: turn.read && { ...turn.read, tools: [] } }),
  };
  const figures = await playSeeds({
    ...{ seeds: seedsFrom(1, HISTORIES), length: LENGTH, tries: 400 },
    newWorld: async () => new ModelWorld(bug),
  });
  const lines = figures.failures[0]?.split("\n").filter((line) => /^\d+\./.test(line)) ?? [];
  expect(lines.map((line) => line.split(" ")[1])).toEqual(["push", "ask", "ask"]);
});
