import type { SessionEvent } from "../../../src/protocol/events";
import { UsageError } from "../../../local/command-line";
import type { CrashPoint } from "../build/orders";
import type { KindName } from "../runs/kinds";

/**
 * A named crash point with a kind of run that reaches it. `restarted`: the point is reached only
 * after an earlier kill. `first`: the crash point of that earlier kill; omitted if any earlier kill
 * is enough. `visits`: such runs reach the point at least so often. The points are defined in
 * `../build/context.ts`, `sending.ts` and `bindings.ts`.
 */
export type Place = {
  point: string;
  kind: KindName;
  restarted: boolean;
  first?: CrashPoint;
  visits?: number;
};

type EventType = SessionEvent["type"];
/** Types of events that are logged only for a tool call that a kill interrupted. */
type InterruptionEvent = "tool.unknown" | "tool.interrupted";
const STAGES = ["open", "durable"] as const;
/**
 * For each type of event, the kind of run in which the process is killed: once just before the
 * event is on disk (`open`), and once just after (`durable`). Some types need one kind for each
 * stage.
 */
const KINDS_OF_EVENTS: Readonly<
  Record<
    Exclude<EventType, InterruptionEvent>,
    KindName | Readonly<Record<(typeof STAGES)[number], KindName>>
  >
> = {
  "session.created": "story",
  "head.moved": "again",
  "history.summarised": "conversed",
  "history.cut": "speechless",
  "attempt.started": "story",
  "round.started": "mixed",
  "call.started": "story",
  "call.deferred": "scarce",
  "call.waiting": "rated",
  "call.completed": "mixed",
  "call.failed": "refused",
  "hosted_tool.completed": "searching",
  "citations.added": "searching",
  "conversation.compacted": "lengthy",
  "round.nudged": "clumsy",
  "round.failed": "clumsy",
  "answer.refused": "clumsy",
  "vote.refused": "clumsy",
  "agent.failed": "refused",
  "agent.abstained": "restless",
  "stream.delta": "story",
  "personas.assigned": "rejected",
  "answer.submitted": "mixed",
  "answers.injected": "story",
  "vote.cast": "story",
  "vote.stale": "story",
  "votes.cleared": "mixed",
  "attempt.settled": { open: "capped", durable: "hurried" },
  "presentation.started": "story",
  "presentation.completed": "mixed",
  "attempt.restarted": "rejected",
  "tools.listed": "served",
  "tool.started": "tools",
  "tool.progressed": "asked",
  "tool.input_required": "asked",
  "files.accessed": "files",
  "tool.completed": "files",
  "turn.started": "again",
  "turn.completed": "story",
  "turn.cancelled": "recalled",
  "turn.failed": "hopeless",
};
/** For each type, the kill that causes it. The first tool call is not repeatable, the second is. */
const INTERRUPTIONS: readonly (readonly [InterruptionEvent, CrashPoint])[] = [
  ["tool.unknown", { point: "tool.send.sent", nth: 1 }],
  ["tool.interrupted", { point: "tool.send.sent", nth: 2 }],
];

const OTHER_POINTS: Readonly<Partial<Record<KindName, readonly string[]>>> = {
  story: [
    "commit.begin",
    "commit.closed",
    "commit.closed/turn.completed",
    "commit.told",
    "commit.told/turn.completed",
    "send.before",
    "send.intended",
    "send.sent",
    "send.headers",
    "send.chunk",
    "arm.before",
    "arm.after",
    "d1.before",
    "d1.after",
    "object.before",
    "object.after",
    "tenant.before",
    "tenant.after",
    "tenant.commit.open",
    "tenant.commit.closed",
  ],
  late: ["alarm.begin", "alarm.arm.after", "alarm.end"],
  mixed: ["send.chunk", "send.end"],
  tools: [
    "tool.send.before",
    "tool.send.intended",
    "tool.send.sent",
    "tool.send.headers",
    "tool.send.end",
  ],
  files: ["r2.before", "r2.after"],
  erased: ["erase.before", "erase.after", "r2.before", "r2.after", "d1.before", "d1.after"],
};

/**
 * Changes of the queue and the calls to the tenant around a queued turn, with the number of times
 * that a run of the kind `queued` certainly makes each of them.
 */
const QUEUE_POINTS: readonly (readonly [point: string, visits: number])[] = [
  ...STAGES.flatMap((stage) =>
    Object.entries({ added: 5, removed: 1, held: 1, resumed: 1, taken: 4 }).map(
      ([change, visits]) => [`commit.${stage}/queue.${change}`, visits] as const,
    ),
  ),
  ["admit.before", 4],
  ["admit.after", 4],
  ["settle.before", 3],
  ["settle.after", 3],
];

/** Each run with several agents receives at least so many chunks of replies. */
const FEWEST_CHUNKS = 60;

const RESTART_POINTS = [
  "boot.begin",
  "boot.commit.open",
  "boot.commit.closed",
  "boot.end",
  "boot.durable",
];

export const PLACES: readonly Place[] = [
  ...Object.entries(KINDS_OF_EVENTS).flatMap(([event, kind]) =>
    STAGES.map((stage) => ({
      point: `commit.${stage}/${event}`,
      kind: typeof kind === "string" ? kind : kind[stage],
      restarted: false,
    })),
  ),
  ...INTERRUPTIONS.flatMap(([event, first]) =>
    STAGES.map((stage) => ({
      point: `commit.${stage}/${event}`,
      kind: "tools" as const,
      restarted: true,
      first,
    })),
  ),
  ...entriesOf(OTHER_POINTS).flatMap(([kind, points]) =>
    points.map((point) => ({
      point,
      kind,
      restarted: false,
      ...(point === "send.chunk" && { visits: FEWEST_CHUNKS }),
    })),
  ),
  ...QUEUE_POINTS.map(([point, visits]) => ({
    point,
    kind: "queued" as const,
    restarted: false,
    visits,
  })),
  // The second turn of these runs brings another team.
  ...STAGES.map((stage) => ({
    point: `commit.${stage}/turn.started`,
    kind: "varied" as const,
    restarted: false,
    visits: 3,
  })),
  ...RESTART_POINTS.map((point) => ({ point, kind: "story" as const, restarted: true })),
  { point: "alarm.begin", kind: "late", restarted: true },
];

function entriesOf(others: typeof OTHER_POINTS): (readonly [KindName, readonly string[]])[] {
  const kinds: KindName[] = ["story", "late", "mixed", "files", "tools", "erased"];
  return kinds.map((kind) => [kind, others[kind] ?? []] as const);
}

/**
 * Parses a typed crash point such as `commit.open/vote.cast:2`. Throws `UsageError` if it is
 * invalid.
 */
export function parsePoint(text: string): CrashPoint {
  const [, point, nth = "1"] =
    /^([a-z0-9]+(?:\.[a-z]+)+(?:\/[a-z_]+\.[a-z_]+)?)(?::(\d{1,9}))?$/.exec(text) ?? [];
  if (point === undefined || Number(nth) < 1)
    throw new UsageError(`${text} names no point; write it like commit.open/vote.cast:2`);
  return { point, nth: Number(nth) };
}

export const nameOf = ({ point, nth }: CrashPoint): string => `${point}:${nth}`;
