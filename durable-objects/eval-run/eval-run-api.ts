import type { Team } from "../../src/config/team";
import type { Suite } from "../../src/evals/schema";

/** Without what it wrote of its team, which may hold a key: `team` is what came of that. */
export type KeptSuite = Omit<Suite, "team">;

/** One run of a suite, as it was when the run began. */
export type EvalRunStart = {
  tenant: string;
  id: string;
  origin: "cron" | "manual";
  /** Unix ms. */
  scheduledAt: number;
  suite: KeptSuite;
  /** null: the team cannot run here. */
  team: Team | null;
  /** Why not. */
  problem: string | null;
};

export type EvalRunApi = {
  /**
   * Starts the run, or does nothing where it has begun already: `started` says which. Answers before any case has begun. `others`
   * are due with it: on disk with it, all or none, and started from there, so that whoever asks may die after this one call.
   */
  start(run: EvalRunStart, others?: readonly EvalRunStart[]): Promise<{ started: boolean }>;
};

/** The name of a run's object: tenant, suite and id make it, so the same run asked for twice is the same object. */
export const evalRunName = (tenant: string, suite: string, id: string): string =>
  JSON.stringify([tenant, suite, id]);
