import type { Effect } from "../../src/coordination";
import type { EventOf, SessionEvent, ToolEvent } from "../../src/protocol/events";

/**
 * Events and effects as short lines, so that a table row lists exactly what happened, in order, on
 * one screen.
 */
export const eventLines = (events: readonly SessionEvent[]): string[] => events.map(line);

/** `call a`, or `call a in 500` when it must wait. */
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

/** The events of a rule; ids, times and sums have their own tests. */
function details(event: SessionEvent): string[] {
  switch (event.type) {
    case "attempt.started":
      return [String(event.attempt)];
    case "personas.assigned":
      return Object.entries(event.personas).map(([id, text]) => `${id}:${text}`);
    case "round.started":
      return begun(event);
    case "call.started":
      return asked(event);
    case "call.waiting":
    case "call.failed":
    case "conversation.compacted":
      return delayed(event);
    case "tool.started":
    case "tool.progressed":
    case "tool.input_required":
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
      return [event.name, ...ofTool(event)];
    case "tools.listed":
      return listed(event);
    case "files.accessed":
      return accessed(event);
    case "answer.submitted":
      return [
        event.label,
        ...(event.origin === "partial" ? ["partial"] : []),
        ...(event.snapshot ? [`with ${event.snapshot}`] : []),
        ...(event.files === "workspace_cleared" ? ["cleared"] : []),
        ...(event.left_out ? [`without ${event.left_out.paths.join(" ")}`] : []),
      ];
    case "votes.cleared":
      return ["by", event.by, ...event.votes.map((vote) => `${vote.agent}→${vote.label}`)];
    case "vote.cast":
      return [event.label];
    case "vote.stale":
      return [event.label, "missing", ...event.missing];
    case "round.nudged":
      return [String(event.nudge)];
    case "answers.injected":
      return [shown(event.labels), event.via];
    case "attempt.settled":
      return settled(event);
    case "presentation.started":
      return [event.label ?? "-", ...(event.workspace ? [`from ${event.workspace}`] : [])];
    case "presentation.completed":
      return presented(event);
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

function begun({ round, cause, labels, purpose, carries }: EventOf<"round.started">): string[] {
  const what = purpose === "coordination" ? [] : [purpose];
  return [`#${round}`, cause, shown(labels), ...what, ...(carries ? [`carries #${carries}`] : [])];
}

function asked(event: EventOf<"call.started">): string[] {
  const offers = event.compacts ? "compacts" : event.offers.join("|") || "nothing";
  return [offers, ...(event.forced ? ["forced"] : []), ...left(event)];
}

/** The round limits that the call states. */
const left = ({ limit }: EventOf<"call.started">): string[] => [
  ...(limit?.calls_left === undefined ? [] : [`${limit.calls_left} calls left`]),
  ...(limit?.seconds_left === undefined ? [] : [`${limit.seconds_left} s left`]),
];

function ofTool(event: ToolEvent): string[] {
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

const accessed = ({ name, accesses }: EventOf<"files.accessed">): string[] => [
  name,
  ...accesses.slice(0, 3).map(({ operation, path, refused, files }) => {
    const much = files === undefined ? "" : ` (${files})`;
    return `${operation} ${path}${much}${refused === null ? "" : `: ${refused}`}`;
  }),
];

/** The order is random. */
const shown = (labels: readonly string[]): string => `[${[...labels].sort().join(" ")}]`;

const listed = ({ server, tools, refused, problem }: EventOf<"tools.listed">): string[] => [
  server,
  ...tools.map(({ name }) => name),
  ...refused.map(({ tool }) => `not ${tool}`),
  ...(problem === null ? [] : [`: ${problem}`]),
];

function settled({ ended_by, winner, label, tally, tie }: EventOf<"attempt.settled">): string[] {
  const votes = Object.entries(tally).map(([name, count]) => `${name}:${count}`);
  return [ended_by, winner ?? "-", label ?? "-", ...votes, ...(tie ? ["tie"] : [])];
}

/** What delays a call, or prevents it. */
function delayed(
  event: EventOf<"call.waiting" | "call.failed" | "conversation.compacted">,
): string[] {
  if (event.type === "call.waiting") return [`${event.until - event.at} ms`];
  if (event.type === "conversation.compacted")
    return [`${event.replies} replies`, `${event.tokens} tokens`];
  return [event.class, event.retry_at === null ? "final" : `retry in ${event.retry_at - event.at}`];
}

function presented({
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
