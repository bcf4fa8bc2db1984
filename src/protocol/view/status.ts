import type { z } from "zod";
import type {
  AgentStateSchema,
  AnswerSummarySchema,
  AttemptSchema,
  FinishReasonSchema,
  ParticipantSchema,
  SessionStatus,
  TurnResponse,
  TurnSummarySchema,
  VoteSchema,
} from "../api";
import { type Participant, participantsOf, participantsOfTurn } from "./participation";
import { addCosts, type Cost, FREE } from "../cost";
import { addUsage, NO_USAGE, totalTokens } from "../usage";
import {
  type AgentView,
  type AnswerView,
  type AttemptView,
  citationsOf,
  type HistoryView,
  type SessionView,
  type TurnView,
  tallyOf,
  turnOf,
  type VoteView,
} from "./index";
import { voteResult } from "./vote-result";

/** Converts views to API responses. As in MassGen's `status.json`, times are in seconds. */

const FINAL_PREVIEW_CHARS = 200;
const REASON_PREVIEW_CHARS = 100;

/**
 * Data that a status needs beside the view. `now`: Unix time in milliseconds. `queue`: omitted if
 * nothing is queued.
 */
export type StatusMeta = { now: number; queue?: SessionStatus["queue"] };

/** Status of a session, based on its latest turn; `null` before the first turn. */
export function toStatus(view: SessionView, meta: StatusMeta): SessionStatus | null {
  const turn = shownTurn(view);
  if (!turn) return null;
  return {
    meta: toMeta(view, turn, meta),
    coordination: {
      phase: turn.phase,
      attempt: turn.attempts.at(-1)?.number ?? 1,
      active_agent: turn.agents.find(({ status }) => status === "streaming")?.id ?? null,
      completion_percentage: completionPercentage(turn),
      is_final_presentation: turn.phase === "presentation",
    },
    agents: Object.fromEntries(turn.agents.map((agent) => [agent.id, toAgentState(turn, agent)])),
    results: {
      votes: tallyOfTurn(turn),
      vote_result: resultOfTurn(turn),
      winner: turn.winner,
      final_answer_preview: turn.final && preview(turn.final.text, FINAL_PREVIEW_CHARS),
      finish_reason: finishReason(turn),
    },
    turns: view.turns.map(toSummary),
    head: view.head ?? turn.number,
    ...(meta.queue && { queue: meta.queue }),
    usage: view.turns.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    ...toTokens(sumOf(view.turns.map(tokensOfTurn))),
    ...toCost(view.turns.reduce<Cost>((sum, turn) => addCosts(sum, costOfView(turn)), FREE)),
  };
}

/** The latest turn. One that only summarises counts while it runs, because it has no question. */
function shownTurn(view: SessionView): TurnView | undefined {
  const latest = turnOf(view);
  if (latest?.kind !== "compact" || latest.status === "running") return latest;
  return view.turns.findLast(({ kind }) => kind === undefined) ?? latest;
}

/**
 * One turn in full, but without the texts of the answers; `null` if the view has no turn with this
 * number.
 */
export function toTurn(view: SessionView, number: number): TurnResponse | null {
  const turn = turnOf(view, number);
  if (!turn) return null;
  const { question_preview: _, team: __, ...summary } = toSummary(turn);
  const attempts = turn.attempts.map((attempt) => toAttempt(turn, attempt));
  return {
    ...summary,
    session_id: view.sessionId,
    question: turn.question,
    ...(turn.attachments && { attachments: [...turn.attachments] }),
    ...(turn.history?.written && { summary: turn.history.written.text }),
    answer: turn.final?.text ?? null,
    winner: turn.winner,
    label: turn.final?.label ?? null,
    citations: [...citationsOf(turn)],
    agents: participantsOfTurn(turn).map((participant) => ({
      ...toParticipant(participant),
      ...modelOf(turn, participant.agent),
    })),
    hosted_uses: Object.fromEntries(
      turn.agents.map(({ id, hostedUses }) => [id, { ...hostedUses }]),
    ),
    votes: attempts.at(-1)?.votes ?? [],
    attempts,
    error: turn.failure,
    partial: turn.partial,
  };
}

