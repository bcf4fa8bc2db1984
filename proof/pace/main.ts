import { runCommand } from "../../local/command-line";
import { type Comparison, compare } from "./comparison";
import { equalTeam, paced, unevenTeams } from "./shapes";

/**
 * Prints calls and wall times of teams with a fixed grace and with the paced grace, in simulated
 * time: `npm exec -c "node scripts/run.mjs proof/pace/main.ts"`.
 */
async function main(): Promise<number> {
  console.log(HEAD);
  for (const size of [3, 8, 16, 32])
    for (const jitter of [0, 0.05, 0.1, 0.2])
      print(`${size} equal, ±${jitter * 100} %`, compare(teamsOf(equalTeam(size), jitter), SEEDS));
  for (const size of [3, 5, 7, 8, 16, 32])
    for (const { name, members } of unevenTeams(size))
      print(`${size}: ${name}`, compare(teamsOf(members, 0.1), SEEDS));
  return 0;
}

const SEEDS = 10;
const HEAD = `| Team | Calls, fixed (most) | Calls, paced (most) | Wall, fixed | Wall, paced | Ratio |
|---|--:|--:|--:|--:|--:|`;
/** Durations of a call in ms. */
const DURATIONS = [45, 400, 1_500, 4_000, 16_000, 60_000];

const teamsOf = (members: Parameters<typeof paced>[0], jitter: number) =>
  DURATIONS.map((callMs) => paced(members, callMs, jitter));

function print(team: string, { fixed, paced: withPace, relative }: Comparison): void {
  const calls = [fixed, withPace].map(
    (side) => `${side.meanCalls.toFixed(1)} (${side.calls.toFixed(0)})`,
  );
  const figures = [fixed.wall, withPace.wall, relative].map((value) => value.toFixed(3));
  console.log(`| ${[team, ...calls, ...figures].join(" | ")} |`);
}

await runCommand(main);
