import type { SessionPlace } from "../../r2-layout/session-files";
import { MonotonicClock } from "../../src/async/clock";
import { Coordinator } from "../../src/engine/coordinator";
import { Engine } from "../../src/engine/engine";
import type { CommandPlace } from "../../src/tools/shell";
import type { Performer, SessionHost } from "../../src/engine/ports";
import { BEGINS_AGAIN } from "../../src/providers/platform-words";
import { HEADER_LIMIT_MS, RELAYS, REQUEST_MEMORY } from "../shared/object-limits";
import type { SettledTurn } from "../tenant/tenant-api";
import { CallStore } from "./calls/call-store";
import { RelaySlots } from "./calls/relay-slots";
import { RequestMemory } from "./calls/request-memory";
import { RoundRecords } from "./calls/round-records";
import { Semaphore } from "../../src/async/semaphore";
import { sessionWorkspaces } from "./files/compose-workspaces";
import { Journal } from "./log/journal";
import { Outbox } from "./log/outbox";
import { OutboxWorker } from "./log/outbox-worker";
import { ResumePoints } from "./log/resume-points";
import { SessionLog } from "./log/session-log";
import { SessionStore } from "./log/session-store";
import type { Platform } from "./object-storage";
import { isPlatformFault } from "./platform-fault";
import { composeQueue } from "./queue/compose-queue";
import type { QueuedStarts } from "./queue/queue-worker";
import type { SessionFacts } from "./session-facts";
import { SessionQueries } from "./session-queries";
import { EventStreams } from "./streams/event-streams";
import type { ContainerJob, Containers } from "./tools/containers";

type Files = Parameters<typeof sessionWorkspaces>[0];

type Options = Pick<Files, "bucket" | "storageQueue" | "contexts" | "stored"> & {
  platform: Platform;
  facts: SessionFacts;
  place: SessionPlace;
  /** Maximum number of readers of the session's streams at the same time. */
  maxReaders: number;
  /** Where the deployment runs agents' commands. Omitted: in the service. */
  commandPlace?: CommandPlace;
  /** Omitted if agents' commands run in no container. */
  containers?: Pick<Containers, "jobs" | "perform">;
  /** Reports to the tenant that a turn has ended. Throws if the tenant was not reached. */
  settle: (turn: SettledTurn) => Promise<void>;
  /** Starts the turns of the queue. */
  queuedStarts: QueuedStarts;
  /** Logs an internal error of the service. */
  onFault: (error: unknown) => void;
};

/**
 * The parts of a session that need only its storage. The performer of the session's effects is
 * built from these parts.
 */
export type SessionParts = ReturnType<typeof composeSession>;

/**
 * Builds the parts of a session over its storage. `createEngine` builds the engine that runs it.
 */
export function composeSession({ platform, facts, place, ...options }: Options) {
  const { storage } = platform;
  const { sql } = storage;
  const { sessionId, teams, boot } = facts;
  const log = new SessionLog(sql);
  const { now } = clockOf(log);
  const [calls, points] = [new CallStore(sql), new ResumePoints(sql)];
  const queries = new SessionQueries(log, sessionId);
  const { bucket, storageQueue, contexts, stored, maxReaders, commandPlace = "service" } = options;
  const streams = new EventStreams({
    ...{ log, sessionId, maxReaders, now },
    endedAt: () => log.endedAt,
  });
  const workspaces = sessionWorkspaces({
    ...{ storage, log, place, bucket, contexts },
    team: () => teams.current(),
    ...(storageQueue && { storageQueue }),
    ...(stored && { stored }),
  });
  const settlements = new Outbox<SettledTurn>(sql, "outbox");
  const queueParts = composeQueue({
    ...{ platform, streams, settlements, sessionId, now, starts: options.queuedStarts },
    state: () => coordinator.state,
  });
  const { queueStore, queue, announceQueue } = queueParts;
  const journal = new Journal({
    ...{ platform, log, sessionId, calls, points, queries, now },
    outbox: settlements,
    noteQueue: (events) => {
      if (queueStore.note(events)) announceQueue();
    },
    publish: (rows) => streams.publish(rows),
    isWatched: () => streams.watched,
  });
  const records = new RoundRecords({ ...facts, log, calls, queries, commandPlace });
  const host: SessionHost = {
    ...{ sessionId, boot, now },
    storage: new SessionStore({
      ...{ log, journal, records, files: workspaces, sessionId },
      rules: teams.session.rules,
    }),
    alarm: storage,
    waitUntil: (work) => platform.waitUntil(work),
    report: (error) => reportFault(error, { platform, onFault: options.onFault }),
  };
  const coordinator = new Coordinator(host);
  return {
    ...{ facts, platform, log, journal, calls, points, queries, streams, workspaces, host, now },
    ...{ coordinator, ...queueParts },
    slots: new RelaySlots({
      ...{ relays: RELAYS.count, slotsPerRelay: RELAYS.slots, maxHoldMs: HEADER_LIMIT_MS },
    }),
    background: {
      ...backgroundWork({ ...options, sessionId, sql, settlements, workspaces, now }),
      queue,
    },
  };
}

