import { pacedBucket } from "../../r2-layout/paced-bucket";
import { randomBytes } from "node:crypto";
import { KeyStore } from "../../d1/key-store";
import type { SessionPlace } from "../../r2-layout/session-files";
import { commandsOf } from "../../src/config/operator-settings";
import type { Engine } from "../../src/engine/engine";
import type { Env } from "../../src/env";
import { logError } from "../../src/redaction/log";
import { LOCAL_TENANT } from "../../src/tenancy/principal";
import { contextServices } from "../shared/context-services";
import { ATTACHMENT_READ_MS, DEFAULT_READERS } from "../shared/object-limits";
import { fetchOf, toolNetwork } from "../shared/outgoing";
import { ownFetch } from "../shared/own-fetch";
import { AttachmentStore } from "./admission/attachments";
import { TenantLink } from "./admission/tenant-link";
import { ModelCalls } from "./calls/model-calls";
import { probedNetwork } from "./calls/model-network";
import { RateWaits } from "./calls/rate-waits";
import type { Relays } from "./calls/relays";
import { TeamKeys } from "./calls/team-keys";
import { composeSession, createEngine, type SessionParts } from "./compose";
import { StorageQueue } from "./files/storage-queue";
import { noncesOf } from "./nonces";
import { renewQueuedTeams } from "./queue/queue-store";
import type { QueuedStarts } from "./queue/queue-worker";
import type { SessionFacts } from "./session-facts";
import { createTables } from "./session-tables";
import { KeyRevocation } from "./streams/key-revocation";
import { Containers } from "./tools/containers";
import { type SessionTools, sessionTools } from "./tools/session-tools";
import { loadTurnTeams, type TurnTeams } from "./turn-teams";

/** A session that has been loaded from its tables. */
export type Session = SessionParts & {
  tenant: string;
  teams: TurnTeams;
  engine: Engine;
  tools: SessionTools;
  keyRevocation: KeyRevocation;
};

/** The data that a session is created with. `team` is JSON with sealed keys. */
export type SessionMeta = { tenant: string; session_id: string; team: string };

/** The object that a session lives in, with its relays, and the starts of queued turns. */
type SessionHome = {
  ctx: DurableObjectState;
  env: Env;
  relays: Relays;
  queuedStarts: QueuedStarts;
};

/** A session's dependencies outside its own storage. */
type SessionDependencies = {
  env: Env;
  place: SessionPlace;
  teamKeys: TeamKeys;
  storageQueue: StorageQueue;
  containers: Containers;
  relays: Relays;
  queuedStarts: QueuedStarts;
};

/** Creates the tables of a session, and loads it. */
export function createSession(home: SessionHome, meta: SessionMeta): Session {
  const { storage } = home.ctx;
  const { sql } = storage;
  const secret = randomBytes(32).toString("hex");
  const rows = { ...meta, secret, [CHANGING_NONCES]: "0" };
  storage.transactionSync(() => {
    createTables(sql);
    for (const [key, value] of Object.entries(rows))
      sql.exec("INSERT INTO meta (key, value) VALUES (?, ?)", key, value);
  });
  return loadSession(home);
}

/**
 * Builds a session from its tables and the deployment's bindings. The session does nothing before
 * its engine boots.
 */
export function loadSession({ ctx, env, relays, queuedStarts }: SessionHome): Session {
  const { sql } = ctx.storage;
  const rows = sql.exec<{ key: string; value: string }>("SELECT key, value FROM meta").toArray();
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  const tenant = meta.get("tenant") ?? LOCAL_TENANT;
  const place = { tenant, session: meta.get("session_id") ?? "" };
  const teamKeys = new TeamKeys(env, place);
  const boot = Number(meta.get("boot") ?? 0) + 1;
  if (isTurnOpen(sql))
    sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('boot', ?)", String(boot));
  const teams = loadTurnTeams(sql, teamKeys);
  renewQueuedTeams(sql, teamKeys);
  const nonce = noncesOf(meta.get("secret") ?? "", changingNoncesUpTo(sql, meta));
  const containers = new Containers({
    ...{ sandboxes: env.SANDBOX, place: commandsOf(env), session: place.session, teams },
  });
  const dependencies = {
    ...{ env, place, teamKeys, containers, relays, queuedStarts },
    storageQueue: new StorageQueue(),
  };
  const parts = partsOf(ctx, { sessionId: place.session, teams, boot, nonce }, dependencies);
  const tools = toolsOf(parts, dependencies);
  const engine = createEngine(parts, modelCalls(parts, dependencies, tools));
  const keys = new KeyStore(env.DB);
  const keyRevocation = new KeyRevocation({
    streams: parts.streams,
    live: (ids) => keys.live(ids, Date.now()),
  });
  return { ...parts, teams, tenant, engine, tools, keyRevocation };
}

