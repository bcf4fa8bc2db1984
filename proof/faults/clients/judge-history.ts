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
   * The whole log as a new reader receives it once nothing runs, and the session's status. `null`
   * if erased.
   */
  left: { log: readonly WireEvent[]; status: SessionStatus } | null;
  /** Every event that any client received, by its number. */
  seen: ReadonlyMap<number, WireEvent>;
  /** Operations of the clients with their results; times in Unix ms. */
  operations: readonly Operation[];
  /**
   * The questions, each with a unique text and the turn that it started. `turn` is `null` if the
   * service refused it.
   */
  questions: readonly Question[];
  /** Requests to the providers that contain any of these questions. */
  requests: readonly RecordedRequest[];
  /** The text that its models present. */
  answer: string;
};
export type Question = { mark: string; turn: number | null };

/** All problems in sentences; empty if everything is right. */
export function judgeHistory(history: PlayedHistory): string[] {
  const { left, requests } = history;
  return [
    ...orderProblems(history),
    ...requestsForRefused(history),
    ...requestsAfterCancels(history),
    ...concurrencyProblems(requests),
    ...(left === null ? judgeErased(history) : judgeLeft(history, left)),
  ];
}

/** The log keeps the promises of every log, and every operation's result. */
function judgeLeft(
  history: PlayedHistory,
  { log, status }: NonNullable<PlayedHistory["left"]>,
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

/** The received events were right, up to the first gap; and after erasing the requests stop. */
function judgeErased({ seen, operations, requests }: PlayedHistory): string[] {
  const upTo = Array.from({ length: seen.size }, (_, nth) => seen.get(nth + 1));
  const firstGap = upTo.indexOf(undefined);
  const log = upTo
    .slice(0, firstGap < 0 ? upTo.length : firstGap)
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

/** Some sequential order of the operations explains all results. */
function orderProblems({ operations }: PlayedHistory): string[] {
  const reached = longestOrder(operations);
  const all = operations.length;
  if (reached === all) return [];
  return [
    `no order of the ${all} operations explains more than ${reached} of them: ${JSON.stringify(operations)}`,
  ];
}

const cut = (text: string): string => text.slice(0, 200);

/** I2: what an operation's result claims is in the log. */
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

/** I2: each turn has the question of the client that started it. */
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
      return [`I3: turn ${event.turn} failed: ${cut(JSON.stringify(event))}`];
    if (event.type !== "turn.completed" || event.answer === answer) return [];
    return [`I3: the answer of turn ${event.turn} is ${JSON.stringify(event.answer)}`];
  });
}

/**
 * For each cancelled turn, the number of its first event, if a cancel had been requested by its
 * end.
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

/** Erasing ends the running turn like a cancel, and readers may still receive that event. */
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
 * I15: after a cancel is acknowledged its turn sends no new request, and open requests are closed.
 * Other turns continue.
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
 * The turn of the last question in the request; questions of earlier turns come before it. `null`
 * if the question was refused or is missing.
 */
function turnOf({ body }: RecordedRequest, questions: readonly Question[]): number | null {
  const text = JSON.stringify(body);
  const places = questions
    .map(({ mark, turn }) => ({ turn, at: text.lastIndexOf(mark) }))
    .filter(({ at }) => at >= 0);
  return places.toSorted((a, b) => b.at - a.at)[0]?.turn ?? null;
}
