import type { EventOf, WireEvent } from "../../src/protocol/events";
import { fallbackWords } from "../../src/protocol/fallback";
import { type HostedToolName, HostedToolNameSchema } from "../../src/protocol/hosted-tools";
import { filesNote } from "../../src/protocol/left-out";
import type { TurnView } from "../../src/protocol/view";
import { voteResult, voteWords } from "../../src/protocol/vote-result";
import { type Line, segment, type Tone } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { fitStart } from "../terminal/text-width";
import { formatDuration, formatProgress, plural } from "./format";

type Told = { text: string; tone?: Tone } | null;

/** What an event means to somebody who watches, on one line; null for what only the figures show. `turn` is after the event. */
export function describeEvent(event: WireEvent, turn: TurnView): Line | null {
  const told = tell(event, turn);
  if (!told) return null;
  const time = segment(`${formatDuration(event.at - turn.startedAt)}  `, "dim");
  const who = "agent" in event ? [segment(`${toLine(event.agent)} `, "bold")] : [];
  return [time, ...who, segment(toLine(told.text), told.tone ?? "plain")];
}

function tell(event: WireEvent, turn: TurnView): Told {
  switch (event.type) {
    case "session.created":
    case "stream.delta":
    case "call.started":
    case "call.completed":
    case "round.nudged":
    case "personas.assigned":
    case "citations.added":
      return null;
    case "turn.started":
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      return tellTurn(event, turn);
    case "attempt.started":
    case "attempt.settled":
    case "attempt.restarted":
    case "presentation.started":
    case "presentation.completed":
      return tellAttempt(event, turn);
    case "answer.submitted":
    case "answer.refused":
    case "vote.cast":
    case "vote.stale":
    case "vote.refused":
    case "votes.cleared":
    case "answers.injected":
      return tellDecision(event);
    default:
      return tellWork(event);
  }
}

function tellTurn(
  event: EventOf<"turn.started" | "turn.completed" | "turn.failed" | "turn.cancelled">,
  turn: TurnView,
): Told {
  switch (event.type) {
    case "turn.started":
      return { text: `turn ${event.turn} begins: ${plural(turn.agents.length, "agent")}` };
    case "turn.completed":
      return { text: `turn ${event.turn} is complete`, tone: "good" };
    case "turn.failed":
      return { text: `turn ${event.turn} failed: ${event.message}`, tone: "bad" };
    case "turn.cancelled":
      return { text: `turn ${event.turn} was cancelled`, tone: "bad" };
  }
}

type AttemptEvent = EventOf<
  | "attempt.started"
  | "attempt.settled"
  | "attempt.restarted"
  | "presentation.started"
  | "presentation.completed"
>;

function tellAttempt(event: AttemptEvent, turn: TurnView): Told {
  switch (event.type) {
    case "attempt.started":
      return event.attempt === 1
        ? null
        : { text: `attempt ${event.attempt} begins: ${event.feedback?.reason ?? ""}` };
    case "attempt.settled":
      return event.ended_by === "skipped"
        ? null
        : { text: `settled: ${settlement(event, turn)}`, tone: "good" };
    case "attempt.restarted":
      return { text: `rejects its final answer: ${event.reason}`, tone: "bad" };
    case "presentation.started":
      return { text: "presents the final answer" };
    case "presentation.completed":
      return event.fallback === null ? null : { text: fallbackWords(event), tone: "bad" };
  }
}

function settlement(
  { attempt, label, winner, tie, ended_by: endedBy }: EventOf<"attempt.settled">,
  turn: TurnView,
): string {
  const settled = turn.attempts.findLast(({ number }) => number === attempt);
  const result = settled ? voteResult(settled, turn.agents.length) : null;
  if (label === null || !result) return "no agent has an answer";
  return `${label} wins, ${voteWords(result, { winner, endedBy, tie })}`;
}

type DecisionEvent = EventOf<
  | "answer.submitted"
  | "answer.refused"
  | "vote.cast"
  | "vote.stale"
  | "vote.refused"
  | "votes.cleared"
  | "answers.injected"
>;

function tellDecision(event: DecisionEvent): Told {
  switch (event.type) {
    case "answer.submitted": {
      const cut = event.origin === "partial" ? ", cut off" : "";
      const note = filesNote(event);
      const files = note === null ? "" : `, ${note}`;
      return {
        text: `answers: ${event.label} (${plural(event.content.length, "character")}${cut}${files})`,
        tone: "good",
      };
    }
    case "answer.refused":
      return { text: `has an answer refused: ${event.message}` };
    case "vote.cast":
      return { text: `votes for ${event.label}: ${event.reason}`, tone: "good" };
    case "vote.stale":
      return {
        text: `votes for ${event.label} before it has seen ${event.missing.join(", ")}: not counted`,
      };
    case "vote.refused":
      return { text: `has a vote refused: ${event.message}` };
    case "votes.cleared": {
      if (event.votes.length === 0) return null;
      return {
        text: `${event.by} voids ${plural(event.votes.length, "vote")}: ${event.votes.map(({ agent }) => agent).join(", ")}`,
      };
    }
    case "answers.injected":
      return {
        text: `is shown ${event.labels.join(", ")} ${event.via === "reopened" ? "and decides again" : "while it works"}`,
      };
  }
}

/** Where an agent reached for what it may not have or change. A file that is not there is nobody's concern. */
const FORBIDDEN = new Set(["unknown_place", "read_only", "protected", "not_read", "path_outside"]);

