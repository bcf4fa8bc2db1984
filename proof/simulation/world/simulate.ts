import type { SessionState } from "../../../src/coordination";
import { Chance } from "../../../simulated/chance";
import { randomWorld } from "./random-world";
import { Shell } from "./shell";
import { drawBudget, drawTeam, type Situation } from "./rules-situation";

/** Called after each crash with the lost state and the fold of the log. */
export type Recovery = (lost: SessionState, folded: SessionState) => void;

/** Runs a whole session of a random situation to its end. */
export function simulate(situation: Situation, onRecovery: Recovery = () => {}): Shell {
  const shell = new Shell(randomWorld(situation), onRecovery);
  const chance = new Chance(situation.seed + 3);
  const turns = situation.features.includes("second_turn") ? 2 : 1;
  for (let turn = 1; turn <= turns; turn += 1) runTurn(shell, situation, { turn, chance });
  return shell;
}

function runTurn(
  shell: Shell,
  situation: Situation,
  { turn, chance }: { turn: number; chance: Chance },
): void {
  const { features } = situation;
  shell.cancelAskedAfter = undefined;
  shell.input({
    type: "turn_requested",
    rules: turn === 1 ? drawTeam(situation) : null,
    question: "Which way leads through the hills?",
    parentTurn: turn === 1 ? null : turn - 1,
    budget: drawBudget(situation),
    timeoutMs:
      features.includes("short_deadline") && chance.is(0.5) ? chance.latency(100, 30_000) : null,
  });
  if (features.includes("cancel")) shell.cancelAt(shell.now + chance.latency(1, 120_000));
  if (features.includes("crashes")) {
    for (let crash = 0; crash < 3; crash += 1)
      shell.timeline.schedule(shell.now + chance.latency(1, 100_000), () => shell.crash());
  }
  shell.finish();
}
