import type { SessionStatus } from "../../../src/protocol/api";
import type { WireEvent } from "../../../src/protocol/events";
import { broken, misfolded, misnumbered, undercharged } from "../../../tests/e2e/support/verdict";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { afterTheEnd, overlapping, statusIn, untrueCancel } from "../runs/judge";
import { longestOrder, type Operation } from "./linear";

/** Clients and service read clocks of their own, on one machine. */
const CLOCKS_APART_MS = 100;

/** A session that many asked things of at once, as its clients and the providers know it when the last of them is done. */
export type Played = {
  /** Its whole log as a new reader gets it once nothing runs, and how it says that it stands; null: it was erased. */
  left: { log: readonly WireEvent[]; status: SessionStatus } | null;
  /** Each event that any client was given, by its number. */
  seen: ReadonlyMap<number, WireEvent>;
  /** What its clients asked and were told, in Unix ms. */
  operations: readonly Operation[];
  /** Each question by a text that no other has, with the turn that it began; null: it was refused. */
  questions: readonly Question[];
  /** What reached the providers with any of these questions. */
  requests: readonly RecordedRequest[];
  /** What its models present. */
  answer: string;
};
export type Question = { mark: string; turn: number | null };

/** Everything that is wrong with it, in sentences; an empty list means that nothing is. */
export function judgeHistory(played: Played): string[] {
  const { left, requests } = played;
  return [
    ...disordered(played),
    ...unasked(played),
    ...afterCancels(played),
    ...overlapping(requests),
    ...(left === null ? judgeErased(played) : judgeLeft(played, left)),
  ];
}

/** Its log keeps every promise that is one of logs, and to each of its clients what it was told. */
function judgeLeft(played: Played, { log, status }: NonNullable<Played["left"]>): string[] {
  return [
    ...misnumbered(log).map((problem) => `I2: ${problem}`),
    ...broken(log, { cancelsAsked: cancelsIn(log, cancelsOf(played.operations)) }),
    ...misfolded(log, status).map((problem) => `I19: ${problem}`),
    ...undercharged(log, played.requests),
    ...played.operations.flatMap((operation) => untrue(operation, log)),
    ...misbegun(log, played.questions),
    ...misended(log, played.answer),
  ];
}

/** What was seen of it before it went, as far as no event is missing, was right; and whoever worked for it stops. */
function judgeErased({ seen, operations, requests }: Played): string[] {
  const upTo = Array.from({ length: seen.size }, (_, nth) => seen.get(nth + 1));
  const firstGap = upTo.indexOf(undefined);
  const log = upTo
    .slice(0, firstGap < 0 ? upTo.length : firstGap)
    .filter((event) => event !== undefined);
  const erases = operations.filter(({ told }) => told.type === "erased");
  const erasedAt = Math.min(...erases.map(({ to }) => to));
  const asked = [...cancelsOf(operations), ...erasesOf(log, erases)];
  const cancelsAsked = cancelsIn(log, asked);
  return [...broken(log, { cancelsAsked, finished: false }), ...afterTheEnd(requests, erasedAt)];
}

/** There is an order in which one thing after another explains all that they were told. */
function disordered({ operations }: Played): string[] {
  const reached = longestOrder(operations);
  const all = operations.length;
  if (reached === all) return [];
  return [
    `no order of the ${all} operations explains more than ${reached} of them: ${JSON.stringify(operations)}`,
  ];
}

const cut = (text: string): string => text.slice(0, 200);

/** I2: what a client was told has happened is in the log. */
function untrue({ told }: Operation, log: readonly WireEvent[]): string[] {
  switch (told.type) {
    case "started":
    case "refused":
      return hasTurn(log, told.turn)
        ? []
        : [`I2: turn ${told.turn} was acknowledged and is not in the log`];
    case "cancelled":
      return untrueCancel(told, log);
    case "read":
      return [
        ...told.statuses.flatMap((status, nth) =>
          status === "running" || status === statusIn(log, nth + 1)
            ? []
            : [
                `I4: turn ${nth + 1} was read as ${status} and is ${statusIn(log, nth + 1)} in the log`,
              ],
        ),
        ...(told.sequence <= log.length
          ? []
          : [`I2: ${told.sequence} events were read of, the log has ${log.length}`]),
      ];
    case "erased":
    case "gone":
      return [];
  }
}

const hasTurn = (log: readonly WireEvent[], turn: number): boolean =>
  log.some((event) => event.type === "turn.started" && event.turn === turn);

/** I2: each turn is that of the client who was told of it. */
function misbegun(log: readonly WireEvent[], questions: readonly Question[]): string[] {
  return log.flatMap((event) => {
    if (event.type !== "turn.started") return [];
    const asked = questions.find(({ turn }) => turn === event.turn);
    return asked && event.question.includes(asked.mark)
      ? []
      : [`I2: turn ${event.turn} has another question than was told`];
  });
}

/** I3: each turn completed with what was presented, or was cancelled. */
function misended(log: readonly WireEvent[], answer: string): string[] {
  return log.flatMap((event) => {
    if (event.type === "turn.failed")
      return [`I3: turn ${event.turn} failed: ${cut(JSON.stringify(event))}`];
    if (event.type !== "turn.completed" || event.answer === answer) return [];
    return [`I3: the answer of turn ${event.turn} is ${JSON.stringify(event.answer)}`];
  });
}

/** For each turn that was cancelled, the place where it begins if somebody had asked for that by then. */
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

/** Erasing ends the turn that runs, as cancelling does, and readers may still be told of it. */
function erasesOf(
  log: readonly WireEvent[],
  erases: readonly Operation[],
): Pick<Cancel, "turn" | "from">[] {
  const last = log.findLast(({ type }) => type === "turn.started");
  return last ? erases.map(({ from }) => ({ turn: last.turn, from })) : [];
}

const cancelsOf = (operations: readonly Operation[]): Cancel[] =>
  operations.flatMap(({ from, to, told }) =>
    told.type === "cancelled" && told.status === "cancelled" ? [{ turn: told.turn, from, to }] : [],
  );

/** I15: once a cancel is acknowledged nothing new is asked for its turn, and what was open is closed; others go on. */
function afterCancels({ operations, questions, requests }: Played): string[] {
  const turns = requests.map((request) => turnOf(request, questions));
  return [...Map.groupBy(cancelsOf(operations), ({ turn }) => turn)].flatMap(([turn, cancels]) => {
    const own = requests.filter((_, nth) => turns[nth] === turn);
    return afterTheEnd(own, Math.min(...cancels.map(({ to }) => to))).map(
      (problem) => `${problem} (turn ${turn})`,
    );
  });
}

/** No model is asked what the service refused to ask. */
function unasked({ questions, requests }: Played): string[] {
  const refused = requests.filter((request) => turnOf(request, questions) === null).length;
  return refused === 0 ? [] : [`I2: ${refused} requests are for a question that was refused`];
}

/** The turn of the last question in it: those of earlier turns are told before. null: it was refused, or there is none. */
function turnOf({ body }: RecordedRequest, questions: readonly Question[]): number | null {
  const text = JSON.stringify(body);
  const places = questions
    .map(({ mark, turn }) => ({ turn, at: text.lastIndexOf(mark) }))
    .filter(({ at }) => at >= 0);
  return places.toSorted((a, b) => b.at - a.at)[0]?.turn ?? null;
}
