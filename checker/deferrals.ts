import type { EventOf } from "../src/protocol/events";
import { agentOf, type Board, type BoardAgent, newestAnswers } from "./board";
import { type Amount, maxCost, plus, usdOf } from "./price";
import { type Invariant, unless } from "./types";

/** A call must not be deferred if the turn can pay for a reply of this many tokens. */
const USEFUL_REPLY_TOKENS = 1_024;

/**
 * Upper bounds in tokens: of a presentation's input without question, answers and reasons, and of
 * the reserve for its final text.
 */
const FRAME_TOKENS = 8_000;
const MAX_FINAL_TOKENS = 4_096;

/** Lower bound of the reserve for a presentation's final text, in tokens. */
const MIN_FINAL_TOKENS = 2_048;
/** Tolerance for sums of dollars. */
const EPSILON = 1e-9;

/**
 * A call is deferred only if its turn has a cap, and the rest of the cap, without the reserve for
 * the presentation, cannot pay for the call. Coordination calls never use this reserve.
 */
export const deferrals: Invariant = {
  id: "deferrals",
  watch: () => ({
    see: ({ event, board }) => {
      if (event.type === "call.started")
        return unless(
          leavesEnough(event, board),
          `${event.call} leaves nothing for a presentation`,
        );
      if (event.type !== "call.deferred") return [];
      const agent = agentOf(board, event.agent);
      return unless(
        agent === undefined || !canPay(board, agent, event.input_tokens),
        whyNot(event.call, board),
      );
    },
  }),
};

/** Whether each candidate could still present: receive the answers and write a final text. */
function leavesEnough({ purpose, reserved }: EventOf<"call.started">, board: Board): boolean {
  const answers = newestAnswers(board);
  if (purpose !== "coordination" || answers.length === 0 || !isCapped(board)) return true;
  const { max_tokens = Number.POSITIVE_INFINITY, max_cost_usd = Number.POSITIVE_INFINITY } =
    board.turn?.budget ?? {};
  const committed = plus(spentOrReserved(board), { tokens: reserved.tokens, usd: usdOf(reserved) });
  const input = presentedBytes(board);
  return answers.every(({ agent }) => {
    const rules = agentOf(board, agent)?.rules;
    const output = Math.min(MIN_FINAL_TOKENS, rules?.max_output_tokens ?? 0);
    const usd = rules ? maxCost(rules, input, output) : 0;
    return (
      committed.tokens + input + output <= max_tokens &&
      committed.usd + usd <= max_cost_usd + EPSILON
    );
  });
}

/** Charges of the turn's ended calls, plus reservations of its running calls. */
function spentOrReserved({ spent, openCalls }: Board): Amount {
  let total = spent;
  for (const { reserved } of openCalls.values())
    total = plus(total, { tokens: reserved.tokens, usd: usdOf(reserved) });
  return total;
}

/** UTF-8 bytes of the question and the newest answers. Their tokens cannot be more. */
const presentedBytes = (board: Board): number =>
  [board.turn?.question ?? "", ...newestAnswers(board).map(({ content }) => content)].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  );

const whyNot = (call: string, board: Board): string =>
  `${call} was deferred although the turn ${isCapped(board) ? "can pay for it" : "has no cap"}`;

/** Whether the turn has a cap. */
export const isCapped = ({ turn }: Board): boolean =>
  turn?.budget.max_tokens !== undefined || turn?.budget.max_cost_usd !== undefined;

/**
 * Whether the turn can certainly pay for the agent's next call with this input. The result may be
 * false although the turn can pay, because the exact reserve is not logged.
 */
export function canPay(board: Board, { rules, round }: BoardAgent, inputTokens: number): boolean {
  const { max_tokens = Number.POSITIVE_INFINITY, max_cost_usd } = board.turn?.budget ?? {};
  if (max_cost_usd !== undefined && rules.price === null) return false;
  const output = Math.min(USEFUL_REPLY_TOKENS, rules.max_output_tokens);
  let total = plus(spentOrReserved(board), {
    tokens: inputTokens + output,
    usd: maxCost(rules, inputTokens, output),
  });
  if (round?.purpose === "coordination" || round?.purpose === "personas")
    total = plus(total, presentationReserve(board));
  // A summary may use at most half of what is left, unless it is the turn's only work.
  if (round?.purpose === "summary" && board.turn?.kind !== "compact") {
    const used = spentOrReserved(board);
    total = plus(total, { tokens: total.tokens - used.tokens, usd: total.usd - used.usd });
  }
  return total.tokens <= max_tokens && total.usd <= (max_cost_usd ?? Number.POSITIVE_INFINITY);
}

/**
 * Upper bound of the most expensive candidate's presentation; 0 while there are no answers.
 */
function presentationReserve(board: Board): Amount {
  const answers = newestAnswers(board);
  if (answers.length === 0) return { tokens: 0, usd: 0 };
  const reasons = board.agents.reduce(
    (sum, { vote, reasonBytes }) => sum + (vote === null ? 0 : 3 * reasonBytes),
    0,
  );
  const input =
    FRAME_TOKENS + presentedBytes(board) + reasons + (board.turn?.attachment_tokens ?? 0);
  const costs = answers.map((answer) => highestCost(board, answer.agent, input));
  return { tokens: input + MAX_FINAL_TOKENS, usd: Math.max(...costs) };
}

/** Upper bound of the cost of an agent's presentation, because longer input never costs less. */
function highestCost(board: Board, id: string, input: number): number {
  const agent = agentOf(board, id);
  return agent ? maxCost(agent.rules, input, MAX_FINAL_TOKENS) : 0;
}

/** Whether the agent's next call waits and the turn may be unable to pay for it. */
export function isShort(board: Board, agent: BoardAgent): boolean {
  const inputTokens = agent.round?.deferredInputTokens ?? agent.round?.waitingInputTokens ?? null;
  return inputTokens !== null && !canPay(board, agent, inputTokens);
}
