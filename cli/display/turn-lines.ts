import type { WireEvent } from "../../src/protocol/events";
import { describeEvent } from "../../src/describe/events";
import { totalTokens } from "../../src/protocol/usage";
import type { AgentView, AttemptView, SessionView, TurnView } from "../../src/protocol/view";
import { type Line, segment } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { fitEnd, fitStart, padTo, widthOf } from "../terminal/text-width";
import {
  costWords,
  formatDuration,
  formatTokens,
  formatUsed,
  plural,
} from "../../src/describe/figures";
import { activityOf, statusTone } from "../../src/describe/status";

/** Shows a turn while it runs. Never throws and never waits. */
export type TurnDisplay = {
  /**
   * Called after each event with the resulting `view`. `event` is `null` if this program does not
   * know the type of the event; `raw` is the event's JSON as received.
   */
  update(message: { event: WireEvent | null; raw: string }, view: SessionView): void;
  /** Shows a message about the connection, for example that it was lost. */
  notice(text: string): void;
  /**
   * Shows further lines below the state of the turn until the display ends. Returns the function
   * that draws them again. Omitted if the display draws nothing in place.
   */
  showBelow?(lines: (width: number) => Line[]): () => void;
  /** Ends the display and keeps its last state on the screen. May be called more than once. */
  close(): void;
};

/**
 * Describes an event in one line, with the time since the turn began. Returns `null` for an event
 * that only changes figures.
 */
export function eventLine(event: WireEvent, turn: TurnView): Line | null {
  const sentence = describeEvent(event, turn);
  if (!sentence) return null;
  const { agent, text, tone } = sentence;
  const time = segment(`${formatDuration(event.at - turn.startedAt)}  `, "dim");
  if (agent === null) return [time, segment(toLine(text), tone)];
  const gap = text.startsWith(" ") ? " " : "";
  return [time, segment(`${toLine(agent)}${gap}`, "bold"), segment(toLine(text), tone)];
}

/** Columns and rows of the screen, and the current time in Unix milliseconds. */
export type Frame = { width: number; height: number; now: number };

/** Most columns of an agent's name, with all columns and with few columns. */
const MAX_NAME = 24;
const SHORT_NAME = 12;
/** Columns between two cells. */
const GAP = 2;

/** The state of a turn: one line about the team, one for each agent, at most `height` lines. */
export function turnLines(turn: TurnView, frame: Frame): Line[] {
  const maxAgentLines = Math.max(1, frame.height - 1);
  const hiddenCount =
    turn.agents.length > maxAgentLines ? turn.agents.length - (maxAgentLines - 1) : 0;
  const shownAgents = turn.agents.slice(0, turn.agents.length - hiddenCount);
  const { rows, widths } = columnsOf(shownAgents, frame.width);
  const lines = shownAgents.map((agent, index) =>
    agentLine(agent, pad(rows[index] ?? [], widths), frame),
  );
  const more: Line[] = hiddenCount > 0 ? [[segment(`and ${hiddenCount} more agents`, "dim")]] : [];
  return [teamLine(turn, frame), ...lines, ...more];
}

/**
 * The state of the team. If the line is too long, its first parts are removed. The cost is the last
 * part and always remains.
 */
function teamLine(turn: TurnView, { now, width }: Frame): Line {
  const attempt = turn.attempts.at(-1);
  const state = turn.status === "running" ? turn.phase : turn.status;
  const parts = [
    ...(attempt && attempt.number > 1 ? [`attempt ${attempt.number}`] : []),
    formatDuration((turn.endedAt ?? now) - turn.startedAt),
    ...(turn.kind === "compact"
      ? []
      : [plural(attempt?.answers.length ?? 0, "answer"), plural(countValid(attempt), "vote")]),
    formatUsed({ reported: totalTokens(turn.usage), reserved: turn.reservedTokens }, "tokens"),
    turn.isCostWhole ? costWords(turn) : `cost ${costWords(turn)}`,
  ];
  while (parts.length > 1 && widthOf(`${state}  ${parts.join(" · ")}`) > width) parts.shift();
  return [segment(state, "bold"), segment(`  ${parts.join(" · ")}`, "dim")];
}

const countValid = (attempt: AttemptView | undefined): number =>
  attempt?.votes.filter(({ valid }) => valid).length ?? 0;

