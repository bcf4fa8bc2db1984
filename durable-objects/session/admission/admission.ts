import { acceptAttachments } from "../../../src/agents/attached";
import {
  grantedWorkspaces,
  type RequestGrant,
  withGrants,
} from "../../../src/config/granted-contexts";
import type { Team } from "../../../src/config/team";
import { Mutex } from "../../../src/async/mutex";
import {
  type HistoryFacts,
  mayStart,
  parentOfNext,
  priceRefusal,
  type QuestionAttachments,
  turnRefusal,
} from "../../../src/coordination";
import type { Env } from "../../../src/env";
import type { GrantedWorkspace, PinnedContext } from "../../../src/protocol/events";
import { contextServices } from "../../shared/context-services";
import type { Relays } from "../calls/relays";
import { TeamKeys } from "../calls/team-keys";
import { attachmentStore, type Session, type SessionMeta } from "../load-session";
import type { StartCompact, StartedTurn, StartRefusal, StartTurn } from "../session-api";
import { startCompact } from "./compact-turn";
import { isParent } from "./parents";
import { TenantLink } from "./tenant-link";
import { baseOf, type TurnTeam, teamOfTurn } from "./turn-team";
import { startOfContexts } from "./start-states";
import { pinnedContexts } from "./turn-contexts";
import { knownWindows, measureTurn } from "./turn-length";
import type { TurnStart } from "../files/context-states";
import { startOfTurn } from "../log/session-log";
import type { Sql } from "../object-storage";

type Options = {
  env: Env;
  relays: Pick<Relays, "prepare">;
  sql: Sql;
  waitUntil: (work: Promise<unknown>) => void;
  /** The current session: another request may create or erase it during any `await`. */
  current: () => Session | null;
  isErased: () => boolean;
  /** Creates the session's tables and loads the session. */
  create: (meta: SessionMeta) => Session;
};

/** A turn that a user wants to start. `attached`: the attachments of its question. */
type RequestedTurn = {
  number: number;
  /** The turn to continue; `null` for none. */
  parent: number | null;
  turn: StartTurn;
  chosen: TurnTeam;
  attached: QuestionAttachments | null;
  tenant: string;
  sessionId: string;
  /** Contexts that this request, or that of an earlier turn of the branch, grants to all agents. */
  grants: readonly RequestGrant[];
};

/**
 * A turn with the budget and the context versions that were granted to the turn. `start`: the files
 * of the contexts at its start.
 */
type GrantedTurn = StartTurn & {
  contexts: readonly PinnedContext[];
  start: TurnStart;
  grants: readonly RequestGrant[];
  grantedWorkspaces: readonly GrantedWorkspace[];
  /** Sizes of the turns that the turn continues; `null` if there are none. */
  history: HistoryFacts | null;
};

type TurnGrant = {
  turn: GrantedTurn;
  parent: number | null;
  attached: QuestionAttachments | null;
  chosen: TurnTeam;
  releasePins: () => Promise<void>;
};

const NOT_FOUND = { ok: false, code: "session_not_found" } as const;

/**
 * Admits turns: pins their contexts, reserves their place and budget with the tenant, stores their
 * attachments, and starts them. If a turn is refused or fails to start, its reservations are
 * released.
 */
export class Admission {
  readonly #options: Options;
  /** Admits one turn at a time, so that a released place is never that of another admission. */
  readonly #mutex = new Mutex();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Starts the first turn of a session, and creates the session. Idempotent: a repeated call only
   * confirms the turn.
   */
  async create(
    tenant: string,
    sessionId: string,
    team: Team,
    turn: StartTurn,
  ): Promise<StartedTurn | StartRefusal> {
    const { env, current, isErased, create } = this.#options;
    const existing = current();
    if (isErased() || (existing && existing.tenant !== tenant)) return NOT_FOUND;
    if (existing && existing.coordinator.state.turns > 0) return { ok: true, turn: 1 };
    const sealed = new TeamKeys(env, { tenant, session: sessionId }).seal(team);
    const chosen = await teamOfTurn({ id: null, team: sealed }, turn.overrides);
    if (!chosen.ok) return chosen;
    // The prices of the team itself are checked by its caller.
    const unpriced = turn.overrides && priceRefusal(chosen.team.rules, turn.budget);
    if (unpriced) return unpriced;
    const accepted = acceptAttachments(chosen.team, turn.attachments ?? [], () => []);
    if (!accepted.ok) return accepted;
    const { attached } = accepted;
    const link = new TenantLink(env, tenant, sessionId);
    const grants = turn.grants ?? [];
    const requestedTurn = {
      ...{ number: 1, parent: null },
      ...{ turn, chosen, attached, tenant, sessionId, grants },
    };
    const granted = await this.#grant(link, requestedTurn);
    // Another request may have created the session in the meantime, or erased it.
    if (isErased()) return this.#releaseErased(link, requestedTurn);
    if ((current()?.coordinator.state.turns ?? 0) > 0) {
      if (granted.ok) this.#options.waitUntil(granted.releasePins());
      return this.create(tenant, sessionId, team, turn);
    }
    if (!granted.ok) return granted;
    const session =
      current() ?? create({ tenant, session_id: sessionId, team: JSON.stringify(sealed) });
    const { releasePins } = granted;
    const grant = { turn: granted.turn, parent: null, attached, chosen, releasePins };
    return this.#startGranted(session, link, grant);
  }

