import { createHmac, randomBytes } from "node:crypto";
import { KeyStore } from "../../d1/key-store";
import type { Team } from "../../src/config/team";
import type { Env } from "../../src/env";
import { LOCAL_TENANT } from "../../src/tenancy/principal";
import { contextServices } from "../shared/context-services";
import { ATTACHMENT_READ_MS, DEFAULT_READERS } from "../shared/limits";
import { toolFetch } from "../shared/outgoing";
import { AttachmentStore } from "./admission/attachments";
import { TenantLink } from "./admission/tenant-link";
import { ModelCalls } from "./calls/model-calls";
import { modelFetch } from "./calls/model-fetch";
import { RateWaits } from "./calls/rate-waits";
import { TeamKeys } from "./calls/team-keys";
import { Engine, type SessionFacts } from "./engine";
import { sessionWorkspaces } from "./files/session-files";
import { BucketTurns } from "./files/storage-queue";
import { SessionLog } from "./log/session-log";
import { createTables } from "./session-tables";
import { KeyWatch } from "./streams/key-revocation";
import { Containers } from "./tools/containers";
import { type SessionTools, sessionTools } from "./tools/session-tools";
import { commandsOf } from "./tools/tool-secrets";

/** A session that has been loaded from its tables. */
export type Session = {
  tenant: string;
  sessionId: string;
  team: Team;
  engine: Engine;
  log: SessionLog;
  tools: SessionTools;
  keyWatch: KeyWatch;
};

/** What a session is created with. `team`: as JSON, with sealed keys. */
export type SessionMeta = { tenant: string; session_id: string; team: string };

type Holder = { tenant: string; session: string };

/** Makes the tables of a session, and loads it. */
export function createSession(ctx: DurableObjectState, env: Env, meta: SessionMeta): Session {
  const { sql } = ctx.storage;
  const rows = { ...meta, secret: randomBytes(32).toString("hex") };
  ctx.storage.transactionSync(() => {
    createTables(sql);
    for (const [key, value] of Object.entries(rows))
      sql.exec("INSERT INTO meta (key, value) VALUES (?, ?)", key, value);
  });
  return loadSession(ctx, env);
}

/** Builds a session from its tables and the bindings. It does nothing before its engine boots. */
export function loadSession(ctx: DurableObjectState, env: Env): Session {
  const { sql } = ctx.storage;
  const rows = sql.exec<{ key: string; value: string }>("SELECT key, value FROM meta").toArray();
  const meta = new Map(rows.map(({ key, value }) => [key, value]));
  const tenant = meta.get("tenant") ?? LOCAL_TENANT;
  const sessionId = meta.get("session_id") ?? "";
  const holder = { tenant, session: sessionId };
  const teamKeys = new TeamKeys(env, holder);
  const log = new SessionLog(sql);
  const boot = Number(meta.get("boot") ?? 0) + 1;
  if (log.isTurnOpen())
    sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('boot', ?)", String(boot));
  const team = loadTeam(sql, meta.get("team") ?? "", teamKeys);
  const facts = { sessionId, team, boot, nonce: nonceOf(meta.get("secret") ?? "") };
  const { engine, tools } = composeEngine(ctx, env, { facts, holder, log, teamKeys });
  const keys = new KeyStore(env.DB);
  const keyWatch = new KeyWatch({
    streams: engine.journal.streams,
    live: (ids) => keys.live(ids, Date.now()),
  });
  return { tenant, sessionId, team, engine, log, tools, keyWatch };
}

type Parts = {
  facts: SessionFacts;
  holder: Holder;
  log: SessionLog;
  teamKeys: TeamKeys;
};

function composeEngine(
  ctx: DurableObjectState,
  env: Env,
  { facts, holder, log, teamKeys }: Parts,
): { engine: Engine; tools: SessionTools } {
  const { storage } = ctx;
  const { sql } = storage;
  const { team } = facts;
  const turns = new BucketTurns();
  const attachments = attachmentStore(env, holder, turns);
  const link = new TenantLink(env, holder.tenant, holder.session);
  const containers = new Containers({
    sandboxes: env.SANDBOX,
    place: commandsOf(env),
    session: holder.session,
    team,
  });
  const workspaces = sessionWorkspaces({
    storage,
    log,
    bucket: env.BUCKET,
    turns,
    place: holder,
    team,
    contexts: contextServices(env),
  });
  const fetch = toolFetch(env);
  const toolsOf = (engine: Engine) =>
    sessionTools({ env, engine, log, sql, team, containers, fetch, holder });
  let tools: SessionTools | null = null;
  const engine = new Engine({
    ctx,
    log,
    workspaces,
    ...facts,
    maxReaders: Number(env.MAX_READERS) || DEFAULT_READERS,
    performer: (made) => {
      tools = toolsOf(made);
      return new ModelCalls({
        engine: made,
        keyOf: (agent) => teamKeys.keyOf(agent),
        background: env.BACKGROUND_REPLIES === "on",
        ...modelFetch(env),
        rates: new RateWaits({
          session: holder.session,
          gate: () => env.RATES.get(env.RATES.idFromName(holder.tenant)),
          now: () => made.now(),
        }),
        tools,
        readAttachment: (attachment) => attachments.read(attachment),
      });
    },
    containers,
    settle: (turn) => link.settle(turn, sql),
  });
  return { engine, tools: tools ?? toolsOf(engine) };
}

/** The team as it is stored. Keys that an older version of SEALING_KEYS sealed are sealed again with the newest. */
function loadTeam(sql: SqlStorage, stored: string, keys: TeamKeys): Team {
  const team: Team = JSON.parse(stored);
  const renewed = keys.renew(team);
  if (renewed) sql.exec("UPDATE meta SET value = ? WHERE key = 'team'", JSON.stringify(renewed));
  return renewed ?? team;
}

const nonceOf =
  (secret: string): SessionFacts["nonce"] =>
  (turn, attempt, agent) =>
    createHmac("sha256", secret).update(`${turn} ${attempt} ${agent}`).digest("hex").slice(0, 16);

/** `turns`: omitted if nothing else of the session reads R2 at the same time. */
export function attachmentStore(
  env: Env,
  { tenant, session }: Holder,
  turns = new BucketTurns(),
): AttachmentStore {
  return new AttachmentStore({
    bucket: env.BUCKET,
    tenant,
    session,
    turns,
    readMs: ATTACHMENT_READ_MS,
  });
}
