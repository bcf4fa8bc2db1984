import { OUTSIDE } from "./engine/invariants";
import type { RunRecord } from "./engine/run-record";
import type { EngineSituation } from "./engine/engine-situation";

/** The situation of a run of two agents with files. The run violates no invariant. */
export const SITUATION: EngineSituation = {
  seed: 5,
  agents: 2,
  habits: ["tools", "background"],
  faults: [],
  strikes: null,
};

/** The problems that one invariant finds in a run. */
export const problemsOf = (invariant: string, run: RunRecord): string[] =>
  OUTSIDE.flatMap(([id, check]) => (id === invariant ? check(run) : []));