  /**
   * Starts another turn of a session, with the team that its request brings, or else that of the
   * turn that it continues. Idempotent per `startId`.
   */
  async startTurn(session: Session, turn: StartTurn): Promise<StartedTurn | StartRefusal> {
    const release = await this.#mutex.acquire();
    try {
      return await this.#admit(session, turn);
    } finally {
      release();
    }
  }

  async #admit(session: Session, turn: StartTurn): Promise<StartedTurn | StartRefusal> {
    const { env, isErased, waitUntil } = this.#options;
    const { coordinator, facts, queries, tenant } = session;
    const { sessionId } = facts;
    const startedEarlier = this.#startedAs(turn);
    if (startedEarlier) return startedEarlier;
    const parent = parentOfNext(coordinator.state, turn.parentTurn);
    const refusal = turnRefusal(coordinator.state, { parentTurn: parent });
    if (refusal) return refusal;
    if (!isParent(session, parent)) return { ok: false, code: "turn_not_found" };
    const number = coordinator.state.turns + 1;
    const chosen = await teamOfTurn(baseOf(session.teams, turn, parent), turn.overrides);
    if (!chosen.ok) return chosen;
    const unpriced = priceRefusal(chosen.team.rules, turn.budget);
    if (unpriced) return unpriced;
    const earlier = () => queries.attachments();
    const accepted = acceptAttachments(chosen.team, turn.attachments ?? [], earlier);
    if (!accepted.ok) return accepted;
    const { attached } = accepted;
    const link = new TenantLink(env, tenant, sessionId);
    const start = parent === null ? null : startOfTurn(session.log, parent);
    const grants = turn.grants ?? start?.grants ?? [];
    const requestedTurn = { number, parent, turn, chosen, attached, tenant, sessionId, grants };
    const granted = await this.#grant(link, requestedTurn);
    if (!granted.ok) return granted;
    if (isErased()) return this.#releaseErased(link, requestedTurn);
    if (turn.queueId !== undefined && !mayStart(session.queueStore.queue(), turn.queueId)) {
      waitUntil(granted.releasePins());
      await link.release(number);
      return { ok: false, code: "turn_running", turn: coordinator.state.turns };
    }
    if (coordinator.state.turns >= number) {
      // The place is that of the turn with this number, but the pins are not.
      waitUntil(granted.releasePins());
      return (
        this.#startedAs(turn) ?? { ok: false, code: "turn_running", turn: coordinator.state.turns }
      );
    }
    const { releasePins } = granted;
    const grant = { turn: granted.turn, parent, attached, chosen, releasePins };
    return this.#startGranted(session, link, grant);
  }

  /**
   * Starts a turn that only summarises the conversation until the head. Idempotent per `startId`.
   */
  async compact(session: Session, turn: StartCompact): Promise<StartedTurn | StartRefusal> {
    const { env, isErased } = this.#options;
    const release = await this.#mutex.acquire();
    try {
      const noteStart = (number: number) => this.#noteStart(turn, number);
      return (
        this.#startedAs(turn) ?? (await startCompact(session, turn, { env, isErased, noteStart }))
      );
    } finally {
      release();
    }
  }

  /**
   * Pins the turn's contexts, reserves its place and budget with the tenant, and stores its
   * attachments for its calls. Returns the granted turn, or why the turn may not start.
   * `releasePins`: to be called if the granted turn does not start.
   */
  async #grant(link: TenantLink, requestedTurn: RequestedTurn) {
    const { number, parent, turn, attached, tenant, sessionId, grants } = requestedTurn;
    const { env, relays, current, waitUntil } = this.#options;
    relays.prepare();
    const { chosen } = requestedTurn;
    const team = withGrants(chosen.team, grants);
    const past = current();
    const length = measureTurn(env, {
      ...{ team, question: turn.question, attached, sessionId },
      entries: past?.queries.history(parent) ?? [],
      windows: past ? knownWindows(past) : [],
    });
    if (!length.ok) return length;
    const pinned = await pinnedContexts(
      contextServices(env).pins,
      { tenant, session: sessionId, turn: number },
      team,
    );
    if (!pinned.ok) return pinned;
    const started = await this.#startOf(requestedTurn, pinned);
    if (!started.ok) return started;
    const history = () => length.shown;
    const granted = await link.ask(number, { turn, team, attached, history });
    if (!granted.ok) waitUntil(pinned.release());
    if (!granted.ok) return granted;
    try {
      await attachmentStore(env, { tenant, session: sessionId }).put(turn.attachments ?? []);
    } catch (error) {
      // Before another admission asks for the same number.
      await Promise.allSettled([link.release(number), pinned.release()]);
      throw error;
    }
    const costCap = granted.maxCostUsd === null ? {} : { max_cost_usd: granted.maxCostUsd };
    return {
      ok: true,
      turn: {
        ...{ ...turn, budget: { ...turn.budget, ...costCap } },
        ...{ contexts: pinned.contexts, start: started.start, grants, history: length.history },
        grantedWorkspaces: grants.length > 0 ? grantedWorkspaces(chosen.team, team) : [],
      },
      releasePins: pinned.release,
    } as const;
  }

  /**
   * Computes the files of the turn's contexts at its start, and pins the older versions that store
   * some of them. Releases all pins if the turn is refused.
   */
  async #startOf(
    { number, parent, turn, tenant, sessionId }: RequestedTurn,
    pinned: Extract<Awaited<ReturnType<typeof pinnedContexts>>, { ok: true }>,
  ) {
    const { env, current, waitUntil } = this.#options;
    const { reader, records, pins } = contextServices(env);
    const workspaces = current()?.workspaces;
    try {
      const started = await startOfContexts(
        {
          ...{ reader, records, states: workspaces?.contextStates ?? null },
          isKept: (hash) => workspaces?.isKept(hash) ?? false,
        },
        {
          ...{ tenant, sessionId, parent, contexts: pinned.contexts },
          ...(turn.conflictWinner && { winner: turn.conflictWinner }),
        },
      );
      if (!started.ok) waitUntil(pinned.release());
      else
        await pins.copy(
          { tenant, session: sessionId, turn: number },
          pinned.start,
          started.start.states.flatMap(({ context, sources }) =>
            [...new Set(sources.values())].map((version) => ({ context, version })),
          ),
        );
      return started;
    } catch (error) {
      waitUntil(pinned.release());
      throw error;
    }
  }

  /** Releases the place of a turn whose session was erased, and removes its attachments. */
  #releaseErased(
    link: TenantLink,
    { number, turn, tenant, sessionId }: RequestedTurn,
  ): typeof NOT_FOUND {
    const { env, waitUntil } = this.#options;
    const store = attachmentStore(env, { tenant, session: sessionId });
    waitUntil(link.release(number));
    waitUntil(store.remove(turn.attachments ?? []));
    return NOT_FOUND;
  }

  /** Starts the turn. If the start fails, the turn's place and pins are released. */
  async #startGranted(
    session: Session,
    link: TenantLink,
    granted: TurnGrant,
  ): Promise<StartedTurn> {
    const number = session.coordinator.state.turns + 1;
    try {
      return this.#start(session, granted);
    } catch (error) {
      await Promise.allSettled([link.release(number), granted.releasePins()]);
      throw error;
    }
  }

  /** The turn that an earlier start with the same id started; `null` if there is none. */
  #startedAs({ startId }: Pick<StartTurn, "startId">): StartedTurn | null {
    if (startId === undefined) return null;
    const query = "SELECT turn FROM starts WHERE id = ?";
    const [row] = this.#options.sql.exec<{ turn: number }>(query, startId).toArray();
    return row ? { ok: true, turn: row.turn } : null;
  }

  #start(
    { coordinator, workspaces, teams }: Session,
    { turn, parent, attached, chosen }: TurnGrant,
  ): StartedTurn {
    const { question, budget, timeoutMs, contexts, grants, grantedWorkspaces, overrides, history } =
      turn;
    const { base, overriddenAgents, warnings } = chosen;
    const number = coordinator.state.turns + 1;
    // No `await` until the turn is stored, so the platform stores all writes or none.
    workspaces.contextStates.begin(number, turn.start);
    teams.begin(number, chosen);
    coordinator.handle({
      type: "turn_requested",
      rules: base.id === null && number > 1 ? null : base.team.rules,
      question,
      attached,
      parentTurn: parent,
      budget,
      timeoutMs,
      contexts,
      grants: [...grants],
      grantedWorkspaces,
      history,
      ...(overrides && { overrides, overriddenAgents }),
      ...(turn.queueId !== undefined && { queueId: turn.queueId }),
    });
    this.#noteStart(turn, coordinator.state.turns);
    return {
      ...{ ok: true, turn: coordinator.state.turns },
      ...(warnings.length > 0 && { warnings }),
    };
  }

  /** Calls `act` when no turn is being admitted: an admission has chosen its parent already. */
  async whenIdle<T>(act: () => T): Promise<T> {
    const release = await this.#mutex.acquire();
    try {
      return act();
    } finally {
      release();
    }
  }

  /** Records the turn that a start with an id has started. */
  #noteStart({ startId }: Pick<StartTurn, "startId">, turn: number): void {
    if (startId === undefined) return;
    this.#options.sql.exec("INSERT INTO starts (id, turn) VALUES (?, ?)", startId, turn);
  }
}
