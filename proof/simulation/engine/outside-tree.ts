import { isDeepStrictEqual } from "node:util";
import { MARK } from "./model";
import type { OutsideCheck } from "./outside";
import { ancestorsOf, COMPACTION, type PastTurn, turnsOf } from "./past-turns";
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

/** The stages whose prompts contain the conversation so far. */
const WITH_HISTORY: ReadonlySet<string> = new Set(["first_answer", "presentation", "personas"]);

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
