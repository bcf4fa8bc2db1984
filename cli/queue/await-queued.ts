import { CliError, EXIT } from "../exit-codes";
import { commandAt } from "../invocation";
import { type RequestContext, refusalWith } from "../service/problem";
import type { QueueFacts } from "../service/schema";
import { toLine } from "../terminal/sanitize";
import { type QueuedPlace, readQueue, turnOfQueued } from "./queue-calls";

export const REMOVED = "The question was removed from the queue.";

/** First and longest time in ms between two requests. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;

/** `notice`: shows why the question waits. `isConversation`: advice names commands with a slash. */
type AwaitOptions = {
  context: RequestContext;
  notice: (text: string) => void;
  isConversation?: boolean | undefined;
  signal: AbortSignal;
};

/**
 * Waits until a queued question has started, and returns the number of its turn; `null` if the
 * question was removed. Throws CliError if the queue is held, because then nothing starts before
 * the user resumes it.
 */
export async function awaitQueued(
  place: QueuedPlace,
  options: AwaitOptions,
): Promise<number | null> {
  const { context, notice, signal } = options;
  let shown = "";
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2)) {
    const { data: queue } = await readQueue(place.session, context, signal);
    const entry = queue.data.find(({ id }) => id === place.id);
    if (!entry) return turnIfKept(place, context, signal);
    if (queue.held && !entry.interrupts) throw heldError(queue.held, place, options);
    const text = waitingText(entry, queue);
    if (text !== shown) notice(text);
    shown = text;
    await pause(waitMs, signal);
  }
}

/** The turn of a question that is not in the queue any more; `null` if it was removed. */
async function turnIfKept(
  place: QueuedPlace,
  context: RequestContext,
  signal: AbortSignal,
): Promise<number | null> {
  try {
    return await turnOfQueued(place, context, signal);
  } catch (error) {
    if (refusalWith("queued_not_found", error) === null) throw error;
    return null;
  }
}

function waitingText({ position }: QueueFacts["data"][number], { waiting }: QueueFacts): string {
  const why = waiting ? `: ${toLine(waiting.message)}` : ".";
  return position === 1
    ? `queued   starts next${why}`
    : `queued   ${position - 1} ${position === 2 ? "question" : "questions"} before it${why}`;
}

function heldError(
  { message }: { message: string },
  { session }: QueuedPlace,
  { context, isConversation }: AwaitOptions,
): CliError {
  const resume = isConversation
    ? "/queue resume"
    : commandAt(context, "queue", session, "--resume");
  const text = `The question waits in the queue of the session. ${toLine(message)} To resume:\n  ${resume}`;
  return new CliError(EXIT.busy, text);
}

/** Waits for `ms`. Throws the signal's reason. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
