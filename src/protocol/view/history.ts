import type { EventOf } from "../events";
import type { HistoryView } from "./types";

/** What a turn shows its agents of earlier turns, as `turn.started` plans it. */
export const startedHistory = ({
  bytes,
  summary,
  summarises,
}: NonNullable<EventOf<"turn.started">["history"]>): HistoryView => ({
  bytes,
  summary: summary ?? null,
  writing: summarises?.agent ?? null,
  written: null,
  cut: null,
});

/** Records how the planned summary ended. Changes `history` in place. */
export function applyHistory(
  history: HistoryView,
  event: EventOf<"history.summarised" | "history.cut">,
): void {
  history.writing = null;
  if (event.type === "history.cut") {
    history.cut = { code: event.code, message: event.message };
    return;
  }
  const { agent, turns, text } = event;
  history.summary = turns.at(-1) ?? null;
  history.written = { agent, turns: [...turns], text };
}
