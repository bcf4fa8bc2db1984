import { type Answer, callService, readAnswer } from "../service/call-service";
import type { RequestContext } from "../service/problem";
import { type QueueFacts, QueueFactsSchema, QueuedFactsSchema } from "../service/schema";

/**
 * Requests about the queue of a session. Each throws CliError, or the signal's reason after an
 * abort.
 */

/** A queued question. */
export type QueuedPlace = { session: string; id: string };

/** Reads the questions that wait. */
export const readQueue = (
  session: string,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<Answer<QueueFacts>> =>
  readAnswer(context, QueueFactsSchema, ({ queue }) => queue.get(session, { signal }));

/** Resumes a held queue. */
export const resumeQueue = (
  session: string,
  context: RequestContext,
): Promise<Answer<QueueFacts>> =>
  readAnswer(context, QueueFactsSchema, ({ queue }) => queue.resume(session));

/** The turn that a queued question has started; `null` while it waits. */
export async function turnOfQueued(
  place: QueuedPlace,
  context: RequestContext,
  signal?: AbortSignal,
): Promise<number | null> {
  const found = await readAnswer(context, QueuedFactsSchema, ({ queue }) =>
    queue.find(place, { signal }),
  );
  return found.data.turn;
}

/** Removes a question that waits. */
export const removeQueued = (place: QueuedPlace, context: RequestContext): Promise<void> =>
  callService(context, ({ queue }) => queue.remove(place));
