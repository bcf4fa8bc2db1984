import { nothingMatches } from "../../../local/command-line";
import { KINDS, type KindName } from "../runs/kinds";
import type { Kill, Plan } from "./case";
import { parsePoint } from "./points";

/**
 * Parses one case: kinds of runs, such as `story,mixed`, and kills at places or after a time, such
 * as `commit.open/vote.cast:2,350ms`. Throws `UsageError` for unknown kinds and invalid places.
 */
export const parseCase = (kinds: string, at: string): Omit<Plan, "seed"> => ({
  kinds: kindsIn(kinds),
  kills: at.split(",").map(toKill),
  isWanted: true,
});

const toKill = (text: string): Kill => {
  const ms = /^(\d+)ms$/.exec(text)?.[1];
  return ms === undefined ? parsePoint(text) : { afterMs: Number(ms) };
};

function kindsIn(text: string): KindName[] {
  return text.split(",").map((name) => {
    if (!isKind(name)) throw nothingMatches(name, Object.keys(KINDS));
    return name;
  });
}

const isKind = (name: string): name is KindName => Object.hasOwn(KINDS, name);
