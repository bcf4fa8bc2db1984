import type { Team } from "../src/config/team";
import type { Suite } from "../src/evals/schema";

/** One run of a suite, as it was when the run began. */
export type EvalRunStart = {
  tenant: string;
  id: string;
  origin: "cron" | "manual";
  /** Unix ms. */
  scheduledAt: number;
  suite: Suite;
  /** null: the team cannot run here. */
  team: Team | null;
  /** Why not. */
  problem: string | null;
};

export type EvalRunApi = {
  /** Starts the run, or does nothing where it has begun already: `started` says which. Answers before any case has begun. */
  start(run: EvalRunStart): Promise<{ started: boolean }>;
};

/** The name of a run's object: tenant, suite and id make it, so the same run asked for twice is the same object. */
export const evalRunName = (tenant: string, suite: string, id: string): string => JSON.stringify([tenant, suite, id]);