/**
 * Each agent's first answer and vote count half each. A completed turn is at 100, also if agents
 * failed.
 */
function completionPercentage({ status, agents }: TurnView): number {
  if (status === "completed") return 100;
  const done = agents.reduce(
    (sum, { answers, vote }) => sum + (answers > 0 ? 1 : 0) + (vote ? 1 : 0),
    0,
  );
  return agents.length === 0 ? 0 : Math.floor((100 * done) / (2 * agents.length));
}

/** Why the turn ended; `in_progress` while it runs. */
export function finishReason(turn: TurnView): z.infer<typeof FinishReasonSchema> {
  if (turn.status === "failed") return "error";
  return turn.finishReason ?? "in_progress";
}

function toMeta(view: SessionView, turn: TurnView, { now }: StatusMeta): SessionStatus["meta"] {
  return {
    session_id: view.sessionId,
    turn: turn.number,
    question: turn.question,
    start_time: toSeconds(turn.startedAt),
    last_updated: toSeconds(view.updatedAt),
    elapsed_seconds: toSeconds(Math.max(0, (turn.endedAt ?? now) - turn.startedAt)),
    last_sequence: view.lastSequence,
  };
}

function toAgentState(turn: TurnView, agent: AgentView): z.infer<typeof AgentStateSchema> {
  const { vote, lastError, inputRequired } = agent;
  return {
    status: agent.status,
    answer_count: agent.answers,
    latest_answer_label: agent.latestLabel,
    left_out: agent.leftOut ?? 0,
    vote_cast: vote && {
      voted_for_agent: authorOf(turn.attempts.at(-1), vote.label),
      voted_for_label: vote.label,
      reason_preview: preview(vote.reason, REASON_PREVIEW_CHARS),
    },
    times_restarted: agent.restarts,
    last_activity: toSeconds(agent.lastActivityAt),
    error: lastError && {
      type: lastError.code,
      message: lastError.message,
      timestamp: toSeconds(lastError.at),
    },
    input_required: inputRequired && toInputRequired(inputRequired),
    provider: agent.provider,
    model: agent.model,
    round: agent.round,
    stale_votes: agent.staleVotes,
    ...toTokens({ reported: agent.reportedTokens, reserved: agent.reservedTokens }),
    ...toCost(costOfView(agent)),
    hosted_uses: { ...agent.hostedUses },
  };
}

function toInputRequired({ at, ...required }: NonNullable<AgentView["inputRequired"]>) {
  return { ...required, requests: [...required.requests], timestamp: toSeconds(at) };
}

export function toSummary(turn: TurnView): z.infer<typeof TurnSummarySchema> {
  return {
    turn: turn.number,
    parent_turn: turn.parentTurn,
    ...(turn.kind && { kind: turn.kind }),
    status: turn.status,
    ...(turn.history && { history: toHistory(turn.history) }),
    question_preview: questionPreview(turn.question),
    team: turn.agents.map(({ id, provider, model }) => ({ agent: id, provider, model })),
    ...(turn.overrides && { overrides: turn.overrides }),
    started_at: toSeconds(turn.startedAt),
    ended_at: turn.endedAt === null ? null : toSeconds(turn.endedAt),
    finish_reason: finishReason(turn),
    usage: { ...turn.usage },
    ...toTokens(tokensOfTurn(turn)),
    ...toCost(costOfView(turn)),
    unreported_cost_usd: turn.isUnreportedUnpriced ? null : turn.unreportedUsd,
  };
}

/** The start of a question, for lists. */
export const questionPreview = (question: string): string => preview(question, FINAL_PREVIEW_CHARS);

