import { DurableObject } from "cloudflare:workers";
import { createHmac, randomBytes } from "node:crypto";
import type { Team } from "../../src/config/team";
import { type Attached, runningTurn } from "../../src/coordination";
import type { ContextChanges } from "../../src/protocol/contexts";
import type { PinnedContext } from "../../src/protocol/events";
import { unpricedAgents } from "../../src/protocol/team";
import { LOCAL_TENANT } from "../../src/tenancy/principal";
import {
  parseStreamUrl,
  STREAM_CODE_HEADER,
  type StreamCode,
} from "../../src/protocol/stream-request";
import { acceptAttachments, AttachmentStore } from "./admission/attachments";
import { BucketTurns } from "./files/storage-queue";
import { Containers } from "./tools/containers";
import { contextServices } from "../shared/context-services";
import { Engine } from "./engine";
import type { Env } from "../../src/env";
import { ATTACHMENT_READ_MS, DEFAULT_READERS } from "../shared/limits";
import { ModelCalls } from "./calls/model-calls";
import { modelFetch } from "./calls/model-fetch";
import { toolFetch } from "../shared/outgoing";
import { KeyStore } from "../../d1/key-store";
import { KeyWatch } from "./streams/key-revocation";
import { createTables, tablesExist } from "./session-tables";
import { sessionWorkspaces } from "./files/session-files";
import { type SessionTools, sessionTools } from "./tools/session-tools";
import { SessionLog } from "./log/session-log";
import {
  CALLER_KEY_HEADER,
  CALLER_TENANT_HEADER,
  type EventPage,
  type PageRequest,
  type SessionObjectApi,
  type StartRefusal,
  type Started,
  type StartTurn,
} from "./session-api";
import { RateWaits } from "./calls/rate-waits";
import { TeamKeys } from "./calls/team-keys";
import { TenantLink } from "./admission/tenant-link";
import { Tickets } from "./streams/tickets";
import { commandsOf } from "./tools/tool-secrets";
import { pinnedContexts } from "./admission/turn-contexts";

/** A turn with all that it is given. */
type GrantedTurn = StartTurn & { contexts: readonly PinnedContext[] };

const NOT_FOUND = { ok: false, code: "session_not_found" } as const;
const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store, no-transform",
};

/** A turn that somebody wants to start. `attached`: what comes with its question. */
type Asked = {
  turn: StartTurn;
  team: Team;
  attached: Attached | null;
  tenant: string;
  sessionId: string;
};
/** `team`: of a session that begins with it. */
type Granted = { turn: GrantedTurn; attached: Attached | null; team: Team | null };

/**
 * One session: its log, its running turn, its streams. A shell: rules live in `coordination/`, and everything that must
 * survive lies in SQLite before anyone hears of it.
 */
