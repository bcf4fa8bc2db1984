import type { EventOf, WireEvent } from "../protocol/events";
import type { FileAccess } from "../protocol/events/file";
import { filesNote } from "../protocol/left-out";
import type { TurnView } from "../protocol/view";
import { voteResult } from "../protocol/view/vote-result";
import { formatDuration, formatProgress, plural } from "./figures";
import { CHANGES_FILES, pathInWorkspace } from "./file-tools";
import { hostedToolUsed } from "./hosted-tools";
import { voteWords } from "./votes";
import { fallbackWords } from "./warnings";

/**
 * How a sentence is to be shown. `good`: progress. `bad`: a failure, or another event that the
 * reader should notice.
 */
type SentenceTone = "plain" | "dim" | "good" | "bad";

/**
 * One event as a sentence. It contains names and texts of models and servers without changes, so
 * the code that shows the sentence must remove control characters.
 */
export type Sentence = {
  /** The agent that the sentence begins with; `null` if it begins with `text`. */
  agent: string | null;
  /**
   * The rest of the sentence. With an agent, it begins with a space, a colon or `'s`, because it
   * directly follows the agent's name.
   */
  text: string;
  tone: SentenceTone;
};

type Phrase = { text: string; tone?: SentenceTone } | null;

/**
 * Describes an event for a person who watches the turn; `null` if the event is not worth a
 * sentence. `turn`: the turn after the event.
 */
