import {
  type CompactionPlan,
  planCompaction,
  toSummary,
  toSummaryRequest,
} from "../../../src/agents/compaction";
import { inputTokenBound } from "../../../src/agents/conversation";
import type { CompleteReply } from "../../../src/agents/reply";
import type { CallRecord } from "../../../src/agents/records";
import type { TeamAgent } from "../../../src/config/team";
import {
  agentAt,
  type ModelCallEffect,
  type Reply,
  runningTurn,
  type TurnState,
  wantsCompaction,
} from "../../../src/coordination";
import type { ModelRequest } from "../../../src/providers/provider";
import type { SessionFacts } from "../session-facts";
import type { PayloadTexts, SessionInputs } from "../../../src/engine/ports";

/**
 * A planned summary of a conversation. `plan` names the part that the summary replaces; the caller
 * keeps it until the reply arrives. `inputTokens`: an upper bound for `request`.
 */
export type Compaction = { plan: CompactionPlan; request: ModelRequest; inputTokens: number };

type Round = { effect: ModelCallEffect; agent: TeamAgent; records: readonly CallRecord[] };

type Options = {
  session: Pick<SessionInputs, "state">;
  nonce: SessionFacts["nonce"];
  /** The ratio of the provider's token count to our estimate. */
  calibrationOf: (agent: number) => number;
};

/**
 * Calls that summarise conversations: decides when such a call is offered to the rules, and builds
 * its request and the result of its reply.
 */
export class Compactions {
  readonly #options: Options;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * The summarising call; `null` unless the rules want one and a part of the conversation can be
   * replaced.
   */
  prepare(turn: TurnState, round: Round): Compaction | null {
    const { effect, records } = round;
    if (!wantsCompaction(turn, agentAt(turn.attempt, effect.agent))) return null;
    const plan = planCompaction(records, this.#spaceOf(turn, effect.agent));
    if (!plan) return null;
    const request = this.requestFor(turn, round, plan);
    return { plan, request, inputTokens: inputTokenBound(request) };
  }

  /** The request that asks for a summary of the planned part. */
  requestFor(
    turn: TurnState,
    { effect, agent, records }: Round,
    plan: CompactionPlan,
  ): ModelRequest {
    const room = this.#spaceOf(turn, effect.agent);
    const { system, user } = toSummaryRequest(records, plan, {
      ...room,
      nonce: this.#options.nonce(turn, effect.agent),
    });
    const { model, params } = agent.backend;
    return {
      system,
      messages: [{ role: "user", text: user }],
      model,
      params,
      tools: [],
      toolChoice: "auto",
      hostedTools: [],
      maxOutputTokens: null,
      continues: false,
    };
  }

  /** Whether a conversation that was too long for the model can be shortened. */
  isPossible({ effect, records }: Omit<Round, "agent">): boolean {
    const turn = runningTurn(this.#options.session.state);
    return (
      turn !== null &&
      planCompaction(records, { ...this.#spaceOf(turn, effect.agent), refused: true }) !== null
    );
  }

  /**
   * The reply for the rules, and the record that replaces the planned part. There is no record if
   * the text is empty or the provider withheld it.
   */
  toReply(
    plan: CompactionPlan,
    effect: ModelCallEffect,
    reply: CompleteReply,
  ): { result: Reply; payload: PayloadTexts } {
    const turn = runningTurn(this.#options.session.state);
    const result: Reply = {
      stopReason: reply.stopReason,
      usage: reply.usage,
      text: reply.text,
      tools: [],
      decisions: [],
      verdict: null,
      personas: null,
    };
    const isWithheld = reply.stopReason === "content_filter" || reply.stopReason === "refusal";
    if (!turn || isWithheld || reply.text.trim() === "") return { result, payload: {} };
    const { record, dropped } = toSummary(
      plan,
      this.#options.nonce(turn, effect.agent),
      reply.text,
    );
    return {
      result: { ...result, dropped },
      payload: { summary: { agent: effect.agent, record } },
    };
  }

  #spaceOf(turn: TurnState, agent: number) {
    const contextWindow = turn.rules.agents[agent]?.context_window ?? 0;
    const refused = agentAt(turn.attempt, agent).round?.call.tooLong === true;
    return { contextWindow, calibration: this.#options.calibrationOf(agent), refused };
  }
}
