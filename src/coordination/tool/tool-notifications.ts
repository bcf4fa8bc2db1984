import type { EventOf } from "../../protocol/events";
import type { InputRequired, ToolNotification, ToolProgress } from "../../protocol/events/tool";
import { LIMITS } from "../limits";
import { toolInFlight } from "../owed";
import type { ForwardedCounts, ToolState, TurnState } from "../state";

/**
 * Progress and elicitation from running tools. Forwarded only while the call runs, and rarely
 * enough that no server can fill a log. The state keeps only how much was forwarded.
 */

const NONE_FORWARDED: ForwardedCounts = { inputs: 0, progress: 0, progressAt: 0 };

/** Whether a notification at this time (unix ms) is forwarded to people. */
export function shouldForward(
  turn: TurnState,
  effect: string,
  notification: ToolNotification,
  at: number,
): boolean {
  const found = toolInFlight(turn, effect);
  if (!found) return false;
  const forwarded = found.tool.forwarded ?? NONE_FORWARDED;
  if (notification.type === "elicitation") return forwarded.inputs < LIMITS.inputsPerCall;
  if (![notification.progress, notification.total ?? 0].every(Number.isFinite)) return false;
  return (
    forwarded.progress < LIMITS.progressPerCall &&
    at - forwarded.progressAt >= pauseAfter(forwarded.progress)
  );
}

/** What was forwarded of the tool, including this event. */
export function countForwarded(
  { forwarded = NONE_FORWARDED }: ToolState,
  event: EventOf<"tool.progressed" | "tool.input_required">,
): ForwardedCounts {
  if (event.type === "tool.input_required") return { ...forwarded, inputs: forwarded.inputs + 1 };
  return { ...forwarded, progress: forwarded.progress + 1, progressAt: event.at };
}

/**
 * Doubles after every second notification, so that the allowance lasts for the longest possible
 * call.
 */
const pauseAfter = (times: number): number =>
  times === 0 ? 0 : LIMITS.progressPauseMs * 2 ** Math.floor(times / 2);

/** The progress, cut to what one event may hold. */
export const capProgress = ({ origin, progress, total, message }: ToolProgress): ToolProgress => ({
  origin: truncateText(origin),
  progress,
  total,
  message: message === null ? null : truncateText(message),
});

/** The elicitation, cut to what one event may hold. */
export function capElicitation({ origin, requests, more = 0 }: InputRequired): InputRequired {
  const left = more + Math.max(0, requests.length - LIMITS.requestsPerInput);
  const shown = requests
    .slice(0, LIMITS.requestsPerInput)
    .map(({ kind, message, url, refused }) => ({
      kind,
      message: truncateText(message),
      url: url === null ? null : truncateText(url),
      refused: refused === null ? null : truncateText(refused),
    }));
  return { origin: truncateText(origin), requests: shown, ...(left > 0 && { more: left }) };
}

/** The MCP client cuts to less than this and marks the cut. This is for other tools. */
const truncateText = (text: string): string =>
  text.slice(0, LIMITS.notificationChars).toWellFormed();
