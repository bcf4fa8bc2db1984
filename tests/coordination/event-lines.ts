import type { Effect } from "../../src/coordination";
import type { EventOf, SessionEvent, ToolEvent } from "../../src/protocol/events";

/** Events and effects as short lines, so that a row of a table shows all of them on one screen. */
export const eventLines = (events: readonly SessionEvent[]): string[] => events.map(line);

/** Lines of owed effects, such as `call a`, or `call a in 500` if the call is due in 500 ms. */
export const owedLines = (
  effects: readonly Effect[],
  ids: readonly string[],
  now: number,
): string[] =>
  effects.map((effect) => {
    if (effect.type === "tool_listing") return `listing ${ids[effect.agent]}`;
    if (effect.type === "tool_call") return `tool ${ids[effect.agent]} ${effect.name}`;
    return effect.notBefore > now
      ? `call ${ids[effect.agent]} in ${effect.notBefore - now}`
      : `call ${ids[effect.agent]}`;
  });

function line(event: SessionEvent): string {
  const agent = "agent" in event ? [event.agent] : [];
  return [event.type, ...agent, ...details(event)].join(" ");
}

/** The details of an event that a rule decides. Other tests check ids, times and sums. */
function details(event: SessionEvent): string[] {
  switch (event.type) {
    case "attempt.started":
      return [String(event.attempt)];
    case "personas.assigned":
      return Object.entries(event.personas).map(([id, text]) => `${id}:${text}`);
    case "history.summarised":
      return summaryDetails(event);
    case "round.started":
      return roundDetails(event);
    case "call.started":
      return callDetails(event);
    case "call.waiting":
    case "call.failed":
    case "conversation.compacted":
      return delayDetails(event);
    case "tool.started":
    case "tool.progressed":
    case "tool.input_required":
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
      return [event.name, ...toolDetails(event)];
    case "tools.listed":
      return listingDetails(event);
    case "files.accessed":
      return accessDetails(event);
    case "answer.submitted":
      return answerDetails(event);
    case "votes.cleared":
      return ["by", event.by, ...event.votes.map((vote) => `${vote.agent}→${vote.label}`)];
    case "vote.cast":
      return [event.label];
    case "vote.stale":
      return [event.label, "missing", ...event.missing];
    case "round.nudged":
      return [String(event.nudge)];
    case "answers.injected":
      return [sortedList(event.labels), event.via];
    case "attempt.settled":
      return settlementDetails(event);
    case "presentation.started":
      return [event.label ?? "-", ...(event.workspace ? [`from ${event.workspace}`] : [])];
    case "presentation.completed":
      return presentationDetails(event);
    case "turn.completed":
      return [event.winner, event.label, event.finish_reason];
    case "turn.failed":
      return [event.code, ...event.agents.map(({ agent, code }) => `${agent}:${code}`)];
    case "turn.cancelled":
      return [event.partial.winner ?? "-", event.partial.answer ?? "-", event.partial.text ?? "-"];
    default:
      return "code" in event ? [event.code] : [];
  }
}

const summaryDetails = ({ turns, after, text }: EventOf<"history.summarised">): string[] => [
  `[${turns.join(" ")}]`,
  ...(after ? [`after ${after}`] : []),
  text,
];

const answerDetails = (event: EventOf<"answer.submitted">): string[] => [
  event.label,
  ...(event.origin === "partial" ? ["partial"] : []),
  ...(event.snapshot ? [`with ${event.snapshot}`] : []),
  ...(event.files === "workspace_cleared" ? ["cleared"] : []),
  ...(event.left_out ? [`without ${event.left_out.paths.join(" ")}`] : []),
];

function roundDetails({
  round,
  cause,
  labels,
  purpose,
  carries,
}: EventOf<"round.started">): string[] {
  const otherPurpose = purpose === "coordination" ? [] : [purpose];
  return [
    `#${round}`,
    cause,
    sortedList(labels),
    ...otherPurpose,
    ...(carries ? [`carries #${carries}`] : []),
  ];
}

function callDetails(event: EventOf<"call.started">): string[] {
  const offers = event.compacts ? "compacts" : event.offers.join("|") || "nothing";
  return [offers, ...(event.forced ? ["forced"] : []), ...limitDetails(event)];
}

/** The round limits that the call contains. */
const limitDetails = ({ limit }: EventOf<"call.started">): string[] => [
  ...(limit?.calls_left === undefined ? [] : [`${limit.calls_left} calls left`]),
  ...(limit?.seconds_left === undefined ? [] : [`${limit.seconds_left} s left`]),
];

function toolDetails(event: ToolEvent): string[] {
  if (event.type === "tool.completed") return [event.outcome];
  if (event.type === "tool.progressed")
    return [
      `${event.progress}/${event.total ?? "?"}`,
      ...(event.message === null ? [] : [event.message]),
    ];
  if (event.type !== "tool.input_required") return [];
  return [
    event.origin,
    ...event.requests.map(({ kind }) => kind),
    ...(event.more ? [`and ${event.more} more`] : []),
  ];
}

const accessDetails = ({ name, accesses }: EventOf<"files.accessed">): string[] => [
  name,
  ...accesses.slice(0, 3).map(({ operation, path, refused, files }) => {
    const count = files === undefined ? "" : ` (${files})`;
    return `${operation} ${path}${count}${refused === null ? "" : `: ${refused}`}`;
  }),
];

/** Labels in a fixed order, because the order in the event is random. */
const sortedList = (labels: readonly string[]): string => `[${[...labels].sort().join(" ")}]`;

const listingDetails = ({ server, tools, refused, problem }: EventOf<"tools.listed">): string[] => [
  server,
  ...tools.map(({ name }) => name),
  ...refused.map(({ tool }) => `not ${tool}`),
  ...(problem === null ? [] : [`: ${problem}`]),
];

function settlementDetails({
  ended_by,
  winner,
  label,
  tally,
  tie,
}: EventOf<"attempt.settled">): string[] {
  const votes = Object.entries(tally).map(([name, count]) => `${name}:${count}`);
  return [ended_by, winner ?? "-", label ?? "-", ...votes, ...(tie ? ["tie"] : [])];
}

/** The details of an event that delays or ends a call. */
function delayDetails(
  event: EventOf<"call.waiting" | "call.failed" | "conversation.compacted">,
): string[] {
  if (event.type === "call.waiting") return [`${event.until - event.at} ms`];
  if (event.type === "conversation.compacted")
    return [`${event.replies} replies`, `${event.tokens} tokens`];
  return [event.class, event.retry_at === null ? "final" : `retry in ${event.retry_at - event.at}`];
}

function presentationDetails({
  label,
  source,
  fallback,
  text_file: file,
  ...event
}: EventOf<"presentation.completed">): string[] {
  const { changed_files: changed } = event;
  const files = changed === undefined ? null : `with ${event.snapshot} ${changed} changed`;
  return [label, source, fallback, file && `whole in ${file}`, files].filter(
    (word) => typeof word === "string",
  );
}