function partsOf(
  ctx: DurableObjectState,
  facts: SessionFacts,
  { env, place, storageQueue, containers, queuedStarts }: SessionDependencies,
): SessionParts {
  const { sql } = ctx.storage;
  const contexts = contextServices(env);
  const link = new TenantLink(env, place.tenant, place.session);
  return composeSession({
    ...{ platform: ctx, facts, place, storageQueue, contexts, containers, queuedStarts },
    bucket: pacedBucket(env.BUCKET),
    commandPlace: commandsOf(env),
    stored: () => contexts.stored(place, sql),
    maxReaders: Number(env.MAX_READERS) || DEFAULT_READERS,
    settle: (turn) => link.settle(turn, sql),
    onFault: (error) => logError("internal error", place.session, error),
  });
}

function toolsOf(
  parts: SessionParts,
  { env, place, containers, relays }: SessionDependencies,
): SessionTools {
  const { coordinator, facts, log, platform, slots, now } = parts;
  const networkOver = toolNetwork(env);
  return sessionTools({
    ...{ env, session: coordinator, slots, now, log, containers },
    sql: platform.storage.sql,
    teams: facts.teams,
    fetch: fetchOf(networkOver(ownFetch)),
    fetchOver: (relay) => fetchOf(networkOver(relays.of(relay).fetch)),
    holder: place,
  });
}

function modelCalls(
  parts: SessionParts,
  { env, place, teamKeys, storageQueue, relays }: SessionDependencies,
  tools: SessionTools,
): ModelCalls {
  const { coordinator, facts, calls, points, workspaces, now } = parts;
  const attachments = attachmentStore(env, place, storageQueue);
  return new ModelCalls({
    ...{ session: coordinator, facts, calls, points, workspaces, now, tools },
    ...probedNetwork(env),
    relayOf: (relay) => relays.of(relay),
    keyOf: (agent) => teamKeys.keyOf(agent),
    background: env.BACKGROUND_REPLIES === "on",
    rates: new RateWaits({
      session: place.session,
      gate: () => env.RATES.get(env.RATES.idFromName(place.tenant)),
      now,
    }),
    readAttachment: (attachment) => attachments.read(attachment),
  });
}

const isTurnOpen = (sql: SqlStorage): boolean =>
  sql.exec("SELECT 1 FROM turns WHERE last_seq IS NULL LIMIT 1").toArray().length > 0;

/** The last turn whose attempts have nonces of their own. */
const CHANGING_NONCES = "changing_nonces_up_to";

/**
 * The last turn whose attempts have nonces of their own; 0 if no turn has. A session of an earlier
 * version lacks this entry. Its turns so far keep their nonces, because one of them may be running.
 */
function changingNoncesUpTo(sql: SqlStorage, meta: ReadonlyMap<string, string>): number {
  const stored = meta.get(CHANGING_NONCES);
  if (stored !== undefined) return Number(stored);
  const [last] = sql.exec<{ turn: number | null }>("SELECT max(turn) AS turn FROM turns").toArray();
  const upTo = last?.turn ?? 0;
  sql.exec("INSERT INTO meta (key, value) VALUES (?, ?)", CHANGING_NONCES, String(upTo));
  return upTo;
}

/**
 * The store of a session's attachments. `storageQueue`: the session's storage queue; omitted if
 * nothing else reads R2 at the same time.
 */
export function attachmentStore(
  env: Env,
  { tenant, session }: SessionPlace,
  storageQueue = new StorageQueue(),
): AttachmentStore {
  return new AttachmentStore({
    ...{ bucket: env.BUCKET, tenant, session, storageQueue },
    readMs: ATTACHMENT_READ_MS,
  });
}
