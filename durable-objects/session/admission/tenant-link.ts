import type { Team } from "../../../src/config/team";
import type { CapTooSmall } from "../../../src/coordination";
import { minCallUsd } from "../../../src/coordination/budget/budget";
import { bytesOfHistory } from "../../../src/agents/history";
import { byteLength } from "../../../src/coordination/byte-length";
import { withAudioPricing } from "../../../src/coordination/budget/audio-pricing";
import type { QuestionAttachments } from "../../../src/coordination/state";
import type { HistoryEntry } from "../../../src/prompts/history";
import { unpricedAgents } from "../../../src/protocol/team";
import type { QuotaDecision } from "../../../src/tenancy/quota";
import { capRefusal } from "./cap-check";
import type { Env } from "../../../src/env";
import type { StartTurn } from "../session-api";
import { reportStored, storedBySession } from "../../../d1/stored-bytes";
import type { SettledTurn } from "../../tenant/tenant-api";

/**
 * How long the tenant reserves a place after the turn's deadline. The turn may run longer than its
 * deadline: calls in flight are completed, and the winning answer is presented.
 */
const LEASE_GRACE_MS = 30 * 60_000;

/**
 * A turn for which the tenant is asked. `attached`: the question's attachments. `history`: returns
 * the earlier turns, oldest first.
 */
type RequestedTurn = {
  turn: StartTurn;
  team: Team;
  attached: QuestionAttachments | null;
  history: () => readonly HistoryEntry[];
};

/** A session's connection to its tenant's object. */
export class TenantLink {
  readonly #env: Env;
  readonly #object: ReturnType<Env["TENANTS"]["get"]>;
  readonly tenant: string;
  readonly #session: string;

  constructor(env: Env, tenant: string, session: string) {
    this.#env = env;
    this.#object = env.TENANTS.get(env.TENANTS.idFromName(tenant));
    this.tenant = tenant;
    this.#session = session;
  }

  /**
   * Whether the turn may start, and with which budget. A budget that cannot pay for any call is
   * refused without asking the tenant.
   */
  async ask(
    number: number,
    { turn, team, attached, history }: RequestedTurn,
  ): Promise<QuotaDecision | ({ ok: false } & CapTooSmall)> {
    const tooSmall = capRefusal(this.#env, {
      turn,
      team,
      attached,
      history,
      sessionId: this.#session,
    });
    if (tooSmall) return tooSmall;
    const { question, budget, timeoutMs } = turn;
    const { rules } = team;
    const { agents } = withAudioPricing(rules, attached?.attachments ?? []);
    return this.#object.startTurn(this.tenant, {
      session: this.#session,
      turn: number,
      maxCostUsd: budget.max_cost_usd ?? null,
      unpriced: unpricedAgents(rules),
      leastUsd: minCallUsd(
        agents,
        byteLength(question) + bytesOfHistory(history()) + (attached?.tokens ?? 0),
      ),
      attachedBytes: (attached?.attachments ?? []).reduce((sum, { size }) => sum + size, 0),
      endsAt: Date.now() + (timeoutMs ?? rules.orchestrator_timeout_ms) + LEASE_GRACE_MS,
    });
  }

  /** Releases the reserved place of a turn that did not start. */
  release(number: number): Promise<void> {
    return this.#object.releaseTurn(this.#session, number);
  }

  /**
   * Reports the end of a turn to the tenant, and records the session's stored bytes. `sql`: the
   * session's tables.
   */
  async settle(settled: SettledTurn, sql: SqlStorage): Promise<void> {
    await this.#object.endTurn(settled);
    await reportStored(
      this.#env,
      { tenant: this.tenant, session: this.#session },
      storedBySession(sql),
    );
  }
}
