import type { NumberedEvent } from "../../../checker";

/** Fields that a reader of a failing history does not need. */
const OMITTED = [
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
const MAX_CHARACTERS = 160;
/** Maximum number of lines. Longer histories are cut in the middle. */
const MAX_LINES = 120;

/** A log for people: one line per event, with times relative to the first event. */
export function narrate(log: readonly NumberedEvent[]): string {
  const start = log[0]?.at ?? 0;
  const lines = log.map((event) => {
    const agent = "agent" in event ? ` ${event.agent}` : "";
    return `#${event.sequence_number} +${Math.round(event.at - start)}ms ${event.type}${agent} ${detailsOf(event)}`;
  });
  if (lines.length <= MAX_LINES) return lines.join("\n");
  const half = MAX_LINES / 2;
  return [
    ...lines.slice(0, half),
    `… ${lines.length - MAX_LINES} more …`,
    ...lines.slice(-half),
  ].join("\n");
}

function detailsOf(event: NumberedEvent): string {
  const shown = Object.entries(event).filter(([name]) => !OMITTED.includes(name));
  const text = shown.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(" ");
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
}