const toHistory = ({
  summary,
  written,
  cut,
}: HistoryView): NonNullable<z.infer<typeof TurnSummarySchema>["history"]> => ({
  summary_through: summary,
  summary_turns: written?.turns.length ?? 0,
  written_by: written?.agent ?? null,
  cut,
});

const toParticipant = ({
  agent,
  status,
  tookPart,
  error,
}: Participant): z.infer<typeof ParticipantSchema> => ({
  agent,
  status,
  took_part: tookPart,
  error,
});

function modelOf(turn: TurnView, id: string): { provider: string; model: string } {
  const agent = turn.agents.find((one) => one.id === id);
  return { provider: agent?.provider ?? "", model: agent?.model ?? "" };
}

function toAttempt(turn: TurnView, attempt: AttemptView): z.infer<typeof AttemptSchema> {
  const { settlement, presentation } = attempt;
  return {
    attempt: attempt.number,
    agents: participantsOf(turn, attempt).map(toParticipant),
    winner: settlement?.winner ?? null,
    label: settlement?.label ?? null,
    tally: tallyOf(attempt),
    tie: settlement?.tie ?? false,
    vote_result: voteResult(attempt, turn.agents.length),
    finish_reason: settlement?.endedBy ?? null,
    answers: attempt.answers.map(toAnswerSummary),
    votes: attempt.votes.map((vote) => toVote(attempt, vote)),
    presentation: presentation && {
      agent: presentation.agent,
      label: presentation.label,
      source: presentation.source,
      fallback: presentation.fallback,
      ...(presentation.changed_files !== undefined && {
        changed_files: presentation.changed_files,
      }),
    },
    restart: attempt.restart,
  };
}

function toVote(
  attempt: AttemptView,
  { voter, label, reason, valid, voidedBy }: VoteView,
): z.infer<typeof VoteSchema> {
  return {
    agent: voter,
    label,
    voted_for_agent: authorOf(attempt, label),
    reason,
    valid,
    voided_by: voidedBy,
  };
}

function toAnswerSummary({
  agent,
  label,
  revision,
  origin,
  files,
  left_out,
}: AnswerView): z.infer<typeof AnswerSummarySchema> {
  return { agent, label, revision, origin, ...(files && { files }), ...(left_out && { left_out }) };
}

const authorOf = (attempt: AttemptView | undefined, label: string): string =>
  attempt?.answers.find((answer) => answer.label === label)?.agent ?? "";

function tallyOfTurn(turn: TurnView): Record<string, number> {
  const attempt = turn.attempts.at(-1);
  return attempt ? tallyOf(attempt) : {};
}

function resultOfTurn(turn: TurnView): ReturnType<typeof voteResult> {
  const attempt = turn.attempts.at(-1);
  return attempt ? voteResult(attempt, turn.agents.length) : null;
}

type Tokens = { reported: number; reserved: number };

const tokensOfTurn = ({ usage, reservedTokens }: TurnView): Tokens => ({
  reported: totalTokens(usage),
  reserved: reservedTokens,
});

const sumOf = (turns: readonly Tokens[]): Tokens =>
  turns.reduce(
    (a, b) => ({ reported: a.reported + b.reported, reserved: a.reserved + b.reserved }),
    {
      reported: 0,
      reserved: 0,
    },
  );

const toTokens = ({ reported, reserved }: Tokens) => ({
  tokens: reported + reserved,
  reported_tokens: reported,
  reserved_tokens: reserved,
});

const costOfView = ({ costUsd, isCostWhole }: Pick<TurnView, "costUsd" | "isCostWhole">): Cost => ({
  usd: costUsd,
  isComplete: isCostWhole,
});

const toCost = ({ usd, isComplete }: Cost) => ({
  cost_usd: isComplete ? usd : null,
  cost_usd_known: usd,
});

/** The start of a text: at most `chars` UTF-16 code units. Does not cut a surrogate pair. */
const preview = (text: string, chars: number): string => {
  if (text.length <= chars) return text;
  const kept = text.slice(0, chars - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
};

const toSeconds = (ms: number): number => ms / 1000;
