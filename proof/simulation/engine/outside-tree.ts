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

/** What a turn leaves for the turns after it. `text`: its answer, or its text so far. */
type PastTurn = { parent: number | null; status: string; text: string; hasExecutedTools: boolean };

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
  const cancelled = past.filter((one) => turns.get(one)?.status === "cancelled");
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

/** The turns that a turn continues. */
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
  for (const event of log) {
    if (event.type === "turn.started")
      turns.set(event.turn, {
        ...{ parent: event.parent_turn, status: "running", text: "", hasExecutedTools: false },
      });
    const turn = turns.get(event.turn);
    if (!turn) continue;
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
