import type { SessionPlace } from "../../r2-layout/session-files";
import { MonotonicClock } from "../../src/async/clock";
import { Coordinator } from "../../src/engine/coordinator";
import { Engine } from "../../src/engine/engine";
import type { Performer, SessionHost } from "../../src/engine/ports";
import { BEGINS_AGAIN } from "../../src/providers/platform-words";
import { CALL_SLOTS, HEADER_LIMIT_MS } from "../shared/object-limits";
import type { SettledTurn } from "../tenant/tenant-api";
import { CallStore } from "./calls/call-store";
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
import type { SessionFacts } from "./session-facts";
import { SessionQueries } from "./session-queries";
import { EventStreams } from "./streams/event-streams";
import type { ContainerJob, Containers } from "./tools/containers";

type Files = Parameters<typeof sessionWorkspaces>[0];

type Options = Pick<Files, "bucket" | "storageQueue" | "contexts" | "stored"> & {
  platform: Platform;
  facts: SessionFacts;
  place: SessionPlace;
  /** Readers of the session's streams at a time. */
  maxReaders: number;
  /** Omitted: agents' commands run in no container. */
  containers?: Pick<Containers, "jobs" | "perform">;
  /** Reports to the tenant that a turn has ended. Throws if the tenant was not reached. */
  settle: (turn: SettledTurn) => Promise<void>;
  /** Logs a fault of our own. */
  onFault: (error: unknown) => void;
};

/**
 * The parts of a session that only need its storage. The performer of its effects is built from
 * them.
 */
export type SessionParts = ReturnType<typeof composeSession>;

/** Builds a session over its storage. `createEngine` makes it run. */
export function composeSession({ platform, facts, place, ...options }: Options) {
  const { storage } = platform;
  const { sql } = storage;
  const { sessionId, team, boot } = facts;
  const log = new SessionLog(sql);
  const clock = new MonotonicClock(() => Date.now(), log.lastAt());
  const now = () => clock.now();
  const [calls, points] = [new CallStore(sql), new ResumePoints(sql)];
  const queries = new SessionQueries(log, sessionId);
  const { maxReaders } = options;
  const streams = new EventStreams({
    ...{ log, sessionId, maxReaders, now },
    endedAt: () => log.endedAt,
  });
  const { bucket, storageQueue, contexts, stored } = options;
  const workspaces = sessionWorkspaces({
    ...{ storage, log, team, place, bucket, contexts },
    ...(storageQueue && { storageQueue }),
    ...(stored && { stored }),
  });
  const settlements = new Outbox<SettledTurn>(sql, "outbox");
  const journal = new Journal({
    ...{ platform, log, sessionId, calls, points, queries, now },
    outbox: settlements,
    publish: (rows) => streams.publish(rows),
    isWatched: () => streams.watched,
  });
  const records = new RoundRecords({ ...facts, log, calls, queries });
  const { rules } = team;
  const host: SessionHost = {
    ...{ sessionId, boot, now },
    storage: new SessionStore({ log, journal, records, files: workspaces, sessionId, rules }),
    alarm: storage,
    waitUntil: (work) => platform.waitUntil(work),
    report: (error) => {
      if (!isPlatformFault(error)) return options.onFault(error);
      platform.abort(BEGINS_AGAIN);
      throw error;
    },
  };
  return {
    ...{ facts, platform, log, calls, points, queries, streams, workspaces, host, now },
    coordinator: new Coordinator(host),
    slots: new Semaphore(CALL_SLOTS, HEADER_LIMIT_MS),
    background: backgroundWork({ ...options, sessionId, sql, settlements, workspaces, now }),
  };
}

type Background = Pick<Options, "containers" | "settle"> & {
  sessionId: string;
  sql: Platform["storage"]["sql"];
  settlements: Outbox<SettledTurn>;
  workspaces: ReturnType<typeof sessionWorkspaces>;
  now: () => number;
};

/** Work that outlives turns. */
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
    /** Adds the containers of the session that is being erased, each once. */
    addContainers: () => {
      const added = new Set(containerOutbox.all().map(({ name }) => name));
      for (const job of containers?.jobs() ?? [])
        if (!added.has(job.name)) containerOutbox.add(job);
    },
  };
}

/** The engine that runs a session. It does nothing before it boots. */
export function createEngine(
  { host, coordinator, slots, background }: SessionParts,
  performer: Performer,
): Engine {
  const { settlements, files, containers } = background;
  return new Engine({
    ...{ host, coordinator, performer, slots },
    building: new Semaphore(1, HEADER_LIMIT_MS),
    maxHoldMs: HEADER_LIMIT_MS,
    background: [settlements, files, containers],
  });
}

/**
 * Stops a session before it is erased: cancels what runs, settles every turn with the tenant,
 * destroys containers, ends uploads to R2, and closes streams. No timer remains. Throws if a turn
 * was not settled or a container not destroyed. Then it may be called again; meanwhile both are
 * retried.
 */
export async function stopSession(
  { platform, coordinator, background, workspaces, streams }: SessionParts,
  engine: Engine,
): Promise<void> {
  const { storage } = platform;
  coordinator.handle({ type: "cancel_requested" });
  storage.transactionSync(background.addContainers);
  try {
    await background.settlements.finish();
    await background.containers.finish();
  } catch (error) {
    engine.arm();
    throw error;
  }
  // An upload that ends after the session's files are erased in R2 would stay there for ever.
  await Promise.all([background.files.stop(), workspaces.close()]);
  // Readers are sent the last events only once those are on disk.
  await storage.sync();
  streams.end();
  await engine.disarm();
}
