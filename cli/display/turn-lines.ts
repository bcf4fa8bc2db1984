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
   * After each event. `event` is `null` if this program does not know the event; `raw` is its JSON
   * as received.
   */
  update(message: { event: WireEvent | null; raw: string }, view: SessionView): void;
  /** Shows a message about the connection, for example that it was lost. */
  notice(text: string): void;
  /** Ends the display and keeps its last state on the screen. May be called more than once. */
  close(): void;
};

/**
 * An event as one line, with the time since the turn began; `null` for an event that only changes
 * figures.
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

export type Frame = { width: number; height: number; now: number };

const MAX_NAME = 24;
const SHORT_NAME = 12;
/** Columns between two cells. */
const GAP = 2;

/** The state of a turn: one line about the team, one for each agent, at most `height` lines. */
export function turnLines(turn: TurnView, frame: Frame): Line[] {
  const room = Math.max(1, frame.height - 1);
  const hidden = turn.agents.length > room ? turn.agents.length - (room - 1) : 0;
  const shown = turn.agents.slice(0, turn.agents.length - hidden);
  const { rows, widths } = columnsOf(shown, frame.width);
  const lines = shown.map((agent, index) =>
    agentLine(agent, pad(rows[index] ?? [], widths), frame),
  );
  const more: Line[] = hidden > 0 ? [[segment(`and ${hidden} more agents`, "dim")]] : [];
  return [teamLine(turn, frame), ...lines, ...more];
}

/**
 * The state of the team. A line that is too long loses its parts from the front; the cost, the last
 * part, always remains.
 */
function teamLine(turn: TurnView, { now, width }: Frame): Line {
  const attempt = turn.attempts.at(-1);
  const state = turn.status === "running" ? turn.phase : turn.status;
  const parts = [
    ...(attempt && attempt.number > 1 ? [`attempt ${attempt.number}`] : []),
    formatDuration((turn.endedAt ?? now) - turn.startedAt),
    plural(attempt?.answers.length ?? 0, "answer"),
    plural(countValid(attempt), "vote"),
    formatUsed({ reported: totalTokens(turn.usage), reserved: turn.reservedTokens }, "tokens"),
    costWords(turn),
  ];
  while (parts.length > 1 && widthOf(`${state}  ${parts.join(" · ")}`) > width) parts.shift();
  return [segment(state, "bold"), segment(`  ${parts.join(" · ")}`, "dim")];
}

const countValid = (attempt: AttemptView | undefined): number =>
  attempt?.votes.filter(({ valid }) => valid).length ?? 0;

/**
 * What agents' lines omit or shorten if they are too long, in this order. The cost is last and must
 * not be cut off.
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
  for (let given = 0; ; given += 1) {
    const without = new Set(SHORTENINGS.slice(0, given));
    const rows = agents.map((agent) => cells(agent, without));
    const widths = (rows[0] ?? []).map((_, column) =>
      Math.max(...rows.map((row) => widthOf(row[column] ?? ""))),
    );
    const total = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1));
    if (total <= width || given === SHORTENINGS.length) return { rows, widths };
  }
}

/**
 * Name, status, round, answers, vote, tokens, cost; on a very narrow terminal name, status, vote,
 * cost.
 */
function cells(agent: AgentView, without: ReadonlySet<Shortening>): string[] {
  const round = without.has("round") ? `r${agent.round}` : `round ${agent.round}`;
  const answers = without.has("answers") ? `${agent.answers} ans` : plural(agent.answers, "answer");
  return [
    fitStart(toLine(agent.id), without.has("name") ? SHORT_NAME : MAX_NAME),
    agent.status,
    ...(without.has("figures") ? [] : [round, `${answers}${answerWords(agent, without)}`]),
    voteWords(agent.vote, without),
    ...(without.has("figures") ? [] : [tokensOf(agent, without)]),
    without.has("rest of cost") && !agent.isCostWhole ? "unknown" : costWords(agent),
  ];
}

/** `→ agent1.2`, or `→ 1.2` in few columns. */
function voteWords(vote: AgentView["vote"], without: ReadonlySet<Shortening>): string {
  if (!without.has("vote")) return vote ? `→ ${vote.label}` : "no vote";
  return vote ? `→ ${vote.label.replace(/^agent/, "")}` : "";
}

/** `120 tok + 40 reserved`, or `120+40 tok` in few columns. */
const tokensOf = (
  { reportedTokens: reported, reservedTokens: reserved }: AgentView,
  without: ReadonlySet<Shortening>,
): string =>
  without.has("tokens")
    ? `${formatTokens(reported)}${reserved > 0 ? `+${formatTokens(reserved)}` : ""} tok`
    : formatUsed({ reported, reserved }, "tok");

function answerWords(
  { latestLabel, leftOut = 0 }: AgentView,
  without: ReadonlySet<Shortening>,
): string {
  if (latestLabel === null || without.has("label")) return "";
  return leftOut > 0 && !without.has("files left out")
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
  const used = head.reduce((sum, { text }) => sum + widthOf(text), 0) + 2;
  const doing = activity(agent, width - used, now);
  return doing === "" ? head : [...head, segment(`  ${doing}`, "dim")];
}

/** The agent's activity, as much as fits into `width`. */
function activity(agent: AgentView, width: number, now: number): string {
  const doing = width < 8 ? null : activityOf(agent, now);
  if (!doing) return "";
  return doing.matters === "end"
    ? fitEnd(toLine(doing.text), width)
    : fitStart(toLine(doing.text), width);
}
