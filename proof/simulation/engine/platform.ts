import {
  composeSession,
  createEngine,
  type SessionParts,
} from "../../../durable-objects/session/compose";
import { ModelCalls } from "../../../durable-objects/session/calls/model-calls";
import { noncesOf } from "../../../durable-objects/session/nonces";
import { createTables } from "../../../durable-objects/session/session-tables";
import type { TurnPlace } from "../../../durable-objects/session/log/session-log";
import { RateWaits } from "../../../durable-objects/session/calls/rate-waits";
import { TurnTeams } from "../../../durable-objects/session/turn-teams";
import type { SettledTurn } from "../../../durable-objects/tenant/tenant-api";
import {
  hasAllListings,
  changesListing,
  listingsOf,
  type ModelCallEffect,
  runningTurn,
} from "../../../src/coordination";
import type { Engine } from "../../../src/engine/engine";
import type { Performer } from "../../../src/engine/ports";
import type { ToolsListing } from "../../../src/protocol/events";
import type { Tool } from "../../../src/tools/tool";
import { SimulatedBucket } from "./bucket";
import { SimulatedContexts } from "./contexts";
import { Disk, DiskError, ProcessGone } from "../../../simulated/disk";
import type { Fault, Faults } from "./faults";
import { Gate } from "./gate";
import { ProcessDeath } from "./process-death";
import { type CallNetwork, Providers } from "./providers";
import { admissionOf, type SimulatedAdmission } from "./queued-starts";
import { type SessionSetup, type EngineSituation, SESSION } from "./engine-situation";
import { providersIn } from "./team-user";
import { Tenant } from "./tenant";
import { ToolServer } from "./tools";
import type { VirtualTime } from "./virtual-time";
import { noContexts } from "../../../tests/builders/no-contexts";

/** The session in the memory of one process. */
export type LiveSession = SessionParts & { teams: TurnTeams; engine: Engine };

/** Time after a crash until the platform can revive the object. Overdue alarms then fire. */
export const REVIVAL_MS = 1_700;
/** How often an alarm handler that throws is retried, with growing delays. */
const ALARM_TRIES = 6;

type Options = {
  situation: EngineSituation;
  setup: SessionSetup;
  time: VirtualTime;
  faults: Faults;
};

/**
 * The platform of a session's Durable Object. It provides the disk, the alarm and the network,
 * kills the object's process, and revives it for a request or an alarm. The session has the same
 * parts as in the service: engine, journal, effect runner, model calls, streams.
 */
export class Platform {
  readonly disk: Disk;
  readonly providers: Providers;
  readonly tenant: Tenant;
  readonly tools: ToolServer;
  readonly bucket: SimulatedBucket;
  readonly gate: Gate;
  readonly contexts = new SimulatedContexts();
  /** Admits the turns of a session with a queue. Each process has its own. */
  admission: SimulatedAdmission;
  /** Unhandled errors, which the log does not show. */
  readonly faults: string[] = [];
  /** The time of each crash, and the head of the log on disk after the crash. */
  readonly deaths: { at: number; head: number }[] = [];
  readonly #options: Options;
  #session: LiveSession | null = null;
  /** Head of the log on disk after the last crash. */
  #head = 0;
  /** The number of the process. It increases with each crash. */
  #life = 0;
  #isBooting = false;
  /** The error with which the last transaction failed; `null` if it did not fail. */
  #transactionError: unknown = null;
  #revivesAt = 0;
  /** Due time of the alarm whose handler is running; `null` if none. */
  #runningAlarm: number | null = null;
  #cancelAlarm: () => void = () => {};
  /** Called when the process crashes, because its readers lose their connections. */
  onDeath: () => void = () => {};
  /** Called after each start of the object. */
  onBoot: (session: LiveSession) => void = () => {};
  /** See `SimulatedAdmission`. */
  onRevokedKey: () => void = () => {};

