import type { Platform } from "../object-storage";
import type { QueueState } from "../session-api";
import type { EventStreams } from "../streams/event-streams";

type Options = {
  platform: Pick<Platform, "storage" | "waitUntil">;
  streams: Pick<EventStreams, "watched" | "notify">;
  queueState: () => QueueState;
  sessionId: string;
  /** Unix ms, by the session's clock. */
  now: () => number;
};

/**
 * Returns a function that sends the queue to all readers of the session's streams. The queue is
 * sent once it is on disk. Changes until then are sent together. The event has no number, because
 * it is not in the log: a reader that resumes gets the current queue instead.
 */
export function queueAnnouncer(options: Options): () => void {
  const { platform, streams } = options;
  let isPending = false;
  const announce = async () => {
    // A failed sync means that the object is being discarded; its readers reconnect.
    const isStored = await platform.storage.sync().then(
      () => true,
      () => false,
    );
    isPending = false;
    if (isStored) streams.notify(queueFrame(options.sessionId, options));
  };
  return () => {
    if (isPending || !streams.watched) return;
    isPending = true;
    platform.waitUntil(announce());
  };
}

/** The queue as an event of `text/event-stream`. */
export function queueFrame(
  sessionId: string,
  { queueState, now }: Pick<Options, "queueState" | "now">,
): string {
  const event = { type: "queue.changed", at: now(), session_id: sessionId, ...queueState() };
  return `event: queue.changed\ndata: ${JSON.stringify(event)}\n\n`;
}