function tellRefused({ accesses }: EventOf<"files.accessed">): Told {
  const refused = accesses.filter(({ refused }) => refused !== null && FORBIDDEN.has(refused));
  const [first] = refused;
  if (!first) return null;
  const times = refused.reduce((sum, { files = 1 }) => sum + files, 0);
  const others = times > 1 ? ` and ${plural(times - 1, "other")}` : "";
  return { text: `may not ${first.operation} ${first.path}${others}`, tone: "bad" };
}

function tellListed({ server, problem, tools, refused }: EventOf<"tools.listed">): Told {
  if (problem !== null) return { text: `has no tools of ${server}: ${problem}`, tone: "bad" };
  const changed = refused.filter((one) => one.changed).map(({ tool }) => tool);
  const off =
    changed.length > 0
      ? `; switched off, as the server has changed them: ${changed.join(", ")}`
      : "";
  return {
    text: `has ${plural(tools.length, "tool")} of ${server}${off}`,
    ...(off !== "" && { tone: "bad" as const }),
  };
}

/** In the server's words, as text: nobody is asked, and no address is a link. */
function tellInputRequired({ name, origin, requests, more }: EventOf<"tool.input_required">): Told {
  const asked = requests.map(({ kind, message, url, refused }) => {
    if (kind === "form") return `to fill in a form: ${message}`;
    if (kind === "other") return `something else: ${message}`;
    return `to open ${url ?? `an address that is not shown, as ${refused ?? "it is refused"}`}: ${message}`;
  });
  const others = more === undefined ? [] : [`${more} more`];
  const wants = [...asked, ...others].join("; ") || "something it does not name";
  return { text: `${name}: ${origin} wants a person ${wants}. Nobody answers it`, tone: "bad" };
}

type WorkEvent = EventOf<
  | "round.started"
  | "round.failed"
  | "call.deferred"
  | "call.waiting"
  | "conversation.compacted"
  | "call.failed"
  | "tool.started"
  | "tool.progressed"
  | "tool.input_required"
  | "tool.completed"
  | "tool.interrupted"
  | "tool.unknown"
  | "files.accessed"
  | "tools.listed"
  | "hosted_tool.completed"
  | "agent.failed"
  | "agent.abstained"
>;

function tellWork(event: WorkEvent): Told {
  switch (event.type) {
    case "round.started":
      return {
        text: `begins round ${event.round}${event.labels.length > 0 ? ` with ${event.labels.join(", ")}` : ""}`,
      };
    case "round.failed":
      return { text: `fails its round: ${event.message}`, tone: "bad" };
    case "call.deferred":
      return { text: "waits for room in the budget" };
    case "call.waiting":
      return {
        text: `waits for room within the limits of ${event.model}, about ${formatDuration(event.until - event.at)}`,
      };
    case "conversation.compacted":
      return {
        text: `sums up its last ${plural(event.replies, "step")} to go on: about ${event.tokens} tokens are free again`,
      };
    case "call.failed": {
      if (event.class === "cancelled") return null; // no failure: what ended the work says why
      const next =
        event.retry_at === null
          ? ""
          : `, next try in ${Math.max(0, (event.retry_at - event.at) / 1000).toFixed(1)} s`;
      return { text: `has a call fail${next}: ${event.message}`, tone: "bad" };
    }
    case "tool.started":
      return { text: `uses ${event.name}` };
    case "tool.progressed":
      return { text: `${event.name}: ${formatProgress(event)}`, tone: "dim" };
    case "tool.input_required":
      return tellInputRequired(event);
    case "tool.completed":
      return event.outcome === "ok" ? null : { text: `${event.name}: ${event.outcome}` };
    case "tool.interrupted":
      return null;
    case "files.accessed":
      return tellRefused(event);
    case "tools.listed":
      return tellListed(event);
    case "tool.unknown":
      return {
        text: `${event.name}: whether it did its work is unknown${event.message ? `: ${event.message}` : ""}`,
        tone: "bad",
      };
    case "hosted_tool.completed":
      return { text: didUse(event), ...(event.outcome === "ok" ? {} : { tone: "bad" }) };
    case "agent.failed":
      return { text: `drops out: ${event.message}`, tone: "bad" };
    case "agent.abstained":
      return { text: `takes no further part: ${event.message}` };
  }
}

/** How people are told of tools that a provider runs itself. */
const WORDS: Record<HostedToolName, { does: string; did: string; failed: string }> = {
  web_search: {
    does: "searches the web",
    did: "searched the web",
    failed: "could not search the web",
  },
  x_search: { does: "searches posts", did: "searched posts", failed: "could not search posts" },
  code_execution: { does: "runs code", did: "ran code", failed: "had code fail" },
};
/** Enough of a query or of code to recognise it. */
const MOST_INPUT_COLUMNS = 200;

/** `searched the web: <query>`. */
export function didUse({ name, input, outcome }: EventOf<"hosted_tool.completed">): string {
  const { did, failed } = WORDS[name];
  return withInput(outcome === "ok" ? did : failed, fitStart(toLine(input), MOST_INPUT_COLUMNS));
}

/** `searches the web: <query as far as it is written>`; `name` may be that of a tool this program does not know. */
export function doesUse(name: string | null, input: string): string {
  const known = HostedToolNameSchema.safeParse(name).data;
  return withInput(known ? WORDS[known].does : "uses a tool of its provider", toLine(input));
}

const withInput = (what: string, input: string): string =>
  input === "" ? what : `${what}: ${input}`;