  constructor(options: Options) {
    const { situation, setup, time, faults } = options;
    this.#options = options;
    this.disk = new Disk({
      mishaps: {
        beforeCommit: () => {
          this.#transactionError = null;
          this.#crashAt("crash_before_commit");
          if (this.#isBooting) this.#crashAt("crash_in_boot");
          if (faults.strikes("disk_error")) throw new DiskError("disk I/O error");
        },
        afterCommit: () => this.#crashAt("crash_after_commit"),
        durable: () => void this.crashIf("crash_when_durable"),
        takenBack: (error) => {
          this.#transactionError = error;
        },
        // On Cloudflare, an alarm may never fire if its own handler sets it for the present moment
        // (cloudflare/workerd, issue 6866). In this simulation such an alarm never fires.
        losesAlarm: (at) => this.#runningAlarm !== null && at <= time.now,
        lagMs: () =>
          faults.strikes("slow_disk") ? faults.chance("slow_disk").latency(5, 4_000) : 1,
      },
      toWorld: (at) => time.now + (at - time.wall),
      schedule: (afterMs, run) => void time.timeline.schedule(time.now + afterMs, run),
    });
    this.disk.onAlarmSet = () => this.#scheduleAlarm();
    const gate = () => this.disk.whenDurable();
    this.tenant = new Tenant({ time, faults, gate });
    const { seed, habits } = situation;
    this.tools = new ToolServer({
      ...{ seed, habits, time, faults, gate },
      crashIf: (fault) => this.crashIf(fault),
    });
    this.tools.onChange = (listing) => this.#announceListing(listing);
    this.bucket = new SimulatedBucket({ time, faults, gate });
    this.gate = new Gate({ time, gate });
    this.admission = admissionOf(this, options);
    this.providers = new Providers({
      ...{ situation, time, faults, gate, formats: setup.formats },
      outputCaps: setup.team.rules.agents.map(({ max_output_tokens }) => max_output_tokens),
      crashIf: (fault) => this.crashIf(fault),
    });
  }

  /**
   * The object; starts it if necessary. `null` if the platform cannot revive it yet, or if it
   * crashed during its start.
   */
  object(): LiveSession | null {
    if (this.#session) return this.#session;
    if (this.#options.time.now < this.#revivesAt) return null;
    this.#revive();
    const life = this.#life;
    try {
      this.#isBooting = true;
      this.#session = this.#load();
      this.#session.engine.boot();
    } catch (error) {
      this.#abort(life, error);
    } finally {
      this.#isBooting = false;
    }
    if (life === this.#life && this.#session) this.onBoot(this.#session);
    return this.#session;
  }

  /** The log's head, and a turn's place in the log: `null` if the object is not running. */
  positionOf(turn: number | null): { head: number; place: TurnPlace | null } {
    return {
      head: this.#session?.log.head ?? this.#head,
      place: turn === null ? null : (this.#session?.log.turn(turn) ?? null),
    };
  }

  /** Kills the process if the fault strikes now. Returns whether it killed the process. */
  crashIf(fault: Fault): boolean {
    if (!this.#options.faults.strikes(fault)) return false;
    this.kill();
    return true;
  }

  /** By how much the object's clock differs from the real time of the simulation. */
  get clockMovedMs(): number {
    return this.#options.time.wall - this.#options.time.now;
  }

  /** The running object; `null` if it is not running. Does not start it. */
  get live(): LiveSession | null {
    return this.#session;
  }

  /** The time from which the object can be revived. */
  get backAt(): number {
    return this.#revivesAt;
  }

  /** Whether the object is not running. */
  get isAway(): boolean {
    return this.#session === null;
  }

  /** Must be called with errors of timers and requests. Ignores errors of a crashed process. */
  onError(error: unknown): void {
    if (error instanceof ProcessDeath || error instanceof ProcessGone || this.#session === null)
      return;
    this.#recordError(this.#life, error);
  }

  /** Ends the process. Its memory, timers, connections, and writes that are not synced are lost. */
  kill(): void {
    const { time, faults } = this.#options;
    this.#life += 1;
    this.#session = null;
    this.disk.crash();
    this.#head = this.#headOnDisk();
    this.deaths.push({ at: time.now, head: this.#head });
    faults.rewindTo(this.#head);
    time.dropTimers();
    this.providers.disconnect();
    this.tools.disconnect();
    this.bucket.disconnect();
    this.gate.disconnect();
    this.#revivesAt = time.now + REVIVAL_MS;
    // An alarm fires at least once, so it fires again if its handler was interrupted.
    if (this.#runningAlarm !== null) this.disk.restoreAlarm(this.#runningAlarm);
    this.#runningAlarm = null;
    this.onDeath();
    this.#scheduleAlarm();
  }

  #headOnDisk(): number {
    const query =
      "SELECT max((SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(seq), 0) FROM deltas)) AS head";
    const [table] = this.disk.read("SELECT 1 FROM sqlite_master WHERE name = 'deltas'");
    return table === undefined ? 0 : (this.disk.read<{ head: number }>(query)[0]?.head ?? 0);
  }

  /** Ends the simulation of the object: cancels its alarm and timers and closes its disk. */
  close(): void {
    this.#cancelAlarm();
    this.#options.time.dropTimers();
    this.#life += 1;
    this.disk.close();
  }

  #revive(): void {
    if (this.#session) return;
    this.disk.revive();
    this.#options.time.revive();
  }

  #crashAt(fault: Fault): void {
    if (this.crashIf(fault)) throw new ProcessDeath();
  }

  #load(): LiveSession {
    const life = this.#life;
    const { situation, setup } = this.#options;
    const platform = this.disk.state(
      (work) => void work.catch((error: unknown) => this.#recordError(life, error)),
      (reason) => this.#abort(life, this.#transactionError ?? new Error(reason)),
    );
    const { storage } = platform;
    storage.transactionSync(() => createTables(storage.sql));
    const teams = new TurnTeams({ sql: storage.sql, session: setup.team });
    const nonce = noncesOf(situation.seed.toString(36), 0);
    this.admission = admissionOf(this, this.#options);
    const parts = composeSession({
      platform,
      queuedStarts: this.admission.queuedStarts(),
      facts: { sessionId: SESSION, teams, boot: life + 1, nonce },
      place: { tenant: "simulated", session: SESSION },
      bucket: this.bucket.bucket,
      contexts: situation.habits.includes("projects") ? this.contexts.services : noContexts,
      maxReaders: 50,
      settle: (turn: SettledTurn) => this.tenant.settle(turn),
      onFault: (error) => this.#recordError(life, error),
    });
    return { ...parts, teams, engine: createEngine(parts, this.#performer(parts)) };
  }

  /** The service's own performer. Each call has its own network, which knows the call's id. */
  #performer(parts: SessionParts): Performer {
    const gate = this.gate.connect();
    const rates = new RateWaits({ session: SESSION, gate: () => gate, now: parts.now });
    const providerOf = providersIn(this.#options.setup.team, parts.facts.teams);
    const callsOf = ({ agent, id }: ModelCallEffect) =>
      this.#modelCalls(parts, rates, this.providers.networkFor(providerOf(agent), id));
    // One instance for all tools, because an agent's file tools must run one at a time.
    const shared = this.#modelCalls(parts, rates, this.providers.networkFor(0, "none"));
    return {
      admitCall: (effect, signal) => shared.admitCall(effect, signal),
      dropCall: (effect) => shared.dropCall(effect),
      prepareCall: (effect) => callsOf(effect).prepareCall(effect),
      resumeCall: (effect) => callsOf(effect).resumeCall(effect),
      performTool: (effect, signal, acquireSlot) => shared.performTool(effect, signal, acquireSlot),
      listTools: (effect, signal) => shared.listTools(effect, signal),
    };
  }

  #modelCalls(parts: SessionParts, rates: RateWaits, network: CallNetwork): ModelCalls {
    const { coordinator, facts, calls, points, workspaces, now } = parts;
    return new ModelCalls({
      ...{ session: coordinator, facts, calls, points, workspaces, now, rates, ...network },
      probes: null,
      keyOf: ({ backend }) => ({
        ok: true,
        key: backend.key.from === "literal" ? backend.key.value : "",
      }),
      background: this.#options.situation.habits.includes("background"),
      tools: {
        toolsOf: (index) => this.#toolsOf(parts, index),
        list: async (effect, signal) =>
          this.#deliverListing(parts, effect.agent, await this.tools.list(signal)),
      },
      readAttachment: () => Promise.reject(new Error("simulated questions have no attachments")),
    });
  }

  #toolsOf({ coordinator }: SessionParts, agent: number): Tool[] {
    const { habits } = this.#options.situation;
    const turn = runningTurn(coordinator.state);
    const listed = turn
      ? listingsOf(turn, agent).flatMap(({ tools }) => tools.map(({ name }) => name))
      : [];
    return habits.includes("tools") || habits.includes("served") ? this.tools.tools(listed) : [];
  }

  #deliverListing({ coordinator }: SessionParts, agent: number, listing: ToolsListing): void {
    const turn = runningTurn(coordinator.state);
    if (turn && changesListing(turn, agent, listing))
      coordinator.handle({ type: "tools_listed", agent, servers: [listing] });
  }

  /** Sends the new listing to agents that have already received one. */
  #announceListing(listing: ToolsListing): void {
    const session = this.#session;
    for (const [agent] of this.#options.setup.formats.entries()) {
      const turn = session && runningTurn(session.coordinator.state);
      if (turn && hasAllListings(turn, agent)) this.#deliverListing(session, agent, listing);
    }
  }

  /**
   * Kills the process, as the platform does after a failed transaction. Records every error except
   * an injected disk error as unhandled.
   */
  #abort(life: number, error: unknown): void {
    if (life !== this.#life) return;
    if (!(error instanceof DiskError)) this.#recordError(life, error);
    this.kill();
  }

  /** Records an unhandled error, unless the process of that number has crashed meanwhile. */
  #recordError(life: number, error: unknown): void {
    if (life === this.#life)
      this.faults.push(
        `unhandled: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
      );
  }

  #scheduleAlarm(): void {
    this.#cancelAlarm();
    const at = this.disk.alarmAt;
    if (at === null) return;
    const { time, faults } = this.#options;
    const delayMs = faults.strikes("alarm_late")
      ? faults.chance("alarm_late").latency(1_000, 600_000)
      : 0;
    const firesAt = Math.max(time.now, at) + delayMs;
    if (delayMs > 0) faults.extend("alarm_late", firesAt);
    const due = Math.max(firesAt, this.#revivesAt);
    this.#cancelAlarm = time.timeline.schedule(due, () => this.#runAlarm(0));
  }

  #runAlarm(tries: number): void {
    const { time, faults } = this.#options;
    const at = this.disk.alarmAt;
    if (at === null) return;
    const life = this.#life;
    this.#revive();
    this.disk.takeAlarm();
    this.#runningAlarm = at;
    const engine = this.object()?.engine;
    // The object crashed during its start, and `kill` has set the alarm again.
    if (!engine || life !== this.#life) return;
    if (this.crashIf("crash_in_alarm")) return;
    void engine.wake().then(
      () => {
        if (life === this.#life) this.#runningAlarm = null;
      },
      (error: unknown) => {
        this.#recordError(life, error);
        if (life === this.#life && tries < ALARM_TRIES)
          time.timeline.schedule(time.now + 2_000 * 2 ** tries, () => this.#runAlarm(tries + 1));
      },
    );
    if (life !== this.#life) return;
    if (faults.strikes("alarm_twice"))
      time.timeline.schedule(
        time.now + 1,
        () =>
          void this.#session?.engine
            .wake()
            .catch((error: unknown) => this.#recordError(life, error)),
      );
  }
}