/** A fault of the platform resets the object; any other one is passed on. */
function reportFault(
  error: unknown,
  { platform, onFault }: Pick<Options, "platform" | "onFault">,
): void {
  if (!isPlatformFault(error)) return onFault(error);
  platform.abort(BEGINS_AGAIN);
  throw error;
}

/** The time of a session, which never runs backwards: Unix ms. */
function clockOf(log: SessionLog): { now: () => number } {
  const clock = new MonotonicClock(() => Date.now(), log.lastAt());
  return { now: () => clock.now() };
}

type Background = Pick<Options, "containers" | "settle"> & {
  sessionId: string;
  sql: Platform["storage"]["sql"];
  settlements: Outbox<SettledTurn>;
  workspaces: ReturnType<typeof sessionWorkspaces>;
  now: () => number;
};

/** Work that continues after the end of a turn. */
function backgroundWork(options: Background) {
  const { sessionId, sql, settlements, workspaces, containers, settle, now } = options;
  const containerOutbox = new Outbox<ContainerJob>(sql, "container_duties");
  return {
    settlements: new OutboxWorker({
      outbox: settlements,
      deliver: (turn) => settle(turn).then(() => "done" as const),
      errorLabel: ["a turn's end was not reported to the tenant", sessionId],
      now,
    }),
    files: new OutboxWorker({
      outbox: workspaces.outbox,
      deliver: (job) => workspaces.perform(job),
      errorLabel: ["files were not uploaded to R2", sessionId],
      now,
    }),
    containers: new OutboxWorker({
      outbox: containerOutbox,
      deliver: async (job) => {
        await containers?.perform(job);
        return "done";
      },
      errorLabel: ["a container was not destroyed", sessionId],
      now,
    }),
    /** Adds jobs for the session's containers, each once. To be called before an erasure. */
    addContainers: () => {
      const addedNames = new Set(containerOutbox.all().map(({ name }) => name));
      for (const job of containers?.jobs() ?? [])
        if (!addedNames.has(job.name)) containerOutbox.add(job);
    },
  };
}

/** Creates the engine that runs a session. The engine does nothing before `boot` is called. */
export function createEngine(
  { host, coordinator, slots, background }: SessionParts,
  performer: Performer,
): Engine {
  const { settlements, queue, files, containers } = background;
  return new Engine({
    ...{ host, coordinator, performer, slots },
    building: new Semaphore(1, HEADER_LIMIT_MS),
    memory: new RequestMemory({ ...REQUEST_MEMORY, maxHoldMs: HEADER_LIMIT_MS }),
    maxHoldMs: HEADER_LIMIT_MS,
    background: [settlements, queue, files, containers],
  });
}

/**
 * Stops a session before it is erased: cancels the running turn, settles every turn with the
 * tenant, destroys containers, stops uploads to R2, closes streams and removes all timers. Throws
 * if a turn could not be settled or a container could not be destroyed. The caller may then try
 * again; until then, the engine retries both.
 */
export async function stopSession(
  { platform, journal, coordinator, background, workspaces, streams }: SessionParts,
  engine: Engine,
): Promise<void> {
  const { storage } = platform;
  await background.queue.stop();
  coordinator.handle({ type: "cancel_requested" });
  storage.transactionSync(background.addContainers);
  try {
    await background.settlements.finish();
    await background.containers.finish();
  } catch (error) {
    engine.arm();
    throw error;
  }
  // A file whose upload ends after the session's files were erased would never be deleted from R2.
  await Promise.all([background.files.stop(), workspaces.close()]);
  // Send the last events to readers only after the events are on disk.
  await storage.sync();
  await journal.published();
  streams.end();
  await engine.disarm();
}
