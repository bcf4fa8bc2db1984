import { describe, expect, it } from "vitest";
import {
  EMPTY_QUEUE,
  mayStart,
  MOST_QUEUED,
  nextStep,
  type OnBusy,
  placeRequest,
  type Placement,
  type Queue,
  queueAfter,
  type QueueHold,
  type QueueStep,
  withHold,
  withoutHold,
  withoutRequest,
  withRequest,
} from "../../../src/coordination";
import type { SessionEvent } from "../../../src/protocol/events";
import { NO_USAGE } from "../../../src/protocol/usage";

/** A queue of these requests in order. `!` marks an interrupt. */
function queueOf(ids: string, hold: QueueHold | null = null, notBefore = 0): Queue {
  const requests = [...ids.matchAll(/(!?)(\w)/g)].map(([, mark, id = ""]) => ({
    ...{ id, interrupts: mark === "!", notBefore },
  }));
  return { requests, hold };
}

/** The queue in the form of `queueOf`. */
const textOf = ({ requests, hold }: Queue): string =>
  requests.map(({ id, interrupts }) => (interrupts ? `!${id}` : id)).join(" ") +
  (hold === null ? "" : ` (held: ${hold})`);

const full = "abcdefghij";

describe("a new request", () => {
  it.each<{
    name: string;
    queue?: Queue;
    running?: boolean;
    onBusy: OnBusy;
    placement: Placement;
  }>([
    { name: "starts in an idle session", onBusy: "reject", placement: { type: "start" } },
    { name: "that may wait starts at once too", onBusy: "queue", placement: { type: "start" } },
    { name: "that may interrupt does so too", onBusy: "interrupt", placement: { type: "start" } },
    {
      name: "is refused while a turn runs",
      running: true,
      onBusy: "reject",
      placement: { type: "refuse", code: "turn_running" },
    },
    {
      name: "waits while a turn runs",
      running: true,
      onBusy: "queue",
      placement: { type: "queue", cancels: false },
    },
    {
      name: "cancels the running turn",
      running: true,
      onBusy: "interrupt",
      placement: { type: "queue", cancels: true },
    },
    {
      name: "does not start before those that wait, although no turn runs yet",
      queue: queueOf("ab"),
      onBusy: "reject",
      placement: { type: "refuse", code: "queue_not_empty", queued: 2 },
    },
    {
      name: "waits behind those that wait",
      queue: queueOf("ab"),
      onBusy: "queue",
      placement: { type: "queue", cancels: false },
    },
    {
      name: "that interrupts cancels nothing if no turn runs yet",
      queue: queueOf("ab"),
      onBusy: "interrupt",
      placement: { type: "queue", cancels: false },
    },
    {
      name: "starts although the queue is held, because nothing else will start",
      queue: queueOf("ab", "cancelled"),
      onBusy: "queue",
      placement: { type: "start" },
    },
    {
      name: "waits if an interrupt is about to start although the queue is held",
      queue: queueOf("!ab", "cancelled"),
      onBusy: "queue",
      placement: { type: "queue", cancels: false },
    },
    {
      name: "is refused if ten wait",
      queue: queueOf(full),
      running: true,
      onBusy: "queue",
      placement: { type: "refuse", code: "queue_full" },
    },
    {
      name: "that interrupts cancels nothing if ten wait",
      queue: queueOf(full),
      running: true,
      onBusy: "interrupt",
      placement: { type: "refuse", code: "queue_full" },
    },
    {
      name: "starts although ten wait in a held queue",
      queue: queueOf(full, "turn_failed"),
      onBusy: "reject",
      placement: { type: "start" },
    },
  ])("$name", ({ queue = EMPTY_QUEUE, running = false, onBusy, placement }) => {
    expect(placeRequest(queue, onBusy, running)).toEqual(placement);
  });

  it("has ten requests before it at most", () => {
    expect(queueOf(full).requests).toHaveLength(MOST_QUEUED);
  });
});

const end = { at: 1, turn: 1, usage: NO_USAGE, cost_usd: 0, cost_usd_known: 0 };
const completed: SessionEvent = {
  ...{ ...end, type: "turn.completed", winner: "a", label: "agent1.final", attempt: 1 },
  ...{ answer: "Yes.", finish_reason: "consensus" },
} as const;
const failed: SessionEvent = {
  ...{ ...end, type: "turn.failed", code: "no_answer", message: "None.", agents: [] },
} as const;
const cancelled: SessionEvent = {
  ...{ ...end, type: "turn.cancelled", partial: { winner: null, answer: null, text: null } },
} as const;
const started = (queue_id?: string): SessionEvent => ({
  ...{ type: "turn.started", at: 1, turn: 1, question: "Why?", parent_turn: null, aliases: {} },
  ...{ budget: {}, deadline_at: 2, ...(queue_id !== undefined && { queue_id }) },
});

