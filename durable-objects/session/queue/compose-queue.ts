import type { SessionState } from "../../../src/coordination";
import type { SettledTurn } from "../../tenant/tenant-api";
import type { Outbox } from "../log/outbox";
import type { Platform } from "../object-storage";
import type { EventStreams } from "../streams/event-streams";
import { queueAnnouncer } from "./queue-announcer";
import { queueStatus } from "./queue-status";
import { QueueStore } from "./queue-store";
import { type QueuedStarts, QueueWorker } from "./queue-worker";

type Options = {
  platform: Platform;
  streams: EventStreams;
  /** Ended turns that the tenant has not settled. */
  settlements: Outbox<SettledTurn>;
  starts: QueuedStarts;
  state: () => SessionState;
  sessionId: string;
  /** Unix ms, by the session's clock. */
  now: () => number;
};

/** Builds the parts of a session that belong to its queue. */
export function composeQueue({ platform, streams, settlements, ...options }: Options) {
  const { now, sessionId } = options;
  const queueStore = new QueueStore(platform.storage.sql);
  const queue = new QueueWorker({
    ...{ ...options, store: queueStore },
    isSettled: () => settlements.nextAt(now()) === null,
    onChange: () => announceQueue(),
  });
  const queueState = () => queueStatus(queueStore, queue.step());
  const announceQueue = queueAnnouncer({ platform, streams, queueState, sessionId, now });
  return { queue, queueStore, queueState, announceQueue };
}
