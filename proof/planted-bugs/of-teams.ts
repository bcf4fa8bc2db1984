import type { PlantedBug } from "./bug";

/** Bugs in the team of a turn. */
export const BUGS_OF_TEAMS: readonly PlantedBug[] = [
  {
    name: "a turn without a team uses that of the session instead of its parent's",
    file: "durable-objects/session/turn-teams.ts",
    find: "const id = turn === null ? null : (this.#row(turn)?.team ?? null);",
    replace: "const id = turn === 0 ? (this.#row(turn)?.team ?? null) : null;",
    invariant: "teams",
    habits: ["teams"],
  },
  {
    name: "a turn is played by the session's team although its request brought another",
    file: "src/protocol/turn-team.ts",
    find: "const { rules = session, overrides, overridden_agents: replaced = [] } = turn;",
    replace:
      "const { overrides, overridden_agents: replaced = [] } = turn;\n  const rules = session;",
    invariant: "teams",
    habits: ["teams"],
  },
  {
    name: "the overrides of a turn also apply to the turns that continue it",
    file: "durable-objects/session/turn-teams.ts",
    find: 'const id = base.id === "new" ? this.#add(base.team) : base.id;',
    replace:
      'const id = overridden || base.id === "new" ? this.#add(overridden ?? base.team) : base.id;',
    invariant: "teams",
    habits: ["teams"],
  },
  {
    name: "a turn without some agents numbers the others again",
    file: "src/protocol/turn-team.ts",
    find: "agent?.number ?? index + 1;",
    replace: "(agent ? index : 0) + 1;",
    invariant: "teams",
    habits: ["teams"],
  },
  {
    name: "the overrides of a running turn are lost when the object restarts",
    file: "durable-objects/session/turn-teams.ts",
    find: "return overridden === null ? this.base(turn).team : JSON.parse(overridden);",
    replace: 'return overridden === "" ? JSON.parse(overridden) : this.base(turn).team;',
    invariant: "teams",
    habits: ["teams"],
  },
  {
    name: "a quick turn has as many answers as its team allows",
    file: "src/protocol/turn-team.ts",
    find: "...(quick && { max_new_answers_per_agent: 1, defer_voting_until_all_answered: true }),",
    replace: "...(quick && { defer_voting_until_all_answered: true }),",
    invariant: "teams",
    habits: ["teams"],
  },
];