describe("the queue", () => {
  it.each<{ name: string; before: Queue; step: (queue: Queue) => Queue; then: string }>([
    {
      name: "keeps the order of its requests",
      before: queueOf("ab"),
      step: (queue) => withRequest(queue, "c", false),
      then: "a b c",
    },
    {
      name: "has an interrupt before all others",
      before: queueOf("ab"),
      step: (queue) => withRequest(queue, "c", true),
      then: "!c a b",
    },
    {
      name: "has a later interrupt before an earlier one",
      before: queueOf("!ab"),
      step: (queue) => withRequest(queue, "c", true),
      then: "!c !a b",
    },
    {
      name: "stays held if a request is added",
      before: queueOf("a", "cancelled"),
      step: (queue) => withRequest(queue, "b", false),
      then: "a b (held: cancelled)",
    },
    {
      name: "loses the request that the user removes",
      before: queueOf("abc", "turn_failed"),
      step: (queue) => withoutRequest(queue, "b"),
      then: "a c (held: turn_failed)",
    },
    {
      name: "is not held once it is empty, so that later requests do not wait for a hold",
      before: queueOf("a", "turn_failed"),
      step: (queue) => withoutRequest(queue, "a"),
      then: "",
    },
    {
      name: "cannot be held while it is empty",
      before: EMPTY_QUEUE,
      step: (queue) => withHold(queue, "cancelled"),
      then: "",
    },
    {
      name: "loses the request whose turn starts",
      before: queueOf("ab"),
      step: (queue) => queueAfter(queue, started("a")),
      then: "b",
    },
    {
      name: "keeps all if another turn starts",
      before: queueOf("ab", "cancelled"),
      step: (queue) => queueAfter(queue, started()),
      then: "a b (held: cancelled)",
    },
    {
      name: "goes on after a completed turn",
      before: queueOf("ab"),
      step: (queue) => queueAfter(queue, completed),
      then: "a b",
    },
    {
      name: "is held after a cancelled turn",
      before: queueOf("ab"),
      step: (queue) => queueAfter(queue, cancelled),
      then: "a b (held: cancelled)",
    },
    {
      name: "is held after a failed turn",
      before: queueOf("ab"),
      step: (queue) => queueAfter(queue, failed),
      then: "a b (held: turn_failed)",
    },
    {
      name: "is not held by the turn that an interrupt cancels",
      before: queueOf("!ab"),
      step: (queue) => queueAfter(queue, cancelled),
      then: "!a b",
    },
    {
      name: "is not held by a turn that failed when an interrupt came",
      before: queueOf("!ab"),
      step: (queue) => queueAfter(queue, failed),
      then: "!a b",
    },
    {
      name: "holds also an interrupt if the user cancels after it",
      before: queueOf("!ab"),
      step: (queue) => withHold(queue, "cancelled"),
      then: "a b (held: cancelled)",
    },
    {
      name: "goes on when the user resumes it",
      before: queueOf("ab", "key_revoked"),
      step: withoutHold,
      then: "a b",
    },
  ])("$name", ({ before, step, then }) => {
    expect(textOf(step(before))).toBe(then);
  });

  it("tries a request at once when the user resumes it", () => {
    const queue = withoutHold(queueOf("a", "cancelled", 5_000));
    expect(queue.requests[0]?.notBefore).toBe(0);
  });
});

describe("the next request", () => {
  it.each<{
    name: string;
    queue?: Queue;
    running?: boolean;
    settled?: boolean;
    step: QueueStep;
  }>([
    { name: "is none in an empty queue", queue: EMPTY_QUEUE, step: { type: "nothing" } },
    { name: "is the first one", step: { type: "start", id: "a" } },
    {
      name: "waits for the running turn",
      running: true,
      step: { type: "wait", for: "turn" },
    },
    {
      name: "waits until the tenant has settled the turn before",
      settled: false,
      step: { type: "wait", for: "settlement" },
    },
    {
      name: "waits until a limit may allow it",
      queue: queueOf("ab", null, 1_001),
      step: { type: "wait", for: "limit", until: 1_001 },
    },
    {
      name: "starts when a limit may allow it",
      queue: queueOf("ab", null, 1_000),
      step: { type: "start", id: "a" },
    },
    {
      name: "waits while the queue is held",
      queue: queueOf("ab", "turn_failed"),
      step: { type: "held", hold: "turn_failed" },
    },
    {
      name: "starts although the queue is held if it interrupts",
      queue: queueOf("!ab", "turn_failed"),
      step: { type: "start", id: "a" },
    },
    {
      name: "that interrupts also waits until the cancelled turn is settled",
      queue: queueOf("!ab"),
      settled: false,
      step: { type: "wait", for: "settlement" },
    },
  ])("$name", ({ queue = queueOf("ab"), running = false, settled = true, step }) => {
    expect(nextStep(queue, { isRunning: running, isSettled: settled, now: 1_000 })).toEqual(step);
  });

  it.each([
    { name: "may start if nothing has changed", queue: queueOf("ab"), expected: true },
    { name: "may not start if it was removed", queue: queueOf("b"), expected: false },
    {
      name: "may not start if the queue is held",
      queue: queueOf("ab", "cancelled" as const),
      expected: false,
    },
    { name: "may not start if an interrupt is first now", queue: queueOf("!cab"), expected: false },
    {
      name: "may start in a held queue if it interrupts",
      queue: queueOf("!ab", "cancelled" as const),
      expected: true,
    },
  ])("$name", ({ queue, expected }) => {
    expect(mayStart(queue, "a")).toBe(expected);
  });
});
