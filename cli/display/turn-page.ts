import { formatCost, plural, tokenWords } from "../../src/describe/figures";
import { voteWords } from "../../src/describe/votes";
import {
  fallbackWarnings,
  leftOutWarnings,
  participationWarnings,
} from "../../src/describe/warnings";
import type { SessionFacts, TurnFacts } from "../service/schema";
import { type Line, segment } from "../terminal/output";
import { sanitize, toLine } from "../terminal/sanitize";
import { overrideWords } from "./override-words";

/** Turns and sessions as lines for people. */

const fact = (name: string, text: string): Line => [segment(name.padEnd(9), "dim"), segment(text)];
const paragraphs = (text: string): Line[] =>
  sanitize(text)
    .trimEnd()
    .split("\n")
    .map((line) => [segment(line)]);

/** One turn: its question, answer, votes and cost. */
export function turnLinesOf(turn: TurnFacts): Line[] {
  const text = turn.answer ?? turn.partial?.text ?? turn.partial?.answer ?? null;
  return [
    [segment(`Turn ${turn.turn}: ${toLine(turn.status)}`, "bold")],
    ...(turn.question === "" ? [] : [...paragraphs(turn.question), []]),
    ...(text === null
      ? []
      : [
          [segment(turn.answer === null ? "Partial answer" : "Answer", "bold")],
          ...paragraphs(text),
          [],
        ]),
    ...summaryLines(turn),
    ...historyLines(turn),
    ...failureLines(turn),
    ...sourceLines(turn),
    ...turn.votes
      .filter(({ valid }) => valid)
      .map(({ agent, label, reason }) =>
        fact("vote", `${toLine(agent)} → ${toLine(label)}: ${toLine(reason)}`),
      ),
    ...warningsOf(turn).map((text) => [segment("warning  ", "bad"), segment(toLine(text))]),
    ...(turn.winner === null || turn.error ? [] : [winnerLine(turn)]),
    ...answerLines(turn),
    ...teamLines(turn),
    fact("tokens", tokenWords(turn.usage, turn.reserved_tokens)),
    fact("cost", formatCost(turn.cost_usd, turn.cost_usd_known)),
  ];
}

/**
 * The agent and label of the winning answer, or of the leading answer of a cancelled turn. The
 * shown label is the one that agents voted for. The presentation has another label.
 */
function winnerLine({ winner, label, status, attempts }: TurnFacts): Line {
  const attempt = attempts.at(-1);
  const name = toLine(winner ?? "");
  const answer = toLine(attempt?.label ?? label ?? "");
  const isCancelled = status === "cancelled";
  const endedBy = isCancelled ? null : (attempt?.finish_reason ?? null);
  const votes = attempt?.vote_result
    ? `, ${toLine(voteWords(attempt.vote_result, { winner, endedBy, tie: attempt.tie }))}`
    : "";
  return isCancelled
    ? [
        segment("leading when cancelled: ", "dim"),
        segment(`${name}${answer ? ` (${answer})` : ""}${votes}`),
      ]
    : fact("winner", `${name}${answer ? ` with ${answer}` : ""}${votes}`);
}

function warningsOf({ agents, attempts, status }: TurnFacts): string[] {
  const participants = agents.map(({ agent, took_part, error }) => ({
    agent,
    tookPart: took_part,
    error: error ?? null,
  }));
  const attempt = attempts.at(-1);
  return [
    ...participationWarnings(participants, status),
    ...fallbackWarnings(attempt?.presentation),
    ...leftOutWarnings(attempt?.answers ?? []),
  ];
}

/**
 * The summary that the turn wrote before its answer. In a turn of kind `compact` it is the answer.
 */
function summaryLines({ summary, answer, history }: TurnFacts): Line[] {
  const through = history?.summary_through;
  if (!summary || !through || summary === answer) return [];
  const title = `Summary of the turns up to ${through}`;
  return [[segment(title, "bold")], ...paragraphs(summary), []];
}

/** What the agents read of earlier turns, if that is not all of their text. */
function historyLines({ history }: TurnFacts): Line[] {
  if (!history) return [];
  const { summary_through: through, written_by: author, cut } = history;
  const by = author ? `, written by ${toLine(author)} in this turn` : "";
  return [
    ...(through ? [fact("earlier", `turns up to ${through} as a summary${by}`)] : []),
    ...(cut ? [fact("earlier", `the oldest texts are cut: ${toLine(cut.message)}`)] : []),
  ];
}

function failureLines({ error }: TurnFacts): Line[] {
  if (!error) return [];
  const reasons = error.agents.map(({ agent, message }) =>
    fact("", `${toLine(agent)}: ${toLine(message)}`),
  );
  return [[segment("failed".padEnd(9), "bad"), segment(toLine(error.message))], ...reasons];
}

function sourceLines({ citations }: TurnFacts): Line[] {
  return citations.map(({ url, title }) =>
    fact("source", `${toLine(title) === "" ? "" : `${toLine(title)}  `}${toLine(url)}`),
  );
}

function answerLines({ attempts }: TurnFacts): Line[] {
  const labels = attempts.at(-1)?.answers.map(({ label }) => toLine(label)) ?? [];
  return labels.length === 0
    ? []
    : [fact("answers", `${labels.join(", ")} (--answer <label> shows one)`)];
}

/** How the turn changed its team; no line if it did not. */
function teamLines({ overrides = {} }: TurnFacts): Line[] {
  const words = overrideWords(overrides);
  return words === "" ? [] : [fact("team", toLine(words))];
}

/** The current state of a session: latest turn, agents, cost. */
export function sessionLinesOf(session: SessionFacts): Line[] {
  const { coordination, agents, turns, cost_usd, cost_usd_known } = session;
  const latest = turns.at(-1);
  const phase =
    coordination && latest?.status === "running"
      ? `, ${toLine(coordination.phase)}, ${coordination.completion_percentage} %`
      : "";
  return [
    fact("turn", latest ? `${latest.turn}: ${toLine(latest.status)}${phase}` : "none yet"),
    ...Object.entries(agents).map(([id, agent]) =>
      fact("agent", `${toLine(id)} ${agentWords(agent)}`),
    ),
    fact("cost", formatCost(cost_usd, cost_usd_known)),
  ];
}

function agentWords({
  status,
  latest_answer_label,
  left_out,
  vote_cast,
  error,
}: SessionFacts["agents"][string]): string {
  const parts = [
    toLine(status),
    latest_answer_label ? toLine(latest_answer_label) : "no answer",
    ...(left_out > 0 ? [`${plural(left_out, "file")} left out`] : []),
    ...(vote_cast ? [`→ ${toLine(vote_cast.voted_for_label)}`] : []),
    ...(error ? [toLine(error.message)] : []),
  ];
  return parts.join("  ");
}
