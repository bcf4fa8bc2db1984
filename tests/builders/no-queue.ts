import type { QueuedStarts } from "../../durable-objects/session/queue/queue-worker";

const refuse = () => Promise.reject(new Error("nothing is queued here"));

/** Starts for a session whose queue stays empty. Every start is an error. */
export const noQueue: QueuedStarts = {
  isAllowed: refuse,
  start: refuse,
  fail: refuse,
  finish: refuse,
};
