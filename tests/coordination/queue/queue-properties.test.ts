import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EMPTY_QUEUE,
  MOST_QUEUED,
  nextStep,
  type OnBusy,
  placeRequest,
  type Queue,
  queueAfter,
  withHold,
  withoutHold,
  withoutRequest,
  withRequest,
} from "../../../src/coordination";
import type { SessionEvent } from "../../../src/protocol/events";
import { NO_USAGE } from "../../../src/protocol/usage";

/** Random histories of a session with a queue, which runs one turn at a time. */

type Step =
  | { type: "ask"; onBusy: OnBusy }
  | { type: "remove"; nth: number }
  | { type: "cancel" | "resume" | "start" | "settle" }
  | { type: "end"; status: "completed" | "failed" | "cancelled" };

const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ type: fc.constant("ask" as const), onBusy: onBusy() }) },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant("remove" as const), nth: fc.nat(MOST_QUEUED) }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        type: fc.constantFrom(...(["cancel", "resume", "start", "settle", "start"] as const)),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant("end" as const),
        status: fc.constantFrom(...(["completed", "completed", "failed", "cancelled"] as const)),
      }),
    },
  ),
  { maxLength: 80 },
);

function onBusy() {
  return fc.constantFrom(...(["reject", "queue", "interrupt"] as const));
}

/** A session: its queue, its running turn, and what has happened to each request. */
class Session {
  queue: Queue = EMPTY_QUEUE;
  isRunning = false;
  isSettled = true;
  /** Requests that have started, in order. */
  readonly started: string[] = [];
  readonly accepted = new Set<string>();
  readonly removed = new Set<string>();
  #ids = 0;

  play(step: Step): void {
    switch (step.type) {
      case "ask":
        return this.#ask(step.onBusy);
      case "remove": {
        const id = this.queue.requests[step.nth]?.id;
        if (id === undefined) return;
        this.queue = withoutRequest(this.queue, id);
        this.removed.add(id);
        return;
      }
      case "cancel":
        this.queue = withHold(this.queue, "cancelled");
        return this.#end("cancelled");
      case "resume":
        this.queue = withoutHold(this.queue);
        return;
      case "settle":
        this.isSettled ||= !this.isRunning;
        return;
      case "start":
        return this.#start();
      case "end":
        return this.#end(step.status);
    }
  }

  #ask(busy: OnBusy): void {
    const placement = placeRequest(this.queue, busy, this.isRunning);
    if (placement.type === "refuse") return;
    this.#ids += 1;
    const id = `q${this.#ids}`;
    this.accepted.add(id);
    if (placement.type === "start") return this.#begin(id);
    this.queue = withRequest(this.queue, id, busy === "interrupt");
    if (placement.cancels) this.#end("cancelled");
  }

  #start(): void {
    const { isRunning, isSettled, queue } = this;
    const step = nextStep(queue, { isRunning, isSettled, now: 1 });
    if (step.type !== "start") return;
    expect(isSettled && !isRunning).toBe(true);
    expect(step.id).toBe(queue.requests[0]?.id);
    if (queue.hold !== null) expect(queue.requests[0]?.interrupts).toBe(true);
    this.queue = queueAfter(queue, startOf(step.id));
    this.#begin(step.id);
  }

  #begin(id: string): void {
    this.isRunning = true;
    this.started.push(id);
  }

  #end(status: "completed" | "failed" | "cancelled"): void {
    if (!this.isRunning) return;
    this.isRunning = false;
    this.isSettled = false;
    this.queue = queueAfter(this.queue, endAs(status));
  }
}

const startOf = (queue_id: string): SessionEvent => ({
  ...{ type: "turn.started", at: 1, turn: 1, question: "Why?", parent_turn: null, aliases: {} },
  ...{ budget: {}, deadline_at: 2, queue_id },
});

function endAs(status: "completed" | "failed" | "cancelled"): SessionEvent {
  const end = { at: 1, turn: 1, usage: NO_USAGE, cost_usd: 0, cost_usd_known: 0 };
  switch (status) {
    case "completed":
      return {
        ...{ ...end, type: "turn.completed", winner: "a", label: "agent1.final", attempt: 1 },
        ...{ answer: "Yes.", finish_reason: "consensus" },
      };
    case "failed":
      return { ...end, type: "turn.failed", code: "no_answer", message: "None.", agents: [] };
    case "cancelled":
      return {
        ...{ ...end, type: "turn.cancelled" },
        partial: { winner: null, answer: null, text: null },
      };
  }
}

const played = (history: readonly Step[]): Session => {
  const session = new Session();
  for (const step of history) session.play(step);
  return session;
};

describe("in every history of a queue", () => {
  it("each accepted request starts once at most, waits, or was removed", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const { started, accepted, removed, queue } = played(history);
        expect(new Set(started).size).toBe(started.length);
        const waiting = queue.requests.map(({ id }) => id);
        for (const id of accepted) {
          const places = [started.includes(id), waiting.includes(id), removed.has(id)];
          expect(places.filter(Boolean)).toHaveLength(1);
        }
      }),
    );
  });

  it("at most ten requests wait, an empty queue is not held, and interrupts are first", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const { requests, hold } = played(history).queue;
        expect(requests.length).toBeLessThanOrEqual(MOST_QUEUED);
        if (requests.length === 0) expect(hold).toBeNull();
        const others = requests.findIndex(({ interrupts }) => !interrupts);
        if (others !== -1)
          expect(requests.slice(others).every(({ interrupts }) => !interrupts)).toBe(true);
      }),
    );
  });

  it("all requests run at the end, if the user resumes the queue and no turn fails", () => {
    fc.assert(
      fc.property(steps, (history) => {
        const session = played(history);
        session.play({ type: "end", status: "completed" });
        for (let turns = 0; turns < MOST_QUEUED; turns += 1) {
          session.play({ type: "resume" });
          session.play({ type: "settle" });
          session.play({ type: "start" });
          session.play({ type: "end", status: "completed" });
        }
        expect(session.queue).toEqual(EMPTY_QUEUE);
      }),
    );
  });
});
