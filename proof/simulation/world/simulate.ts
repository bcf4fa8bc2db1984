import { parentOfNext, type SessionState } from "../../../src/coordination";
import { Chance } from "../../../simulated/chance";
import { historyFacts } from "./history-facts";
import { randomWorld } from "./random-world";
import { Shell } from "./shell";
import { drawBudget, drawTeam, type Situation } from "./rules-situation";

/** Called after each crash with the lost state and the fold of the log. */
export type Recovery = (lost: SessionState, folded: SessionState) => void;

/** Runs a whole session of a random situation to its end. */
export function simulate(situation: Situation, onRecovery: Recovery = () => {}): Shell {
  const shell = new Shell(randomWorld(situation), onRecovery);
  const chance = new Chance(situation.seed + 3);
  const hasBranches = situation.features.includes("branches");
  const turns = hasBranches ? 4 : situation.features.includes("second_turn") ? 2 : 1;
  const moveChance = new Chance(situation.seed + 6);
  for (let turn = 1; turn <= turns; turn += 1) {
    if (hasBranches) moveHead(shell, moveChance);
    runTurn(shell, situation, { turn, chance });
  }
  return shell;
}

/** Usually moves the head before a turn, and tries to move it during the turn. */
function moveHead(shell: Shell, chance: Chance): void {
  const move = (): void =>
    shell.input({ type: "head_requested", turn: chance.int(0, shell.state.turns + 1) });
  if (chance.is(0.7)) move();
  if (chance.is(0.5)) shell.timeline.schedule(shell.now + chance.latency(1, 60_000), move);
}

/** The size of an earlier turn. In some sessions turns are so long that they must be summarised. */
function drawBytes(seed: number, turn: number): number {
  const isLong = new Chance(seed + 7).is(0.4);
  return isLong ? new Chance(seed + 100 * turn).int(20_000, 200_000) : 2_000;
}

function runTurn(
  shell: Shell,
  situation: Situation,
  { turn, chance }: { turn: number; chance: Chance },
): void {
  const { features } = situation;
  shell.cancelAskedAfter = undefined;
  const parentTurn = parentOfNext(shell.state, undefined);
  shell.input({
    type: "turn_requested",
    rules: turn === 1 ? drawTeam(situation) : null,
    question: "Which way leads through the hills?",
    parentTurn,
    history: historyFacts(shell.log, parentTurn, (past) => drawBytes(situation.seed, past)),
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
