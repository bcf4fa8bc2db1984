import { costWords, tokenWords } from "../../src/describe/figures";
import { winnerVotes } from "../../src/describe/votes";
import { failureReasons, warningsOf } from "../../src/describe/warnings";
import { formatUsd } from "../../src/protocol/cost";
import { type AttemptView, citationsOf, tallyOf, type TurnView } from "../../src/protocol/view";
import { type Line, segment } from "../terminal/output";
import { sanitize, toLine } from "../terminal/sanitize";

/**
 * The summary of a turn that has ended: votes with reasons, winner, tokens, cost and the session's
 * address.
 */
export function summaryLines(turn: TurnView, url: string): Line[] {
  const attempt = turn.attempts.at(-1);
  return [
    ...(attempt ? voteLines(attempt) : []),
    ...failureLines(turn),
    ...warningLines(turn),
    ...(turn.winner === null || turn.failure
      ? []
      : [
          turn.status === "cancelled"
            ? leadingLine(turn, attempt)
            : fact(turn.kind === "compact" ? "author" : "winner", winnerText(turn, attempt)),
        ]),
    fact("tokens", tokenWords(turn.usage, turn.reservedTokens)),
    fact("cost", costText(turn)),
    fact("run", url),
  ];
}

/** The text for stdout: the final answer, or "" if the turn has no final answer. */
export const finalText = (turn: TurnView): string => sanitize(turn.final?.text ?? "").trimEnd();

const MAX_SOURCES = 10;

/** The first sources of the final answer. */
export function sourceLines(turn: TurnView): Line[] {
  const sources = citationsOf(turn);
  if (sources.length === 0) return [];
  const lines = sources.slice(0, MAX_SOURCES).map(({ url, title }, index) => {
    const name = toLine(title);
    return [
      segment(`${index + 1}.`.padStart(4), "dim"),
      segment(` ${name === "" ? "" : `${name}  `}${toLine(url)}`),
    ];
  });
  const more = sources.length - lines.length;
  return [
    [segment("Sources", "bold")],
    ...lines,
    ...(more > 0 ? [[segment(`    and ${more} more`, "dim")]] : []),
  ];
}

/** The partial answer of a cancelled turn; "" if there is no text. */
export const partialText = ({ partial }: TurnView): string =>
  sanitize(partial?.text ?? partial?.answer ?? "").trimEnd();

const fact = (name: string, text: string): Line => [segment(name.padEnd(8), "dim"), segment(text)];

function voteLines(attempt: AttemptView): Line[] {
  const counted = attempt.votes.filter(({ valid }) => valid);
  return counted.map(({ voter, label, reason }) => [
    segment("vote".padEnd(8), "dim"),
    segment(toLine(voter), "bold"),
    segment(` → ${label}: ${toLine(reason)}`),
  ]);
}

/**
 * The cost of the turn. An interrupted call reports no cost, so it is charged its reservation: its
 * highest possible cost. The real cost may be far lower.
 */
function costText(turn: TurnView): string {
  const { costUsd, unreportedUsd, isCostWhole } = turn;
  if (unreportedUsd === 0 || !isCostWhole) return costWords(turn);
  return `${formatUsd(Math.max(0, costUsd - unreportedUsd))} reported, ${formatUsd(costUsd)} at most: calls that were cut off report nothing`;
}

/** The answer that led when the turn was cancelled. */
function leadingLine(turn: TurnView, attempt: AttemptView | undefined): Line {
  const label = attempt?.settlement?.label;
  const words = `${toLine(turn.winner ?? "")}${label ? ` (${label})` : ""}`;
  const votes = attempt && label ? voteFacts(turn, attempt) : [];
  return [segment("leading when cancelled: ", "dim"), segment([words, ...votes].join(", "))];
}

function winnerText(turn: TurnView, attempt: AttemptView | undefined): string {
  const name = toLine(turn.winner ?? "");
  const label = attempt?.settlement?.label;
  if (!attempt || !label) return name;
  return [`${name} with ${label}`, ...voteFacts(turn, attempt)].join(", ");
}

/**
 * The votes for the winning answer; if agents disagree, also the number of votes for each answer.
 */
function voteFacts(turn: TurnView, attempt: AttemptView): string[] {
  const words = winnerVotes(turn);
  const counts = Object.entries(tallyOf(attempt)).map(([label, count]) => `${label}: ${count}`);
  return words === null ? [] : [`${words}${counts.length > 1 ? ` (${counts.join(", ")})` : ""}`];
}

/** The warnings about a result, one line each. */
export const warningLines = (turn: TurnView): Line[] =>
  warningsOf(turn).map((text) => [segment("warning  ", "bad"), segment(toLine(text))]);

/** Why a turn has no final answer; empty if it has one. */
export function failureLines(turn: TurnView): Line[] {
  if (turn.status === "cancelled") return [[segment("cancelled", "bad")]];
  if (!turn.failure) return [];
  const reasons = failureReasons(turn).map(({ agent, reason }) =>
    fact(" ", toLine(`${agent}: ${reason}`)),
  );
  return [[segment("failed".padEnd(8), "bad"), segment(toLine(turn.failure.message))], ...reasons];
}
