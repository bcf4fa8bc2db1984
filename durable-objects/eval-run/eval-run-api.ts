import type { Team } from "../../src/config/team";
import type { Suite } from "../../src/evals/schema";

/**
 * A suite without its team setting, which may contain a key. `EvalRunStart.team` is the resolved
 * team.
 */
export type KeptSuite = Omit<Suite, "team">;

/** One run of a suite, as configured when the run began. */
export type EvalRunStart = {
  tenant: string;
  id: string;
  origin: "cron" | "manual";
  /** The time that the run is due, unix ms. */
  scheduledAt: number;
  suite: KeptSuite;
  /** `null` if the team cannot run on this deployment. */
  team: Team | null;
  /** Why the team cannot run; `null` if it can. */
  problem: string | null;
};

/** The RPC methods of a run. */
export type EvalRunApi = {
  /**
   * Starts the run. No effect if the run has begun before; then `started` is false. Returns before
   * any case begins. `others` are runs that are due at the same time. They are stored in the same
   * transaction, and this object starts them, so that the caller needs only one call.
   */
  start(run: EvalRunStart, others?: readonly EvalRunStart[]): Promise<{ started: boolean }>;
};

/**
 * The name of a run's object. Tenant, suite and id determine it, so repeated starts reach the same
 * object.
 */
export const evalRunName = (tenant: string, suite: string, id: string): string =>
  JSON.stringify([tenant, suite, id]);
