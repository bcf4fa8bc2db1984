import { isDeepStrictEqual } from "node:util";
import type { NumberedEvent } from "../../../checker";
import { MARK } from "./model";
import type { OutsideCheck } from "./outside";
import type { ReceivedRequest } from "./received-request";
import { QUESTION_MARK } from "./tree-user";

/**
 * The head follows the user's actions: each turn continues the turn that its request names, or else
 * the head; each confirmed move is in the log once; moves during a turn are refused; and the API
 * returns this tree.
 */
export const headMoves: OutsideCheck = ({ tree, log, stuck }) => {
  if (!tree || stuck !== null) return [];
  const found = new Map(
    log.flatMap((event) =>
      event.type === "turn.started" ? [[event.turn, event.parent_turn] as const] : [],
    ),
  );
  const moves = log.flatMap((event) => (event.type === "head.moved" ? [event.head] : []));
  const shown = tree.shown && {
    head: tree.shown.head,
    parents: tree.shown.turns.map(({ turn, parent_turn }) => [turn, parent_turn]),
  };
  return [
    ...tree.problems,
    ...differences("the parents of turns are", [...found], [...tree.parents]),
    ...differences("the moves in the log are", moves, tree.moves),
    ...(shown === null
      ? []
      : differences("the API returns", shown, { head: tree.head, parents: [...tree.parents] })),
  ];
};

