import type { PlantedBug } from "./bug";

/** Bugs in the queue of a session. */
export const BUGS_OF_QUEUE: readonly PlantedBug[] = [
  {
    name: "a held queue starts turns",
    file: "durable-objects/session/queue/queue-store.ts",
    find: "return { requests, hold: requests.length === 0 ? null : this.#hold() };",
    replace: "return { requests, hold: this.#hold() === null ? null : null };",
    invariant: "queue",
    habits: ["queue"],
  },
  {
    name: "a failed turn does not hold the queue",
    file: "src/coordination/queue/queue.ts",
    find: 'if (!isTerminal(event.type) || event.type === "turn.completed") return queue;',
    replace: 'if (event.type !== "turn.cancelled") return queue;',
    invariant: "queue",
    habits: ["queue"],
  },
  {
    name: "a queued turn runs twice",
    file: "src/coordination/queue/queue.ts",
    find: "return event.queue_id === undefined ? queue : withoutRequest(queue, event.queue_id);",
    replace: "return queue;",
    invariant: "I2",
    habits: ["queue"],
  },
  {
    name: "an interrupt waits behind the queue",
    file: "src/coordination/queue/queue.ts",
    find: "const requests = interrupts ? [request, ...queue.requests] : [...queue.requests, request];",
    replace: "const requests = [...queue.requests, request];",
    invariant: "queue",
    habits: ["queue"],
  },
  {
    name: "an interrupt holds the queue",
    file: "src/coordination/queue/queue.ts",
    find: "if (queue.requests[0]?.interrupts) return queue;",
    replace: "if (queue.requests.length === 0) return queue;",
    invariant: "queue",
    habits: ["queue"],
  },
  {
    name: "a removed request runs",
    file: "durable-objects/session/queue/queue-store.ts",
    find: "this.#apply((queue) => withoutRequest(queue, id));",
    replace: "this.#apply((queue) => withoutRequest(queue, id.slice(1)));",
    invariant: "queue",
    habits: ["queue"],
  },
];
