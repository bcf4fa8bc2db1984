import type { EventOf } from "../../protocol/events";
import type { InputRequired, ToolNews, ToolProgress } from "../../protocol/tool-news";
import { LIMITS } from "../limits";
import { toolInFlight } from "../owed";
import type { Told, ToolState, TurnState } from "../state";

/**
 * What tools tell people while they run: passed on while the call runs, and so seldom that no server can fill a log. It changes
 * nothing but how much more of it is passed on.
 */

const NOTHING: Told = { inputs: 0, progress: 0, progressAt: 0 };

/** Whether people are to be told, `at` this time (unix ms). */
export function isWorthTelling(
  turn: TurnState,
  effect: string,
  news: ToolNews,
  at: number,
): boolean {
  const found = toolInFlight(turn, effect);
  if (!found) return false;
  const told = found.tool.told ?? NOTHING;
  if (news.type === "input_asked") return told.inputs < LIMITS.inputsPerCall;
  if (![news.progress, news.total ?? 0].every(Number.isFinite)) return false;
  return (
    told.progress < LIMITS.progressPerCall && at - told.progressAt >= pauseAfter(told.progress)
  );
}

/** What people have been told of the tool, this event included. */
export function toldNow(
  { told = NOTHING }: ToolState,
  event: EventOf<"tool.progressed" | "tool.input_required">,
): Told {
  if (event.type === "tool.input_required") return { ...told, inputs: told.inputs + 1 };
  return { ...told, progress: told.progress + 1, progressAt: event.at };
}

/** Twice as long after every second time: what a call may be told of lasts for the longest call there is. */
const pauseAfter = (times: number): number =>
  times === 0 ? 0 : LIMITS.progressPauseMs * 2 ** Math.floor(times / 2);

/** As much of it as one event tells. */
export const boundedProgress = ({
  origin,
  progress,
  total,
  message,
}: ToolProgress): ToolProgress => ({
  origin: cut(origin),
  progress,
  total,
  message: message === null ? null : cut(message),
});

/** As much of it as one event tells. */
export function boundedInput({ origin, requests, more = 0 }: InputRequired): InputRequired {
  const left = more + Math.max(0, requests.length - LIMITS.requestsPerInput);
  const shown = requests
    .slice(0, LIMITS.requestsPerInput)
    .map(({ kind, message, url, refused }) => ({
      kind,
      message: cut(message),
      url: url === null ? null : cut(url),
      refused: refused === null ? null : cut(refused),
    }));
  return { origin: cut(origin), requests: shown, ...(left > 0 && { more: left }) };
}

/** Whoever tells cuts to less than this, and says so; this is for tools that do not. */
const cut = (text: string): string => text.slice(0, LIMITS.newsChars).toWellFormed();
