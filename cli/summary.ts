import { type AttemptView, citationsOf, tallyOf, type TurnView } from "../src/protocol/view";
import { totalTokens } from "../src/protocol/usage";
import { formatTokens, formatUsd } from "./format";
import { type Line, segment } from "./paint";
import { sanitize, toLine } from "./sanitize";

/** What is said about a turn that has ended: votes with their reasons, winner, tokens, cost, where to read on. */
export function summaryLines(turn: TurnView, url: string): Line[] {
  const attempt = turn.attempts.at(-1);
  return [
    ...(attempt ? voteLines(attempt) : []),
    ...failureLines(turn),
    ...(turn.winner === null || turn.failure
      ? []
      : [fact(turn.status === "cancelled" ? "ahead" : "winner", winner(turn, attempt))]),
    fact(
      "tokens",
      `${formatTokens(totalTokens(turn.usage))} (in ${formatTokens(turn.usage.input_tokens)}, out ${formatTokens(turn.usage.output_tokens)})`,
    ),
    fact("cost", cost(turn)),
    fact("run", url),
  ];
}

/** The text that belongs on stdout: the final answer, or "" where there is none. */
export const finalText = (turn: TurnView): string => sanitize(turn.final?.text ?? "").trimEnd();

const MOST_SOURCES = 10;

/** The sources of the final answer, the first few of them. */
export function sourceLines(turn: TurnView): Line[] {
  const sources = citationsOf(turn);
  if (sources.length === 0) return [];
  const lines = sources.slice(0, MOST_SOURCES).map(({ url, title }, index) => {
    const name = toLine(title);
    return [segment(`${index + 1}.`.padStart(4), "dim"), segment(` ${name === "" ? "" : `${name}  `}${toLine(url)}`)];
  });
  const more = sources.length - lines.length;
  return [[segment("Sources", "bold")], ...lines, ...(more > 0 ? [[segment(`    and ${more} more`, "dim")]] : [])];
}

/** What a cancelled turn leaves, or "". */
export const partialText = ({ partial }: TurnView): string => sanitize(partial?.text ?? partial?.answer ?? "").trimEnd();

const fact = (name: string, text: string): Line => [segment(name.padEnd(8), "dim"), segment(text)];

function voteLines(attempt: AttemptView): Line[] {
  const counted = attempt.votes.filter(({ valid }) => valid);
  return counted.map(({ voter, label, reason }) => [
    segment("vote".padEnd(8), "dim"),
    segment(toLine(voter), "bold"),
    segment(` → ${label}: ${toLine(reason)}`),
  ]);
}

/** A call that was cut off is charged what it had reserved: the most it can have cost, which may be far more than it did. */
function cost({ costUsd, unreportedUsd }: TurnView): string {
  if (unreportedUsd === 0) return formatUsd(costUsd);
  return `${formatUsd(Math.max(0, costUsd - unreportedUsd))} reported, ${formatUsd(costUsd)} at most: calls that were cut off report nothing`;
}

function winner(turn: TurnView, attempt: AttemptView | undefined): string {
  const name = toLine(turn.winner ?? "");
  const label = attempt?.settlement?.label;
  if (!attempt || !label) return name;
  const tally = Object.entries(tallyOf(attempt)).map(([voted, count]) => `${voted}: ${count}`);
  const counts = tally.length > 0 ? `, votes ${tally.join(", ")}` : "";
  const by = turn.status === "cancelled" ? "" : `, by ${attempt.settlement?.endedBy ?? "consensus"}`;
  return `${name} with ${label}${by}${counts}`;
}

/** Why a turn has no final answer; none where it has. */
export function failureLines({ failure, status, agents }: TurnView): Line[] {
  if (status === "cancelled") return [[segment("cancelled", "bad")]];
  if (!failure) return [];
  const views = new Map(agents.map((view) => [view.id, view]));
  const reasons = failure.agents.map(({ agent, code, message }) => {
    const callError = views.get(agent)?.callError ?? null;
    const before = callError === null || callError.code === code ? "" : ` Its last call failed: ${toLine(callError.message)}`;
    return fact(" ", `${toLine(agent)}: ${toLine(message)}${before}`);
  });
  return [[segment("failed".padEnd(8), "bad"), segment(toLine(failure.message))], ...reasons];
}
