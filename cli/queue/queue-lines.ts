import type { QueueFacts } from "../service/schema";
import { type Line, segment } from "../terminal/output";
import { toLine } from "../terminal/sanitize";

/** Most questions of a queue that are shown below a running turn. */
const MOST_SHOWN = 3;

/** The questions that wait, and why nothing starts. For a whole page. */
export function queuePage({ data, held, waiting }: QueueFacts): Line[] {
  if (data.length === 0) return [[segment("No question waits.", "dim")]];
  const reason = held ?? (waiting?.code === "turn_running" ? null : waiting);
  return [
    ...data.map(toQueueLine),
    ...(reason
      ? [[segment(held ? "held     " : "waiting  ", "busy"), segment(toLine(reason.message))]]
      : []),
  ];
}

/** The questions that wait, in a few lines below the state of a turn. */
export function queueSummary({ data, held }: QueueFacts): Line[] {
  const hidden = data.length > MOST_SHOWN ? data.length - (MOST_SHOWN - 1) : 0;
  const shown = data.slice(0, data.length - hidden);
  return [
    ...shown.map(toQueueLine),
    ...(hidden > 0 ? [[segment(`         and ${hidden} more`, "dim" as const)]] : []),
    ...(held ? [[segment(`held     ${toLine(held.message)}`, "busy" as const)]] : []),
  ];
}

const toQueueLine = ({ position, question_preview }: QueueFacts["data"][number]): Line => [
  segment(`queued ${String(position).padStart(2)}  `, "bold"),
  segment(toLine(question_preview), "dim"),
];
