import type { TeamRules } from "../../src/protocol/team";
import { type PacedTeam, playPaced } from "./paced-team";

/** The rules before and with the paced grace. */
const FIXED: Partial<TeamRules> = {};
const PACED: Partial<TeamRules> = { paced_grace_agents: 8 };

/** `calls`: of the run with the most calls. `wall`: mean time over the lower bound. */
type Side = { calls: number; meanCalls: number; wall: number };

/** `relative`: the mean of the wall times with the paced grace over those with a fixed one. */
export type Comparison = { fixed: Side; paced: Side; relative: number };

/** Plays each team with each seed and both rules. */
export function compare(teams: readonly PacedTeam[], seeds: number): Comparison {
  const runs = teams.flatMap((team) =>
    Array.from({ length: seeds }, (_, nth) => ({
      fixed: playPaced(team, nth + 1, FIXED),
      paced: playPaced(team, nth + 1, PACED),
    })),
  );
  const sideOf = (side: "fixed" | "paced"): Side => {
    const played = runs.map((run) => run[side]);
    return {
      calls: Math.max(...played.map(({ calls }) => calls)),
      meanCalls: mean(played.map(({ calls }) => calls)),
      wall: mean(played.map(({ wallMs, pathMs }) => wallMs / pathMs)),
    };
  };
  return {
    fixed: sideOf("fixed"),
    paced: sideOf("paced"),
    relative: mean(runs.map(({ fixed, paced }) => paced.wallMs / fixed.wallMs)),
  };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
