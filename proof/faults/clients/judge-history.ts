import type { SessionStatus } from "../../../src/protocol/api";
import type { WireEvent } from "../../../src/protocol/events";
import { broken, misfolded, misnumbered, undercharged } from "../../../tests/e2e/support/verdict";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import {
  requestsAfterEnd,
  concurrencyProblems,
  statusIn,
  cancelStatusProblems,
} from "../runs/judge";
import { longestOrder, type Operation } from "./linear";

/** Tolerance in ms: clients and service read the same machine's time through different clocks. */
const CLOCKS_APART_MS = 100;

/** A session with concurrent clients, as clients and providers know it after the last operation. */
export type PlayedHistory = {
  /**
   * The whole log and the session's status, read by a new client once no turn runs. `null` if the
   * session was erased.
   */
  final: { log: readonly WireEvent[]; status: SessionStatus } | null;
  /** Every event that any client received, by its number. */
  seen: ReadonlyMap<number, WireEvent>;
  /** Operations of the clients with their results; times in Unix ms. */
  operations: readonly Operation[];
  /**
   * The questions. `mark`: a text that only this question contains. `turn`: the turn that the
   * question started; `null` if the service refused the question.
   */
  questions: readonly Question[];
  /** Requests to the providers that contain any of these questions. */
  requests: readonly RecordedRequest[];
  /** The text that the session's models present. */
  answer: string;
};
export type Question = { mark: string; turn: number | null };

/** All problems in sentences; empty if everything is right. */
export function judgeHistory(history: PlayedHistory): string[] {
  const { final, requests } = history;
  return [
    ...orderProblems(history),
    ...requestsForRefused(history),
    ...requestsAfterCancels(history),
    ...concurrencyProblems(requests),
    ...(final === null ? judgeErased(history) : judgeFinal(history, final)),
  ];
}

/** Problems of the log: it breaks a rule for all logs, or contradicts an operation's result. */
function judgeFinal(
  history: PlayedHistory,
  { log, status }: NonNullable<PlayedHistory["final"]>,
): string[] {
  return [
    ...misnumbered(log).map((problem) => `I2: ${problem}`),
    ...broken(log, { cancelsAsked: cancelsIn(log, cancelsOf(history.operations)) }),
    ...misfolded(log, status).map((problem) => `I19: ${problem}`),
    ...undercharged(log, history.requests),
    ...history.operations.flatMap((operation) => resultProblems(operation, log)),
    ...questionProblems(log, history.questions),
    ...answerProblems(log, history.answer),
  ];
}

/** Problems of the events that clients received before the first gap, and of later requests. */
function judgeErased({ seen, operations, requests }: PlayedHistory): string[] {
  const eventsInOrder = Array.from({ length: seen.size }, (_, nth) => seen.get(nth + 1));
  const firstGap = eventsInOrder.indexOf(undefined);
  const log = eventsInOrder
    .slice(0, firstGap < 0 ? eventsInOrder.length : firstGap)
    .filter((event) => event !== undefined);
  const erases = operations.filter(({ result }) => result.type === "erased");
  const erasedAt = Math.min(...erases.map(({ to }) => to));
  const asked = [...cancelsOf(operations), ...erasesOf(log, erases)];
  const cancelsAsked = cancelsIn(log, asked);
  return [
    ...broken(log, { cancelsAsked, finished: false }),
    ...requestsAfterEnd(requests, erasedAt),
  ];
}

/** A problem if no sequential order of the operations explains all results. */
function orderProblems({ operations }: PlayedHistory): string[] {
  const explainedCount = longestOrder(operations);
  const all = operations.length;
  if (explainedCount === all) return [];
  return [
    `no order of the ${all} operations explains more than ${explainedCount} of them: ${JSON.stringify(operations)}`,
  ];
}

const shorten = (text: string): string => text.slice(0, 200);

/** I2: the log contains what the result of an operation claims. */
function resultProblems({ result }: Operation, log: readonly WireEvent[]): string[] {
  switch (result.type) {
    case "started":
    case "refused":
      return hasTurn(log, result.turn)
        ? []
        : [`I2: turn ${result.turn} was acknowledged and is not in the log`];
    case "cancelled":
      return cancelStatusProblems(result, log);
    case "read":
      return [
        ...result.statuses.flatMap((status, nth) =>
          status === "running" || status === statusIn(log, nth + 1)
            ? []
            : [
                `I4: turn ${nth + 1} was read as ${status} and is ${statusIn(log, nth + 1)} in the log`,
              ],
        ),
        ...(result.sequence <= log.length
          ? []
          : [`I2: ${result.sequence} events are in a status, the log has ${log.length}`]),
      ];
    case "erased":
    case "gone":
      return [];
  }
}

