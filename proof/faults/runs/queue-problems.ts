import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { toSituation } from "../../../simulated/providers/situation";
import { isTerminal, type WireEvent } from "../../../src/protocol/events";
import type { QueueEnd, QueueUse } from "./queue-user";
import type { Run } from "./run";

/** The evidence about the queue of a finished run. `requests`: those that reached the providers. */
type QueueRecord = {
  events: readonly WireEvent[];
  requests: readonly RecordedRequest[];
  use: QueueUse;
  end: QueueEnd;
};

/**
 * Problems of the queue of a run: each queued question runs once and in order, a removed question
 * never runs, nothing starts while the queue is held, and the queue is empty at the end. None if
 * nothing was queued.
 */
export async function queueProblems(
  run: Pick<Run, "queueUse" | "queueEnd" | "requests">,
  events: readonly WireEvent[],
): Promise<string[]> {
  const end = await run.queueEnd();
  const { queueUse: use } = run;
  if (!use || !end) return [];
  const record = { events, requests: run.requests(), use, end };
  return [
    ...startProblems(record),
    ...removalProblems(record),
    ...holdProblems(record),
    ...endProblems(record),
  ].map((problem) => `queue: ${problem}`);
}

type TurnStart = Extract<WireEvent, { type: "turn.started" }>;

const isStart = (event: WireEvent): event is TurnStart => event.type === "turn.started";

/** The starts of turns after the first, which was not queued. */
const laterStarts = (events: readonly WireEvent[]): TurnStart[] =>
  events.filter(isStart).filter(({ turn }) => turn > 1);

function startProblems({ events, requests, use: { starts } }: QueueRecord): string[] {
  const started = laterStarts(events);
  const turnsOf = (question: string) =>
    started.flatMap((event) => (event.question === question ? [event] : []));
  const placeOf = (question: string) => 1 + starts.findIndex((one) => one.question === question);
  const order = started.map(({ question }) => placeOf(question)).filter((place) => place > 0);
  return [
    ...starts.flatMap(({ id, question, ends }) => {
      const [first, ...others] = turnsOf(question);
      if (!first) return [`${named(question)} never started`];
      if (others.length > 0) return [`${named(question)} started ${1 + others.length} turns`];
      return [
        ...(first.queue_id === undefined || (id !== null && id !== first.queue_id)
          ? [`turn ${first.turn} names the request ${first.queue_id} instead of ${id}`]
          : []),
        ...courseProblems(first.turn, ends, { events, requests, question }),
      ];
    }),
    ...(order.every((place, nth) => place > (order[nth - 1] ?? 0))
      ? []
      : [`the questions ran in the order ${order.join(", ")}`]),
  ];
}

type Course = Pick<QueueRecord, "events" | "requests"> & { question: string };

/**
 * The turn ended as it should. If it completed, its question reached a model as the question of a
 * turn. An interrupt may come before that.
 */
function courseProblems(
  turn: number,
  ends: QueueUse["starts"][number]["ends"],
  { events, requests, question }: Course,
): string[] {
  const end = events.find((event) => event.turn === turn && isTerminal(event.type))?.type ?? null;
  const isAsked =
    ends === "cancelled" || requests.some(({ asked }) => toSituation(asked).question === question);
  return [
    ...(end === `turn.${ends}` ? [] : [`turn ${turn} ended with ${end} instead of turn.${ends}`]),
    ...(isAsked ? [] : [`no model was asked ${named(question)}`]),
  ];
}

/** A removed question starts no turn, and no request to a model contains it, also as history. */
function removalProblems({ events, requests, use: { removed } }: QueueRecord): string[] {
  const sent = requests.map(({ body }) => JSON.stringify(body));
  return removed.flatMap(({ question }) => [
    ...laterStarts(events)
      .filter((event) => event.question === question)
      .map(({ turn }) => `${named(question)} was removed and started turn ${turn}`),
    ...(sent.some((body) => body.includes(question))
      ? [`${named(question)} was removed and reached a model`]
      : []),
  ]);
}

function holdProblems({ events, use: { held } }: QueueRecord): string[] {
  return laterStarts(events)
    .filter(({ at }) => at > held.from && at < held.until)
    .map(({ turn }) => `turn ${turn} started while the queue was held`);
}

/** The service has nothing left in the queue, and names the turn of each request. */
function endProblems({ events, use: { starts, removed }, end }: QueueRecord): string[] {
  const { waiting, isHeld, turns } = end;
  const started = new Map(laterStarts(events).map(({ queue_id, turn }) => [queue_id, turn]));
  const wrong = [...starts, ...removed].flatMap(({ id }) => {
    const [reported, logged] = [turns.get(id ?? "") ?? null, started.get(id ?? "") ?? null];
    return id === null || reported === logged
      ? []
      : [`the request ${id} has the turn ${reported}, its log says ${logged}`];
  });
  return [
    ...(waiting.length === 0 ? [] : [`${waiting.length} requests still wait`]),
    ...(isHeld ? ["it is still held"] : []),
    ...wrong,
  ];
}

/** A question without its last word, which is the mark of its run. */
const named = (question: string): string =>
  JSON.stringify(question.split(" ").slice(0, -1).join(" "));
