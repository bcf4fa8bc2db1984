import { isTerminal, type SessionEvent } from "../../protocol/events";

/**
 * The queue of a session: requests that wait for the running turn. The functions here decide which
 * request starts when; they change nothing.
 *
 * A cancelled or failed turn holds the queue, because the user may no longer want the other
 * questions. An interrupt runs before all others, and neither holds the queue nor waits for a hold.
 */

/** Maximum number of requests in a queue. */
export const MOST_QUEUED = 10;

/** What a request does if the session is busy. */
export type OnBusy = "reject" | "queue" | "interrupt";

/** Why a queue starts nothing until the user resumes it. */
export type QueueHold = "cancelled" | "turn_failed" | "key_revoked";

/**
 * A request in the queue. `interrupts`: it does not wait for a hold. `notBefore`: unix ms at which
 * it may be tried again after a limit of the tenant refused it; 0 if it was not refused.
 */
export type QueuedRequest = { id: string; interrupts: boolean; notBefore: number };

/** The requests in the order in which they will start. `hold`: `null` if the queue is not held. */
export type Queue = { requests: readonly QueuedRequest[]; hold: QueueHold | null };

export const EMPTY_QUEUE: Queue = { requests: [], hold: null };

/** What happens to a new request. `cancels`: the running turn is cancelled for it. */
export type Placement =
  | { type: "start" }
  | { type: "queue"; cancels: boolean }
  /** `queued`: the number of requests that will start before. */
  | { type: "refuse"; code: "queue_not_empty"; queued: number }
  | { type: "refuse"; code: "turn_running" }
  | { type: "refuse"; code: "queue_full" };

/** Decides what happens to a new request. A held queue does not make a session busy. */
export function placeRequest(queue: Queue, onBusy: OnBusy, isRunning: boolean): Placement {
  if (!isRunning && !isWaiting(queue)) return { type: "start" };
  if (onBusy === "reject")
    return isRunning
      ? { type: "refuse", code: "turn_running" }
      : { type: "refuse", code: "queue_not_empty", queued: queue.requests.length };
  if (queue.requests.length >= MOST_QUEUED) return { type: "refuse", code: "queue_full" };
  return { type: "queue", cancels: onBusy === "interrupt" && isRunning };
}

/** Whether a request of the queue will start without anything that the user does. */
const isWaiting = ({ requests: [first], hold }: Queue): boolean =>
  first !== undefined && (hold === null || first.interrupts);

/** The queue with a new request: an interrupt is the first, any other request the last. */
export function withRequest(queue: Queue, id: string, interrupts: boolean): Queue {
  const request = { id, interrupts, notBefore: 0 };
  const requests = interrupts ? [request, ...queue.requests] : [...queue.requests, request];
  return { ...queue, requests };
}

/** The queue without a request. An empty queue is not held. */
export function withoutRequest({ requests, hold }: Queue, id: string): Queue {
  const rest = requests.filter((request) => request.id !== id);
  return { requests: rest, hold: rest.length === 0 ? null : hold };
}

/** The held queue. Also interrupts wait then. An empty queue is not held. */
export function withHold({ requests }: Queue, hold: QueueHold): Queue {
  if (requests.length === 0) return EMPTY_QUEUE;
  return { requests: requests.map((request) => ({ ...request, interrupts: false })), hold };
}

/** The queue without its hold. A request that a limit refused is tried again at once. */
export const withoutHold = ({ requests }: Queue): Queue => ({
  requests: requests.map((request) => ({ ...request, notBefore: 0 })),
  hold: null,
});

/**
 * The queue after an event: a request leaves it when its turn starts. The end of a turn that did
 * not complete holds it, unless an interrupt is the reason of that end.
 */
export function queueAfter(queue: Queue, event: SessionEvent): Queue {
  if (event.type === "turn.started")
    return event.queue_id === undefined ? queue : withoutRequest(queue, event.queue_id);
  if (!isTerminal(event.type) || event.type === "turn.completed") return queue;
  if (queue.requests[0]?.interrupts) return queue;
  return withHold(queue, event.type === "turn.failed" ? "turn_failed" : "cancelled");
}

/**
 * What a queue does next. `wait`: until the running turn has ended, until the tenant has settled
 * the turn before, or until a limit of the tenant may allow the turn (`until`, unix ms).
 */
export type QueueStep =
  | { type: "nothing" }
  | { type: "held"; hold: QueueHold }
  | { type: "wait"; for: "turn" | "settlement" }
  | { type: "wait"; for: "limit"; until: number }
  | { type: "start"; id: string };

/** The session around its queue. `isSettled`: the tenant has settled all turns that have ended. */
export type QueueSituation = { isRunning: boolean; isSettled: boolean; now: number };

/** Decides what a queue does next. */
export function nextStep(queue: Queue, { isRunning, isSettled, now }: QueueSituation): QueueStep {
  const {
    requests: [first],
    hold,
  } = queue;
  if (!first) return { type: "nothing" };
  if (hold !== null && !first.interrupts) return { type: "held", hold };
  if (isRunning) return { type: "wait", for: "turn" };
  if (!isSettled) return { type: "wait", for: "settlement" };
  if (first.notBefore > now) return { type: "wait", for: "limit", until: first.notBefore };
  return { type: "start", id: first.id };
}

/** Whether a request may still start, although its admission has taken time. */
export const mayStart = (queue: Queue, id: string): boolean =>
  queue.requests[0]?.id === id && isWaiting(queue);
