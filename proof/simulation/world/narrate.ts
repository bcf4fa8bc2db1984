import type { NumberedEvent } from "../../../checker";

/** Fields that are redundant or not needed to read a failing history. */
const LEFT_OUT = [
  "sequence_number",
  "type",
  "at",
  "turn",
  "attempt",
  "agent",
  "provider",
  "model",
  "usage",
  "message",
  "rules",
];
const MOST_CHARACTERS = 160;
/** Longer histories are cut in the middle. */
const MOST_LINES = 120;

/** A readable log: one line per event, times relative to the first event. */
export function narrate(log: readonly NumberedEvent[]): string {
  const start = log[0]?.at ?? 0;
  const lines = log.map((event) => {
    const agent = "agent" in event ? ` ${event.agent}` : "";
    return `#${event.sequence_number} +${Math.round(event.at - start)}ms ${event.type}${agent} ${detailsOf(event)}`;
  });
  if (lines.length <= MOST_LINES) return lines.join("\n");
  const half = MOST_LINES / 2;
  return [
    ...lines.slice(0, half),
    `… ${lines.length - MOST_LINES} more …`,
    ...lines.slice(-half),
  ].join("\n");
}

function detailsOf(event: NumberedEvent): string {
  const told = Object.entries(event).filter(([name]) => !LEFT_OUT.includes(name));
  const text = told.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(" ");
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
