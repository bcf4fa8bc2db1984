import type { WireEvent } from "../src/protocol/events";
import type { AgentView, AttemptView, SessionView, TurnView } from "../src/protocol/view";
import { totalTokens } from "../src/protocol/usage";
import { formatCost, formatDuration, formatProgress, formatTokens, formatUsed, plural } from "./format";
import { doesUse } from "./hosted-words";
import { type Line, segment, type Tone } from "./paint";
import { toLine } from "./sanitize";
import { fitEnd, fitStart, padTo, widthOf } from "./text-width";

/** Where a watched turn shows. Never throws, never waits. */
export type TurnDisplay = {
  /** After each event. `event` is null for one that this program does not know; `raw` is its JSON as received. */
  update(message: { event: WireEvent | null; raw: string }, view: SessionView): void;
  /** Something about the watching itself, like a lost connection. */
  notice(text: string): void;
  /** Leaves on the screen what is there. Called more than once; what comes later may be left out. */
  close(): void;
};

export type Frame = { width: number; height: number; now: number };

const TONES: Record<AgentView["status"], Tone> = {
  waiting: "dim",
  streaming: "busy",
  answered: "good",
  voted: "good",
  restarting: "busy",
  error: "bad",
  timeout: "bad",
  completed: "good",
};
const MAX_NAME = 24;
const SHORT_NAME = 12;
/** Columns between two cells. */
const GAP = 2;
/** Enough of the newest text to fill any line. */
const GLIMPSE = 600;

/** The state of a turn: one line about the team, one for each agent, at most `height` lines. */
export function turnLines(turn: TurnView, frame: Frame): Line[] {
  const room = Math.max(1, frame.height - 1);
  const hidden = turn.agents.length > room ? turn.agents.length - (room - 1) : 0;
  const shown = turn.agents.slice(0, turn.agents.length - hidden);
  const { rows, widths } = columnsOf(shown, frame.width);
  const lines = shown.map((agent, index) => agentLine(agent, pad(rows[index] ?? [], widths), frame));
  const more: Line[] = hidden > 0 ? [[segment(`and ${hidden} more agents`, "dim")]] : [];
  return [teamLine(turn, frame), ...lines, ...more];
}

/** The state of the team. A line that is too long loses its parts from the front; the cost, the last part, always remains. */
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

const countValid = (attempt: AttemptView | undefined): number => attempt?.votes.filter(({ valid }) => valid).length ?? 0;

/** What the agents' lines shorten or leave out where they do not fit, in this order. The cost is last and must not be cut off. */
const SHORTER = ["files left out", "label", "name", "answers", "round", "rest of cost", "vote", "tokens", "figures"] as const;
type Shorter = (typeof SHORTER)[number];

/** The longest cells that fit into `width`, with their columns' widths. */
function columnsOf(agents: readonly AgentView[], width: number): { rows: string[][]; widths: number[] } {
  for (let given = 0; ; given += 1) {
    const without = new Set(SHORTER.slice(0, given));
    const rows = agents.map((agent) => cells(agent, without));
    const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ""))));
    const total = widths.reduce((sum, each) => sum + each, GAP * (widths.length - 1));
    if (total <= width || given === SHORTER.length) return { rows, widths };
  }
}

/** Name, status, round, answers, vote, tokens, cost; on a very narrow terminal name, status, vote, cost. */
function cells(agent: AgentView, without: ReadonlySet<Shorter>): string[] {
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
function voteWords(vote: AgentView["vote"], without: ReadonlySet<Shorter>): string {
  if (!without.has("vote")) return vote ? `→ ${vote.label}` : "no vote";
  return vote ? `→ ${vote.label.replace(/^agent/, "")}` : "";
}

/** `120 tok + 40 reserved`, or `120+40 tok` in few columns. */
const tokensOf = ({ reportedTokens: reported, reservedTokens: reserved }: AgentView, without: ReadonlySet<Shorter>): string =>
  without.has("tokens")
    ? `${formatTokens(reported)}${reserved > 0 ? `+${formatTokens(reserved)}` : ""} tok`
    : formatUsed({ reported, reserved }, "tok");

function answerWords({ latestLabel, leftOut = 0 }: AgentView, without: ReadonlySet<Shorter>): string {
  if (latestLabel === null || without.has("label")) return "";
  return leftOut > 0 && !without.has("files left out")
    ? ` (${latestLabel}, ${plural(leftOut, "file")} left out)`
    : ` (${latestLabel})`;
}

/** What a turn or an agent has cost. */
export const costWords = ({ costUsd, isCostWhole }: Pick<TurnView, "costUsd" | "isCostWhole">): string =>
  formatCost(isCostWhole ? costUsd : null, costUsd);

const pad = (row: string[], widths: number[]): string[] => row.map((cell, column) => padTo(cell, widths[column] ?? 0));

function agentLine(agent: AgentView, [name = "", status = "", ...rest]: string[], { width, now }: Frame): Line {
  const head = [segment(`${name}  `, "bold"), segment(status, TONES[agent.status]), segment(`  ${rest.join("  ")}`)];
  const used = head.reduce((sum, { text }) => sum + widthOf(text), 0) + 2;
  const doing = activity(agent, width - used, now);
  return doing === "" ? head : [...head, segment(`  ${doing}`, "dim")];
}

/** What it is doing now, as far as there is room to say it. */
function activity(agent: AgentView, width: number, now: number): string {
  if (width < 8) return "";
  if (agent.tools.length > 0) return fitStart(`uses ${agent.tools.map(toolAtWork).join(", ")}`, width);
  if (agent.retryAt !== null && agent.lastError) {
    const wait = Math.max(0, Math.ceil((agent.retryAt - now) / 1000));
    return fitStart(`tries again in ${wait} s: ${toLine(agent.lastError.message)}`, width);
  }
  if (agent.out !== null && agent.lastError) return fitStart(toLine(agent.lastError.message), width);
  return agent.status === "streaming" ? fitEnd(glimpse(agent), width) : "";
}

const toolAtWork = ({ name, progress }: AgentView["tools"][number]): string =>
  toLine(progress ? `${name} (${formatProgress(progress)})` : name);

/** The end of what it is writing. */
function glimpse({ stream }: AgentView): string {
  if (!stream?.latest) return "thinks";
  const text = stream[stream.latest].text.slice(-GLIMPSE);
  if (stream.latest === "hosted_tool") return doesUse(stream.tool, text);
  return toLine(stream.latest === "tool_arguments" ? text.replace(/\\[nrt]/g, " ").replace(/\\(["\\/])/g, "$1") : text);
}