const hasTurn = (log: readonly WireEvent[], turn: number): boolean =>
  log.some((event) => event.type === "turn.started" && event.turn === turn);

/** I2: each turn has the question of the client that started the turn. */
function questionProblems(log: readonly WireEvent[], questions: readonly Question[]): string[] {
  return log.flatMap((event) => {
    if (event.type !== "turn.started") return [];
    const asked = questions.find(({ turn }) => turn === event.turn);
    return asked && event.question.includes(asked.mark)
      ? []
      : [`I2: turn ${event.turn} has another question than its client asked`];
  });
}

/** I3: each turn completed with the presented answer, or was cancelled. */
function answerProblems(log: readonly WireEvent[], answer: string): string[] {
  return log.flatMap((event) => {
    if (event.type === "turn.failed")
      return [`I3: turn ${event.turn} failed: ${shorten(JSON.stringify(event))}`];
    if (event.type !== "turn.completed" || event.answer === answer) return [];
    return [`I3: the answer of turn ${event.turn} is ${JSON.stringify(event.answer)}`];
  });
}

/**
 * For each turn that ended as cancelled, the number of its first event, if a client had requested
 * the cancel before that end.
 */
function cancelsIn(
  log: readonly WireEvent[],
  cancels: readonly Pick<Cancel, "turn" | "from">[],
): number[] {
  return cancels.flatMap(({ turn, from }) => {
    const begins = log.find((event) => event.type === "turn.started" && event.turn === turn);
    const ends = log.find((event) => event.type === "turn.cancelled" && event.turn === turn);
    return begins && ends && from <= ends.at + CLOCKS_APART_MS ? [begins.sequence_number] : [];
  });
}

type Cancel = { turn: number; from: number; to: number };

/**
 * The erases as cancels of the last turn: erasing cancels a running turn, and readers may still
 * receive the event of that cancel.
 */
function erasesOf(
  log: readonly WireEvent[],
  erases: readonly Operation[],
): Pick<Cancel, "turn" | "from">[] {
  const last = log.findLast(({ type }) => type === "turn.started");
  return last ? erases.map(({ from }) => ({ turn: last.turn, from })) : [];
}

const cancelsOf = (operations: readonly Operation[]): Cancel[] =>
  operations.flatMap(({ from, to, result }) =>
    result.type === "cancelled" && result.status === "cancelled"
      ? [{ turn: result.turn, from, to }]
      : [],
  );

/**
 * I15: after a cancel is acknowledged, its turn sends no new request, and the open requests of that
 * turn are closed. Other turns continue.
 */
function requestsAfterCancels({ operations, questions, requests }: PlayedHistory): string[] {
  const turns = requests.map((request) => turnOf(request, questions));
  return [...Map.groupBy(cancelsOf(operations), ({ turn }) => turn)].flatMap(([turn, cancels]) => {
    const own = requests.filter((_, nth) => turns[nth] === turn);
    return requestsAfterEnd(own, Math.min(...cancels.map(({ to }) => to))).map(
      (problem) => `${problem} (turn ${turn})`,
    );
  });
}

/** No model receives a question that the service refused. */
function requestsForRefused({ questions, requests }: PlayedHistory): string[] {
  const refused = requests.filter((request) => turnOf(request, questions) === null).length;
  return refused === 0 ? [] : [`I2: ${refused} requests are for a question that was refused`];
}

/**
 * The turn of the last question in the request, because questions of earlier turns come first.
 * `null` if that question was refused, or if the request contains no question.
 */
function turnOf({ body }: RecordedRequest, questions: readonly Question[]): number | null {
  const text = JSON.stringify(body);
  const positions = questions
    .map(({ mark, turn }) => ({ turn, at: text.lastIndexOf(mark) }))
    .filter(({ at }) => at >= 0);
  return positions.toSorted((a, b) => b.at - a.at)[0]?.turn ?? null;
}
