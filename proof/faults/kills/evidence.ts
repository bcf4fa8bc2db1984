import type { FaultyService } from "../faulty-service";
import { keepCase } from "../runs/evidence";
import type { Outcome, Plan } from "./case";
import { nameOf } from "./points";

/** Keeps the evidence of a failed case and returns its folder and the command that repeats it. */
export async function keepEvidence(
  outcome: Outcome,
  service: FaultyService,
): Promise<{ folder: string; command: string }> {
  const { plan, runs, killed, problems } = outcome;
  const command = commandOf(plan);
  const story = { plan, killed: killed.map(({ where, healthyMs }) => ({ where, healthyMs })) };
  const folder = await keepCase(
    { name: `case-${plan.seed}`, command, problems, runs, story },
    service,
  );
  return { folder, command };
}

/**
 * The command that repeats a plan. The times of kills are the same, but their effect may vary with
 * the machine's speed.
 */
export function commandOf({ seed, kinds, kills }: Plan): string {
  const at = kills.map((kill) => ("point" in kill ? nameOf(kill) : `${kill.afterMs}ms`));
  return `npm run faults -- --seed ${seed} --runs ${kinds.join(",")} --at ${at.join(",")}`;
}
