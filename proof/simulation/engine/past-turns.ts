import type { NumberedEvent } from "../../../checker";

/**
 * What a turn leaves for the turns after it. `text`: its answer, or its text so far. `summarised`:
 * the turns that its agents read only as part of a summary. `isCut`: whether texts of earlier turns
 * were cut for its agents, so that marks may be missing. `team`: equal for turns of the same team.
 */
export type PastTurn = {
  parent: number | null;
  status: string;
  text: string;
  hasExecutedTools: boolean;
  summarised: ReadonlySet<number>;
  isCut: boolean;
  team: string;
};

/** The block of a request that sums up an agent's own work. Its texts may be cut. */
export const COMPACTION = "OLDER PART OF THE CONVERSATION";

/** The turns that a turn continues, newest first. */
export function ancestorsOf(turn: number, turns: ReadonlyMap<number, PastTurn>): number[] {
  const ancestors: number[] = [];
  let parent = turns.get(turn)?.parent ?? null;
  while (parent !== null) {
    ancestors.push(parent);
    parent = turns.get(parent)?.parent ?? null;
  }
  return ancestors;
}

/** What each turn of a log leaves. */
export function turnsOf(log: readonly NumberedEvent[]): ReadonlyMap<number, PastTurn> {
  const turns = new Map<number, PastTurn>();
  /** The rounds of presenters. */
  const presented = new Set<string>();
  /** The turns that each summary covers, by the last of them. */
  const summaries = new Map<number, ReadonlySet<number>>();
  for (const event of log) {
    if (event.type === "turn.started")
      turns.set(event.turn, {
        ...{ parent: event.parent_turn, status: "running", text: "", hasExecutedTools: false },
        ...{ summarised: summaries.get(event.history?.summary ?? 0) ?? new Set(), isCut: false },
        team: JSON.stringify([event.rules, event.overrides, event.overridden_agents]),
      });
    const turn = turns.get(event.turn);
    if (!turn) continue;
    if (event.type === "history.cut") turn.isCut = true;
    if (event.type === "history.summarised") {
      turn.summarised = new Set(event.turns);
      summaries.set(event.turns.at(-1) ?? 0, turn.summarised);
    }
    if (event.type === "presentation.started") presented.add(roundOf(event));
    if (event.type === "tool.started" && presented.has(roundOf(event)))
      turn.hasExecutedTools = true;
    if (event.type === "turn.failed") turn.status = "failed";
    if (event.type === "turn.completed")
      Object.assign(turn, { status: "completed", text: event.answer });
    if (event.type === "turn.cancelled") {
      const { text, answer } = event.partial;
      Object.assign(turn, { status: "cancelled", text: text ?? answer ?? "" });
    }
  }
  return turns;
}

const roundOf = (event: { turn: number; attempt: number; agent: string; round: number }): string =>
  [event.turn, event.attempt, event.agent, event.round].join(" ");