/**
 * The parts that agents' lines omit or shorten if the lines are too long, in this order. The cost
 * is in the last column, which the terminal would cut off, so the other columns are shortened.
 */
const SHORTENINGS = [
  "files left out",
  "label",
  "name",
  "answers",
  "round",
  "rest of cost",
  "vote",
  "tokens",
  "figures",
] as const;
type Shortening = (typeof SHORTENINGS)[number];

/** The longest cells that fit into `width`, with their columns' widths. */
function columnsOf(
  agents: readonly AgentView[],
  width: number,
): { rows: string[][]; widths: number[] } {
  for (let count = 0; ; count += 1) {
    const applied = new Set(SHORTENINGS.slice(0, count));
    const rows = agents.map((agent) => cellsOf(agent, applied));
    const widths = (rows[0] ?? []).map((_, column) =>
      Math.max(...rows.map((row) => widthOf(row[column] ?? ""))),
    );
    const total = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1));
    if (total <= width || count === SHORTENINGS.length) return { rows, widths };
  }
}

/**
 * An agent's cells: name, status, round, answers, vote, tokens and cost. On a very narrow terminal:
 * name, status, vote and cost.
 */
function cellsOf(agent: AgentView, shortenings: ReadonlySet<Shortening>): string[] {
  const round = shortenings.has("round") ? `r${agent.round}` : `round ${agent.round}`;
  const answers = shortenings.has("answers")
    ? `${agent.answers} ans`
    : plural(agent.answers, "answer");
  return [
    fitStart(toLine(agent.id), shortenings.has("name") ? SHORT_NAME : MAX_NAME),
    agent.status,
    ...(shortenings.has("figures")
      ? []
      : [round, `${answers}${answerDetails(agent, shortenings)}`]),
    voteCell(agent.vote, shortenings),
    ...(shortenings.has("figures") ? [] : [tokensCell(agent, shortenings)]),
    shortenings.has("rest of cost") && !agent.isCostWhole ? "unknown" : costWords(agent),
  ];
}

/** Returns `→ agent1.2`, or `→ 1.2` if there are few columns. */
function voteCell(vote: AgentView["vote"], shortenings: ReadonlySet<Shortening>): string {
  if (!shortenings.has("vote")) return vote ? `→ ${vote.label}` : "no vote";
  return vote ? `→ ${vote.label.replace(/^agent/, "")}` : "";
}

/** Returns `120 tok + 40 reserved`, or `120+40 tok` if there are few columns. */
const tokensCell = (
  { reportedTokens: reported, reservedTokens: reserved }: AgentView,
  shortenings: ReadonlySet<Shortening>,
): string =>
  shortenings.has("tokens")
    ? `${formatTokens(reported)}${reserved > 0 ? `+${formatTokens(reserved)}` : ""} tok`
    : formatUsed({ reported, reserved }, "tok");

function answerDetails(
  { latestLabel, leftOut = 0 }: AgentView,
  shortenings: ReadonlySet<Shortening>,
): string {
  if (latestLabel === null || shortenings.has("label")) return "";
  return leftOut > 0 && !shortenings.has("files left out")
    ? ` (${latestLabel}, ${plural(leftOut, "file")} left out)`
    : ` (${latestLabel})`;
}

const pad = (row: string[], widths: number[]): string[] =>
  row.map((cell, column) => padTo(cell, widths[column] ?? 0));

function agentLine(
  agent: AgentView,
  [name = "", status = "", ...rest]: string[],
  { width, now }: Frame,
): Line {
  const head = [
    segment(`${name}  `, "bold"),
    segment(status, statusTone(agent.status)),
    segment(`  ${rest.join("  ")}`),
  ];
  const usedColumns = head.reduce((sum, { text }) => sum + widthOf(text), 0) + 2;
  const activity = activityText(agent, width - usedColumns, now);
  return activity === "" ? head : [...head, segment(`  ${activity}`, "dim")];
}

/** Describes the agent's activity, cut to `width` columns. */
function activityText(agent: AgentView, width: number, now: number): string {
  const activity = width < 8 ? null : activityOf(agent, now);
  if (!activity) return "";
  return activity.matters === "end"
    ? fitEnd(toLine(activity.text), width)
    : fitStart(toLine(activity.text), width);
}
