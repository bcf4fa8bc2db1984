import type { EventOf } from "../../protocol/events";
import type { InputRequired, ToolNotification, ToolProgress } from "../../protocol/events/tool";
import { LIMITS } from "../limits";
import { toolInFlight } from "../owed";
import type { ForwardedCounts, ToolState, TurnState } from "../state";

/**
 * Progress and elicitation from running tools. A notification is forwarded only while its tool call
 * runs. The number per call is limited, so that no server can fill a log. The state contains only
 * the numbers of forwarded notifications.
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

/** The numbers of forwarded notifications of the tool, including this event. */
export function countForwarded(
  { forwarded = NONE_FORWARDED }: ToolState,
  event: EventOf<"tool.progressed" | "tool.input_required">,
): ForwardedCounts {
  if (event.type === "tool.input_required") return { ...forwarded, inputs: forwarded.inputs + 1 };
  return { ...forwarded, progress: forwarded.progress + 1, progressAt: event.at };
}

/**
 * The pause (ms) after this many progress notifications. It doubles after every second
 * notification, so that the longest possible call ends before their maximum number is reached.
 */
const pauseAfter = (times: number): number =>
  times === 0 ? 0 : LIMITS.progressPauseMs * 2 ** Math.floor(times / 2);

/** The progress notification with its texts cut to the limit of one event. */
export const capProgress = ({ origin, progress, total, message }: ToolProgress): ToolProgress => ({
  origin: truncateText(origin),
  progress,
  total,
  message: message === null ? null : truncateText(message),
});

/** The elicitation with its requests and texts cut to the limits of one event. */
export function capElicitation({ origin, requests, more = 0 }: InputRequired): InputRequired {
  const omittedCount = more + Math.max(0, requests.length - LIMITS.requestsPerInput);
  const cappedRequests = requests
    .slice(0, LIMITS.requestsPerInput)
    .map(({ kind, message, url, refused }) => ({
      kind,
      message: truncateText(message),
      url: url === null ? null : truncateText(url),
      refused: refused === null ? null : truncateText(refused),
    }));
  return {
    origin: truncateText(origin),
    requests: cappedRequests,
    ...(omittedCount > 0 && { more: omittedCount }),
  };
}

/** The MCP client already cuts texts to less than this, so this limit applies to other tools. */
const truncateText = (text: string): string =>
  text.slice(0, LIMITS.notificationChars).toWellFormed();
