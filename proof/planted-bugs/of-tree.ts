import type { PlantedBug } from "./bug";

/** Bugs in the head of a session, and in what a turn takes over from earlier turns. */
export const BUGS_OF_TREE: readonly PlantedBug[] = [
  {
    name: "a turn without a named parent continues the latest turn instead of the head",
    file: "src/coordination/turn/head.ts",
    find: "(named === undefined ? headOf(state) : named);",
    replace: "(named === undefined ? (state.turns === 0 ? null : state.turns) : named);",
    invariant: "head",
  },
  {
    name: "the head moves while a turn runs",
    file: "src/coordination/turn/head.ts",
    find: 'if (running) return { ok: false, code: "turn_running", turn: running.number };',
    replace: 'if (running?.number === 0) return { ok: false, code: "turn_running", turn: 0 };',
    invariant: "I2",
  },
  {
    name: "a turn that starts does not become the head",
    file: "src/coordination/evolve.ts",
    find: "return { ...withoutHead(next), turns: event.turn, turn: startedTurn(next, event) };",
    replace: "return { ...next, turns: event.turn, turn: startedTurn(next, event) };",
    invariant: "I19",
  },
  {
    name: "a moved head is lost when the object restarts",
    file: "durable-objects/session/log/session-store.ts",
    find: "...(head !== null && { head }),",
    replace: "...(head === 0 && { head }),",
    invariant: "I19",
  },
  {
    name: "a failed turn is in the history",
    file: "durable-objects/session/session-queries.ts",
    find: 'if (!view || view.status === "failed") continue;',
    replace: "if (!view) continue;",
    invariant: "history",
  },
  {
    name: "a cancelled turn is left out of the history",
    file: "durable-objects/session/session-queries.ts",
    find: 'if (!view || view.status === "failed") continue;',
    replace: 'if (view?.status !== "completed") continue;',
    invariant: "history",
  },
  {
    name: "a cancelled turn lists tools of agents that did not present",
    file: "durable-objects/session/session-queries.ts",
    find: 'event.type === "tool.started" && presented.has(roundOf(event)) ? [event.name] : [];',
    replace: 'event.type === "tool.started" && presented ? [event.name] : [];',
    invariant: "history",
  },
  {
    name: "a turn begins with the files of the latest result, also of another branch",
    file: "durable-objects/session/files/snapshot-store.ts",
    find: "for (let parent = this.#parentOf(turn); parent !== null; parent = this.#parentOf(parent)) {",
    replace: "for (let parent = turn - 1; parent > 0; parent -= 1) {",
    invariant: "I10-stored",
  },
];
