import type { EventOf } from "../../protocol/events";
import { type HistoryState, indexOf, type TurnState } from "../state";
import { updateAgent } from "../update";

export type HistoryEvent = EventOf<"history.summarised" | "history.cut">;

/** Folds the end of the summary call, with or without a summary. The agents start now. */
export function evolveHistory(turn: TurnState, event: HistoryEvent): TurnState {
  const ended = updateAgent(turn, indexOf(turn, event.agent), (agent) => ({
    ...agent,
    round: null,
  }));
  return {
    ...ended,
    ...(turn.history && { history: withoutPlan(turn.history, event) }),
    attempt: { ...ended.attempt, workingSince: event.at },
  };
}

const withoutPlan = (history: HistoryState, event: HistoryEvent): HistoryState => ({
  ...history,
  summary: event.type === "history.summarised" ? (event.turns.at(-1) ?? null) : history.summary,
  summarises: null,
});

/** The history at the start of a turn; `undefined` if its agents see all of it in full. */
export function startedHistory(
  ids: readonly string[],
  { history }: EventOf<"turn.started">,
): HistoryState | undefined {
  if (!history) return undefined;
  const { bytes, summary, summarises, windows } = history;
  const planned = summarises && {
    turns: summarises.turns,
    agent: ids.indexOf(summarises.agent),
  };
  return {
    bytes,
    ...(windows && { windows }),
    summary: summary ?? null,
    summarises: planned ?? null,
  };
}