const differences = (what: string, found: unknown, expected: unknown): string[] =>
  isDeepStrictEqual(found, expected)
    ? []
    : [`${what} ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];

/**
 * What a turn leaves for the turns after it. `text`: its answer, or its text so far. `summarised`:
 * the turns that its agents read only as part of a summary. `isCut`: whether texts of earlier turns
 * were cut for its agents, so that marks may be missing.
 */
type PastTurn = {
  parent: number | null;
  status: string;
  text: string;
  hasExecutedTools: boolean;
  summarised: ReadonlySet<number>;
  isCut: boolean;
};

/** The stages whose prompts contain the conversation so far. */
const WITH_HISTORY: ReadonlySet<string> = new Set(["first_answer", "presentation", "personas"]);

/** The block of a request that sums up an agent's own work. Its texts may be cut. */
const COMPACTION = "OLDER PART OF THE CONVERSATION";

/**
 * The prompts of a turn contain the questions and answers of exactly the turns that it continues,
 * without failed turns. A call that summarises a conversation may get a cut one. Cancelled turns
 * are marked, with the tools that their presenters executed.
 */
export const historiesOfTurns: OutsideCheck = ({ tree, log, platform }) => {
  if (!tree) return [];
  const turns = turnsOf(log);
  const summaries = new Set(
    log.flatMap((event) => (event.type === "call.started" && event.compacts ? [event.call] : [])),
  );
  return platform.providers.received.flatMap((request) => {
    if (summaries.has(request.call)) return [];
    if (request.kind !== "reply" || !WITH_HISTORY.has(request.stage ?? "")) return [];
    if (request.body.includes(COMPACTION)) return [];
    const turn = Number(request.call.split("_")[1]);
    return problemsOf(request, turn, turns).map((problem) => `${request.call}: ${problem}`);
  });
};

function problemsOf(
  { body }: ReceivedRequest,
  turn: number,
  turns: ReadonlyMap<number, PastTurn>,
): string[] {
  const past = ancestorsOf(turn, turns).filter((one) => turns.get(one)?.status !== "failed");
  const questions = [...new Set([...body.matchAll(QUESTION_MARK)].map(([, nth]) => Number(nth)))];
  const { summarised = new Set(), isCut = false } = turns.get(turn) ?? {};
  if (isCut)
    return questions
      .filter((one) => one !== turn && !past.includes(one))
      .map((one) => `it contains the question of turn ${one}, which its turn does not continue`);
  const cancelled = past.filter(
    (one) => !summarised.has(one) && turns.get(one)?.status === "cancelled",
  );
  const executed = cancelled.filter((one) => turns.get(one)?.hasExecutedTools);
  const others = [...turns.keys()].filter((one) => one !== turn && !past.includes(one));
  return [
    ...differences(
      "it contains the questions of the turns",
      questions.toSorted(byNumber),
      [...past, turn].toSorted(byNumber),
    ),
    ...past
      .filter((one) => !answerMarks(turns.get(one)?.text).every((mark) => body.includes(mark)))
      .map((one) => `it lacks the answer of turn ${one}`),
    ...others
      .filter((one) => body.includes(` final zq${one}x`))
      .map((one) => `it contains an answer of turn ${one}, which its turn does not continue`),
    ...differences("turns marked as cancelled:", count(body, STOPPED), cancelled.length),
    ...differences("turns with executed tools:", count(body, EXECUTED), executed.length),
  ];
}

const STOPPED = "The user stopped the work on this message";
const EXECUTED = "Tools already executed for the unfinished reply";

const count = (body: string, text: string): number => body.split(text).length - 1;
const byNumber = (a: number, b: number): number => a - b;
const answerMarks = (text = ""): string[] => [...text.matchAll(MARK)].map(([mark]) => mark);

/**
 * The history in an agent's prompt begins, block by block, with the history in its prompts of the
 * turn that its turn continues, so that the provider reads it from its cache. A new summary begins
 * another history, and cut texts may differ in each turn.
 */
export const stableHistories: OutsideCheck = ({ tree, log, platform }) => {
  if (!tree) return [];
  const turns = turnsOf(log);
  const blocksOf = new Map<string, readonly string[]>();
  return platform.providers.received.flatMap(({ kind, stage, agent, call, body }) => {
    if (kind !== "reply" || stage === null || stage === "summary") return [];
    if (body.includes(COMPACTION)) return [];
    const turn = Number(call.split("_")[1]);
    const keyOf = (one: number) => `${agent} ${stage} ${one}`;
    const blocks = historyBlocksIn(body);
    blocksOf.set(keyOf(turn), blocks);
    const nearest = ancestorsOf(turn, turns).find((one) => blocksOf.has(keyOf(one)));
    if (nearest === undefined || !isComparable(turns.get(turn), turns.get(nearest))) return [];
    const expected = blocksOf.get(keyOf(nearest)) ?? [];
    return expected.every((block, index) => blocks[index] === block)
      ? []
      : [`${call}: its history does not begin with that of turn ${nearest}`];
  });
};

/** Whether two turns show the same turns in full. */
const isComparable = (one: PastTurn | undefined, other: PastTurn | undefined): boolean =>
  one !== undefined &&
  other !== undefined &&
  !one.isCut &&
  !other.isCut &&
  one.summarised.size === other.summarised.size;

/** The blocks of the history in the JSON of a request. */
const historyBlocksIn = (body: string): string[] =>
  [...body.matchAll(/<<<(\S+) (HISTORY \d+)>>>.*?<<<\1 END \2>>>/gs)].map(([block]) => block);

/** The turns that a turn continues, newest first. */
function ancestorsOf(turn: number, turns: ReadonlyMap<number, PastTurn>): number[] {
  const ancestors: number[] = [];
  let parent = turns.get(turn)?.parent ?? null;
  while (parent !== null) {
    ancestors.push(parent);
    parent = turns.get(parent)?.parent ?? null;
  }
  return ancestors;
}

/** What each turn of a log leaves. */
function turnsOf(log: readonly NumberedEvent[]): ReadonlyMap<number, PastTurn> {
  const turns = new Map<number, PastTurn>();
  /** The rounds of presenters. */
  const presented = new Set<string>();
  /** The turns that each summary covers, by the last of them. */
  const summaries = new Map<number, ReadonlySet<number>>();
  for (const event of log) {
    if (event.type === "turn.started")
      turns.set(event.turn, {
        ...{ parent: event.parent_turn, status: "running", text: "", hasExecutedTools: false },
        ...{ summarised: summaries.get(event.history?.summary ?? 0) ?? new Set(), isCut: false },
      });
    const turn = turns.get(event.turn);
    if (!turn) continue;
    if (event.type === "history.cut") turn.isCut = true;
    if (event.type === "history.summarised") {
      turn.summarised = new Set(event.turns);
      summaries.set(event.turns.at(-1) ?? 0, turn.summarised);
    }
    if (event.type === "presentation.started") presented.add(roundOf(event));
    if (event.type === "tool.started" && presented.has(roundOf(event)))
      turn.hasExecutedTools = true;
    if (event.type === "turn.failed") turn.status = "failed";
    if (event.type === "turn.completed")
      Object.assign(turn, { status: "completed", text: event.answer });
    if (event.type === "turn.cancelled") {
      const { text, answer } = event.partial;
      Object.assign(turn, { status: "cancelled", text: text ?? answer ?? "" });
    }
  }
  return turns;
}

const roundOf = (event: { turn: number; attempt: number; agent: string; round: number }): string =>
  [event.turn, event.attempt, event.agent, event.round].join(" ");
