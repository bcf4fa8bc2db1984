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
    find: "return { ...headAtStart(next, event), turns: event.turn, turn: startedTurn(next, event) };",
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
    name: "the blocks of the history are numbered from the newest turn",
    file: "src/prompts/history.ts",
    find: "const first = next;",
    replace: "const first = history.length + 1 - next;",
    invariant: "prefix",
  },
  {
    name: "a turn begins with the files of the latest result, also of another branch",
    file: "durable-objects/session/files/snapshot-store.ts",
    find: "for (let parent = this.#parentOf(turn); parent !== null; parent = this.#parentOf(parent)) {",
    replace: "for (let parent = turn - 1; parent > 0; parent -= 1) {",
    invariant: "I10-stored",
  },
  {
    name: "a turn uses a summary that covers turns of another branch",
    file: "durable-objects/session/log/session-log.ts",
    find: "SELECT seq FROM summaries WHERE through = ?",
    replace: "SELECT seq FROM summaries WHERE through >= ?",
    invariant: "history",
  },
  {
    name: "a turn summarises again what a stored summary covers",
    file: "durable-objects/session/session-queries.ts",
    find: "const summary = this.#summaryOf(place);",
    replace: "const summary = this.#summaryOf({ ...place, turn: 0 });",
    invariant: "history",
  },
  {
    name: "a cancelled turn loses the summary that it has finished",
    file: "durable-objects/session/log/session-log.ts",
    find: "FROM events WHERE seq = (SELECT seq FROM summaries WHERE through = ?)",
    replace:
      "FROM events WHERE turn NOT IN (SELECT turn FROM events WHERE type = 'turn.cancelled') AND seq = (SELECT seq FROM summaries WHERE through = ?)",
    invariant: "history",
  },
  {
    name: "a team works before the summary of older turns is written",
    file: "src/coordination/history/summary.ts",
    find: "  return true;\n}\n\n/** Why the summary cannot",
    replace: "  return false;\n}\n\n/** Why the summary cannot",
    invariant: "history",
  },
];