export class SessionObject extends DurableObject<Env> implements SessionObjectApi {
  #engine: Engine | null = null;
  #tenant = "";
  #keyWatch: KeyWatch | null = null;
  #sessionLog: SessionLog | null = null;
  #tools: SessionTools | null = null;
  #isErased = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    if (!tablesExist(ctx.storage.sql)) return;
    createTables(ctx.storage.sql);
    this.#engine = this.#load();
    this.#engine.boot();
  }

  async create(
    tenant: string,
    sessionId: string,
    team: Team,
    turn: StartTurn,
  ): Promise<Started | StartRefusal> {
    const known = this.#of(tenant);
    if (this.#engine && !known) return NOT_FOUND;
    if (this.#isErased) return NOT_FOUND;
    if (known && known.state.turns > 0) return { ok: true, turn: 1 };
    const accepted = acceptAttachments(team, turn.attachments ?? [], () => []);
    if (!accepted.ok) return accepted;
    const kept = new TeamKeys(this.env, { tenant, session: sessionId }).seal(team);
    const link = new TenantLink(this.env, tenant, sessionId);
    const granted = await this.#grant(link, 1, {
      turn,
      team,
      attached: accepted.attached,
      tenant,
      sessionId,
    });
    // Another request may have done the same in the meantime, or erased it.
    if (this.#isErased)
      return this.#giveBack(link, 1, { turn, store: this.#attachments(tenant, sessionId) });
    if (this.#engine && this.#engine.state.turns > 0)
      return this.create(tenant, sessionId, team, turn);
    if (!granted.ok) return granted;
    this.#engine ??= this.#make({ tenant, session_id: sessionId, team: JSON.stringify(kept) });
    return this.#startGranted(this.#engine, link, {
      turn: granted.turn,
      attached: accepted.attached,
      team: kept,
    });
  }

  async startTurn(tenant: string, turn: StartTurn): Promise<Started | StartRefusal> {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    const earlier = this.#startedAs(turn);
    if (earlier) return earlier;
    const running = runningTurn(engine.state);
    if (running) return { ok: false, code: "turn_running", turn: running.number };
    if (turn.parentTurn !== null && turn.parentTurn > engine.state.turns)
      return { ok: false, code: "turn_not_found" };
    const unpriced =
      turn.budget.max_cost_usd === undefined ? [] : unpricedAgents(engine.facts.team.rules);
    if (unpriced.length > 0) return { ok: false, code: "price_unknown", agents: unpriced };
    const { team, sessionId } = engine.facts;
    const accepted = acceptAttachments(team, turn.attachments ?? [], () =>
      engine.journal.queries.attachments(),
    );
    if (!accepted.ok) return accepted;
    const { attached } = accepted;
    const number = engine.state.turns + 1;
    const link = new TenantLink(this.env, tenant, sessionId);
    const granted = await this.#grant(link, number, { turn, team, attached, tenant, sessionId });
    if (!granted.ok) return granted;
    if (this.#isErased)
      return this.#giveBack(link, number, { turn, store: this.#attachments(tenant, sessionId) });
    if (engine.state.turns >= number) {
      return this.#startedAs(turn) ?? { ok: false, code: "turn_running", turn: engine.state.turns };
    }
    return this.#startGranted(engine, link, { turn: granted.turn, attached, team: null });
  }

  async cancel(tenant: string) {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    engine.handle({ type: "cancel_requested" });
    const turn = engine.state.turns;
    return {
      ok: true,
      turn,
      status: engine.journal.queries.turn(turn)?.status ?? "cancelled",
    } as const;
  }

  async erase(tenant: string): Promise<boolean> {
    const engine = this.#of(tenant);
    if (!engine) return false;
    this.#isErased = true; // from here on there is no session; what waits for the tenant's word starts none
    try {
      await engine.stop();
      this.ctx.waitUntil(this.#tools?.close() ?? Promise.resolve());
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
    } catch (error) {
      this.#isErased = false;
      throw error;
    }
    this.#engine = null;
    this.#sessionLog = null;
    return true;
  }

  async status(tenant: string) {
    const engine = this.#of(tenant);
    const status = engine?.journal.queries.status(engine.now());
    return status ? ({ ok: true, status } as const) : NOT_FOUND;
  }

  async turn(tenant: string, number: number) {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    const turn = engine.journal.queries.turn(number);
    return turn ? ({ ok: true, turn } as const) : ({ ok: false, code: "turn_not_found" } as const);
  }

  async answer(tenant: string, turn: number, label: string, attempt: number | null) {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    if (!this.#log().turn(turn)) return { ok: false, code: "turn_not_found" } as const;
    const answer = engine.journal.queries.answer(turn, label, attempt);
    return answer
      ? ({ ok: true, answer } as const)
      : ({ ok: false, code: "answer_not_found" } as const);
  }

  async files(tenant: string, turn: number, label: string | null, attempt: number | null) {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    if (!this.#log().turn(turn)) return { ok: false, code: "turn_not_found" } as const;
    const answer = label === null ? null : engine.journal.queries.snapshotOf(turn, label, attempt);
    if (label !== null && !answer) return { ok: false, code: "answer_not_found" } as const;
    return { ok: true, files: engine.workspaces.frozen(turn, answer) } as const;
  }

  async blob(tenant: string, hash: string) {
    const engine = this.#of(tenant);
    return engine
      ? engine.workspaces.contents(hash)
      : ({ ok: false, code: "file_not_found" } as const);
  }

  async changes(tenant: string, turn: number) {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    if (!this.#log().turn(turn)) return { ok: false, code: "turn_not_found" } as const;
    return { ok: true, changes: changesOf(engine, turn) } as const;
  }

  async changedContents(tenant: string, turn: number, hash: string) {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    if (!this.#log().turn(turn)) return { ok: false, code: "turn_not_found" } as const;
    const isNamed = changesOf(engine, turn).some(({ changes }) =>
      changes.some((change) => change.hash === hash),
    );
    return isNamed
      ? engine.workspaces.contents(hash)
      : ({ ok: false, code: "file_not_found" } as const);
  }

  async events(
    tenant: string,
    request: PageRequest,
  ): Promise<
    { ok: true; page: EventPage } | { ok: false; code: "session_not_found" | "turn_not_found" }
  > {
    const engine = this.#of(tenant);
    if (!engine) return NOT_FOUND;
    if (request.turn !== null && !this.#log().turn(request.turn))
      return { ok: false, code: "turn_not_found" };
    return { ok: true, page: engine.journal.queries.page(request) };
  }

  async issueTicket(tenant: string, keyId: string | null) {
    if (!this.#of(tenant)) return NOT_FOUND;
    return {
      ok: true,
      ...new Tickets(this.ctx.storage.sql).issue(tenant, keyId, Date.now()),
    } as const;
  }

  async redeemTicket(tenant: string, ticket: string) {
    return this.#of(tenant) && new Tickets(this.ctx.storage.sql).redeem(ticket, Date.now());
  }

  /** The event stream; everything else is asked by method. */
  override async fetch(request: Request): Promise<Response> {
    const asked = parseStreamUrl(request.url);
    const engine = this.#of(request.headers.get(CALLER_TENANT_HEADER) ?? "");
    const code = engine ? this.#streamCode(engine, asked) : "session_not_found";
    const headers = { ...STREAM_HEADERS, [STREAM_CODE_HEADER]: code };
    const keyId = request.headers.get(CALLER_KEY_HEADER);
    const body = code === "open" ? engine?.journal.streams.open(asked, keyId) : null;
    if (body && keyId !== null) this.#keyWatch?.start();
    return new Response(body ?? null, { headers });
  }

  override async alarm(): Promise<void> {
    await this.#engine?.wake();
  }

  /** The session, for the tenant it was made for; to any other there is none. */
  #of(tenant: string): Engine | null {
    return this.#tenant === tenant && !this.#isErased ? this.#engine : null;
  }

  #make(facts: Readonly<Record<string, string>>): Engine {
    const { sql } = this.ctx.storage;
    this.ctx.storage.transactionSync(() => {
      createTables(sql);
      for (const [key, value] of Object.entries({
        ...facts,
        secret: randomBytes(32).toString("hex"),
      })) {
        sql.exec("INSERT INTO meta (key, value) VALUES (?, ?)", key, value);
      }
    });
    return this.#load();
  }

  /** The session as it lies on disk, not yet running. */
  #load(): Engine {
    const { sql } = this.ctx.storage;
    const rows = sql.exec<{ key: string; value: string }>("SELECT key, value FROM meta").toArray();
    const meta = new Map(rows.map(({ key, value }) => [key, value]));
    const secret = meta.get("secret") ?? "";
    const sessionId = meta.get("session_id") ?? "";
    this.#tenant = meta.get("tenant") ?? LOCAL_TENANT;
    const holder = { tenant: this.#tenant, session: sessionId };
    const teamKeys = new TeamKeys(this.env, holder);
    this.#sessionLog = new SessionLog(sql);
    const boot = Number(meta.get("boot") ?? 0) + 1;
    if (this.#sessionLog.isTurnOpen())
      sql.exec("INSERT OR REPLACE INTO meta (key, value) VALUES ('boot', ?)", String(boot));
    const link = new TenantLink(this.env, this.#tenant, sessionId);
    const team = this.#loadTeam(meta.get("team") ?? "", teamKeys);
    const log = this.#sessionLog;
    const fetch = toolFetch(this.env);
    const turns = new BucketTurns();
    const attachments = this.#attachments(this.#tenant, sessionId, turns);
    const containers = new Containers({
      sandboxes: this.env.SANDBOX,
      place: commandsOf(this.env),
      session: sessionId,
      team,
    });
    const engine = new Engine({
      ctx: this.ctx,
      log: this.#sessionLog,
      workspaces: sessionWorkspaces({
        storage: this.ctx.storage,
        log: this.#sessionLog,
        bucket: this.env.BUCKET,
        turns,
        place: holder,
        team,
        contexts: contextServices(this.env),
      }),
      ...{ sessionId, team, boot },
      maxReaders: Number(this.env.MAX_READERS) || DEFAULT_READERS,
      nonce: (turn, attempt, agent) =>
        createHmac("sha256", secret)
          .update(`${turn} ${attempt} ${agent}`)
          .digest("hex")
          .slice(0, 16),
      performer: (engine) => {
        const tools = sessionTools({
          env: this.env,
          engine,
          log,
          sql,
          team,
          containers,
          fetch,
          holder,
        });
        this.#tools = tools;
        return new ModelCalls({
          engine,
          keyOf: (agent) => teamKeys.keyOf(agent),
          background: this.env.BACKGROUND_REPLIES === "on",
          ...modelFetch(this.env),
          rates: new RateWaits({
            session: sessionId,
            gate: () => this.env.RATES.get(this.env.RATES.idFromName(this.#tenant)),
            now: () => engine.now(),
          }),
          tools,
          readAttachment: (attachment) => attachments.read(attachment),
        });
      },
      containers,
      settle: (turn) => link.settle(turn, sql),
    });
    const keys = new KeyStore(this.env.DB);
    this.#keyWatch = new KeyWatch({
      streams: engine.journal.streams,
      live: (ids) => keys.live(ids, Date.now()),
    });
    return engine;
  }

  /** The team as it is kept. A new version of the sealing keys takes over whatever an older one has sealed. */
  #loadTeam(stored: string, keys: TeamKeys): Team {
    const team: Team = JSON.parse(stored);
    const renewed = keys.renew(team);
    if (renewed)
      this.ctx.storage.sql.exec(
        "UPDATE meta SET value = ? WHERE key = 'team'",
        JSON.stringify(renewed),
      );
    return renewed ?? team;
  }

  #log(): SessionLog {
    if (!this.#sessionLog) throw new Error("the session has no log yet");
    return this.#sessionLog;
  }

  #streamCode(engine: Engine, { after, turn }: { after: number; turn: number | null }): StreamCode {
    const log = this.#log();
    const place = turn === null ? null : log.turn(turn);
    if (turn !== null && !place) return "turn_not_found";
    if (place?.lastSeq != null && after >= place.lastSeq) return "over";
    if (after > log.head) return "event_id_ahead";
    return engine.journal.streams.isFull ? "too_many_readers" : "open";
  }

  /**
   * The turn with the budget its tenant has for it, with what the tenant has uploaded, and with all it brings put where its calls
   * will read it; or why there is none.
   */
  async #grant(
    link: TenantLink,
    number: number,
    { turn, team, attached, tenant, sessionId }: Asked,
  ) {
    const pinned = await pinnedContexts(
      contextServices(this.env).pins,
      { tenant, session: sessionId, turn: number },
      team,
    );
    if (!pinned.ok) return pinned;
    const history = () =>
      this.#engine?.journal.queries.history(turn.parentTurn ?? number - 1) ?? [];
    const granted = await link.ask(number, { turn, team, attached, history });
    if (!granted.ok) this.ctx.waitUntil(pinned.giveBack());
    if (!granted.ok) return granted;
    try {
      await this.#attachments(tenant, sessionId).put(turn.attachments ?? []);
    } catch (error) {
      this.ctx.waitUntil(Promise.all([link.release(number), pinned.giveBack()]));
      throw error;
    }
    const capped = granted.maxCostUsd === null ? {} : { max_cost_usd: granted.maxCostUsd };
    return {
      ok: true,
      turn: { ...turn, budget: { ...turn.budget, ...capped }, contexts: pinned.contexts },
    } as const;
  }

  /** The place of a turn that will not be started, as its session is gone; nothing of it stays. */
  #giveBack(
    link: TenantLink,
    number: number,
    { turn, store }: { turn: StartTurn; store: AttachmentStore },
  ): typeof NOT_FOUND {
    this.ctx.waitUntil(link.release(number));
    this.ctx.waitUntil(store.remove(turn.attachments ?? []));
    return NOT_FOUND;
  }

  #attachments(tenant: string, session: string, turns = new BucketTurns()): AttachmentStore {
    return new AttachmentStore({
      bucket: this.env.BUCKET,
      tenant,
      session,
      turns,
      readMs: ATTACHMENT_READ_MS,
    });
  }

  /** Starts it; a turn that could not even begin gives its place back. */
  #startGranted(engine: Engine, link: TenantLink, granted: Granted): Started {
    try {
      return this.#start(engine, granted);
    } catch (error) {
      this.ctx.waitUntil(link.release(engine.state.turns + 1));
      throw error;
    }
  }

  /** The turn that this start has begun already; null if it is a new one. */
  #startedAs({ startId }: StartTurn): Started | null {
    if (startId === undefined) return null;
    const query = "SELECT turn FROM starts WHERE id = ?";
    const [row] = this.ctx.storage.sql.exec<{ turn: number }>(query, startId).toArray();
    return row ? { ok: true, turn: row.turn } : null;
  }

  #start(engine: Engine, { turn, attached, team }: Granted): Started {
    const { question, budget, timeoutMs, contexts } = turn;
    const latest = engine.state.turns === 0 ? null : engine.state.turns;
    const parentTurn = turn.parentTurn ?? latest;
    const rules = team?.rules ?? null;
    engine.handle({
      type: "turn_requested",
      rules,
      question,
      attached,
      parentTurn,
      budget,
      timeoutMs,
      contexts,
    });
    // Nothing awaits in between, so the platform stores both or neither.
    if (turn.startId !== undefined) {
      this.ctx.storage.sql.exec(
        "INSERT INTO starts (id, turn) VALUES (?, ?)",
        turn.startId,
        engine.state.turns,
      );
    }
    return { ok: true, turn: engine.state.turns };
  }
}

/** What a completed turn made of contexts. What another leaves behind is dropped: its final text is none. */
function changesOf(engine: Engine, turn: number): ContextChanges[] {
  if (engine.journal.queries.turn(turn)?.status !== "completed") return [];
  return engine.workspaces.contextChanges(turn).map(({ context, version, changes }) => ({
    context,
    base_version: version,
    changes: [...changes].map(([path, entry]) => ({ path, ...(entry ?? { hash: null, size: 0 }) })),
  }));
}