export function describeEvent(event: WireEvent, turn: TurnView): Sentence | null {
  const phrase = phraseOf(event, turn);
  if (!phrase) return null;
  const { text, tone = "plain" } = phrase;
  if (!("agent" in event)) return { agent: null, text, tone };
  return { agent: event.agent, text: /^(:|'s )/.test(text) ? text : ` ${text}`, tone };
}

function phraseOf(event: WireEvent, turn: TurnView): Phrase {
  switch (event.type) {
    case "session.created":
    case "stream.delta":
    case "call.started":
    case "call.completed":
    case "round.nudged":
    case "personas.assigned":
    case "citations.added":
      return null;
    case "head.moved":
      return { text: `the next turn continues turn ${event.head}` };
    case "history.summarised":
    case "history.cut":
      return historyPhrase(event);
    case "turn.started":
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      return turnPhrase(event, turn);
    case "attempt.started":
    case "attempt.settled":
    case "attempt.restarted":
    case "presentation.started":
    case "presentation.completed":
      return attemptPhrase(event, turn);
    case "answer.submitted":
    case "answer.refused":
    case "vote.cast":
    case "vote.stale":
    case "vote.refused":
    case "votes.cleared":
    case "answers.injected":
      return decisionPhrase(event);
    default:
      return workPhrase(event);
  }
}

function historyPhrase(event: EventOf<"history.summarised" | "history.cut">): Phrase {
  if (event.type === "history.cut")
    return {
      text: `did not summarise the older turns (${event.message.replace(/\.$/, "")}): the oldest texts are cut`,
      tone: "bad",
    };
  return { text: `has summarised ${turnRange(event.turns)}`, tone: "good" };
}

/** The turns of a branch in words. Turns of other branches may have numbers between them. */
function turnRange(turns: readonly number[]): string {
  const [first = 0, last = first] = [turns[0], turns.at(-1)];
  if (turns.length === 1) return `turn ${first}`;
  const isWhole = last - first === turns.length - 1;
  return isWhole ? `turns ${first} to ${last}` : `${turns.length} turns until turn ${last}`;
}

function turnPhrase(
  event: EventOf<"turn.started" | "turn.completed" | "turn.failed" | "turn.cancelled">,
  turn: TurnView,
): Phrase {
  switch (event.type) {
    case "turn.started":
      return {
        text: `turn ${event.turn} started: ${event.kind === "compact" ? "summarises the conversation" : plural(turn.agents.length, "agent")}`,
      };
    case "turn.completed":
      return { text: `turn ${event.turn} completed`, tone: "good" };
    case "turn.failed":
      return { text: `turn ${event.turn} failed: ${event.message}`, tone: "bad" };
    case "turn.cancelled":
      return { text: `turn ${event.turn} cancelled`, tone: "bad" };
  }
}

type AttemptEvent = EventOf<
  | "attempt.started"
  | "attempt.settled"
  | "attempt.restarted"
  | "presentation.started"
  | "presentation.completed"
>;

function attemptPhrase(event: AttemptEvent, turn: TurnView): Phrase {
  switch (event.type) {
    case "attempt.started":
      return event.attempt === 1
        ? null
        : { text: `attempt ${event.attempt} started: ${event.feedback?.reason ?? ""}` };
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

function decisionPhrase(event: DecisionEvent): Phrase {
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
      return { text: `'s answer was rejected: ${event.message}` };
    case "vote.cast":
      return { text: `votes for ${event.label}: ${event.reason}`, tone: "good" };
    case "vote.stale":
      return {
        text: `'s vote for ${event.label} ignored: ${event.missing.join(", ")} arrived meanwhile`,
      };
    case "vote.refused":
      return { text: `'s vote was rejected: ${event.message}` };
    case "votes.cleared": {
      const voters = event.votes.map(({ agent }) => agent);
      if (voters.length === 0) return null;
      const lostVotes =
        voters.length === 1
          ? `${voters[0]}'s vote no longer counts`
          : `the votes of ${voters.join(", ")} no longer count`;
      return { text: `new answer ${event.by}: ${lostVotes}` };
    }
    case "answers.injected":
      return {
        text: `is shown ${event.labels.join(", ")} ${event.via === "reopened" ? "and decides again" : "while it works"}`,
      };
  }
}

/**
 * Codes of refused file accesses to a forbidden path. Other codes, such as "not found", are normal.
 */
const FORBIDDEN_CODES = new Set([
  "unknown_place",
  "read_only",
  "protected",
  "not_read",
  "path_outside",
]);

function accessedFiles(event: EventOf<"files.accessed">): Phrase {
  return refusedAccess(event) ?? changedFiles(event);
}

function refusedAccess({ accesses }: EventOf<"files.accessed">): Phrase {
  const refused = accesses.filter(
    ({ refused }) => refused !== null && FORBIDDEN_CODES.has(refused),
  );
  const [first] = refused;
  if (!first) return null;
  const refusedFiles = refused.reduce((sum, { files = 1 }) => sum + files, 0);
  const others = refusedFiles > 1 ? ` and ${plural(refusedFiles - 1, "other")}` : "";
  return { text: `may not ${first.operation} ${first.path}${others}`, tone: "bad" };
}

/** Names the files that a tool call wrote and deleted. */
function changedFiles({ accesses }: EventOf<"files.accessed">): Phrase {
  const done = accesses.filter(({ refused }) => refused === null);
  const verbs = { write: "writes", delete: "deletes" } as const;
  const parts = (["write", "delete"] as const).flatMap((operation) => {
    const names = namesOf(withoutFolders(done.filter((access) => access.operation === operation)));
    return names === null ? [] : [`${verbs[operation]} ${names}`];
  });
  return parts.length === 0 ? null : { text: parts.join(", ") };
}

/** Leaves out folders that were created or removed together with files in them. */
const withoutFolders = (accesses: FileAccess[]): FileAccess[] =>
  accesses.filter(({ path }) => !accesses.some((other) => other.path.startsWith(`${path}/`)));

/** The first file and the number of others; `null` if there is no file. */
function namesOf(accesses: readonly FileAccess[]): string | null {
  const [first] = accesses;
  if (!first) return null;
  const count = accesses.reduce((sum, { files = 1 }) => sum + files, 0);
  const others = count - (first.files ?? 1);
  const path = pathInWorkspace(first.path);
  const name = first.files === undefined ? path : `${plural(first.files, "file")} in ${path}`;
  return others === 0 ? name : `${name} and ${plural(others, "other")}`;
}

function listedTools({ server, problem, tools, refused }: EventOf<"tools.listed">): Phrase {
  if (problem !== null) return { text: `has no tools of ${server}: ${problem}`, tone: "bad" };
  const changedTools = refused.filter(({ changed }) => changed).map(({ tool }) => tool);
  const warning =
    changedTools.length > 0
      ? `; switched off because the server changed them: ${changedTools.join(", ")}`
      : "";
  return {
    text: `has ${plural(tools.length, "tool")} of ${server}${warning}`,
    ...(warning !== "" && { tone: "bad" as const }),
  };
}

/**
 * Describes a server's request for input. The service asks no person, and no URL becomes a link.
 */
function inputRequired({ name, origin, requests, more }: EventOf<"tool.input_required">): Phrase {
  const wishes = requests.map(({ kind, message, url, refused }) => {
    if (kind === "form") return `to fill in a form: ${message}`;
    if (kind === "other") return `something else: ${message}`;
    return `to open ${url ?? `an address that is not shown (${refused ?? "refused"})`}: ${message}`;
  });
  const others = more === undefined ? [] : [`${more} more`];
  const wants = [...wishes, ...others].join("; ") || "something it does not name";
  return { text: `: ${name} of ${origin} asks a person ${wants}. No person is asked`, tone: "bad" };
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

function workPhrase(event: WorkEvent): Phrase {
  switch (event.type) {
    case "round.started":
      if (event.purpose === "summary") return { text: "summarises older turns" };
      return {
        text: `starts round ${event.round}${event.labels.length > 0 ? ` with ${event.labels.join(", ")}` : ""}`,
      };
    case "round.failed":
      return { text: `'s round failed: ${event.message}`, tone: "bad" };
    case "call.deferred":
      return { text: "waits until the budget allows the next call" };
    case "call.waiting":
      return {
        text: `waits for the rate limit of ${event.model}, about ${formatDuration(event.until - event.at)}`,
      };
    case "conversation.compacted":
      return {
        text: `summarizes its last ${plural(event.replies, "step")}: about ${event.tokens} tokens are free again`,
      };
    case "call.failed": {
      // This is not a failure. The event that ended the work names the reason.
      if (event.class === "cancelled") return null;
      const wait = event.retry_at === null ? null : Math.max(0, event.retry_at - event.at) / 1000;
      const next = wait === null ? "" : `, retrying in ${wait.toFixed(1)} s`;
      return { text: `: model error (${event.message.replace(/\.$/, "")})${next}`, tone: "bad" };
    }
    case "tool.started":
      // `files.accessed` follows at once and names the files.
      return CHANGES_FILES.has(event.name) ? null : { text: `uses ${event.name}` };
    case "tool.progressed":
      return { text: `${event.name}: ${formatProgress(event)}`, tone: "dim" };
    case "tool.input_required":
      return inputRequired(event);
    case "tool.completed":
      return event.outcome === "ok" ? null : { text: `${event.name}: ${event.outcome}` };
    case "tool.interrupted":
      return null;
    case "files.accessed":
      return accessedFiles(event);
    case "tools.listed":
      return listedTools(event);
    case "tool.unknown":
      return {
        text: `${event.name}: result unknown${event.message ? `: ${event.message}` : ""}`,
        tone: "bad",
      };
    case "hosted_tool.completed":
      return { text: hostedToolUsed(event), ...(event.outcome === "ok" ? {} : { tone: "bad" }) };
    case "agent.failed":
      return { text: `drops out: ${event.message}`, tone: "bad" };
    case "agent.abstained":
      return { text: `abstains: ${event.message}` };
  }
}
