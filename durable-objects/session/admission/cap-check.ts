import { firstCalls } from "../../../src/agents/first-calls";
import { commandsOf } from "../../../src/config/operator-settings";
import type { Team } from "../../../src/config/team";
import {
  type QuestionAttachments,
  byteLength,
  type CapTooSmall,
  capTooSmall,
} from "../../../src/coordination";
import { withAudioPricing } from "../../../src/coordination/budget/audio-pricing";
import type { HistoryEntry } from "../../../src/prompts/history";
import type { Env } from "../../../src/env";
import type { StartTurn } from "../session-api";
import { ownToolsOf } from "./own-tools";

type CapCheck = {
  turn: StartTurn;
  team: Team;
  attached: QuestionAttachments | null;
  /** Returns the earlier turns; called only if the turn has a limit. */
  history: () => readonly HistoryEntry[];
  sessionId: string;
};

/**
 * Why the turn's budget cannot pay for the first call of any agent; `null` if it can pay for one.
 * Sends no request.
 */
export function capRefusal(
  env: Env,
  { turn, team, attached, history, sessionId }: CapCheck,
): ({ ok: false } & CapTooSmall) | null {
  const { budget, question } = turn;
  if (budget.max_cost_usd === undefined && budget.max_tokens === undefined) return null;
  const refusal = capTooSmall({
    rules: withAudioPricing(team.rules, attached?.attachments ?? []),
    budget,
    calls: firstCalls({
      ...{ team, question, attached, toolsOf: ownToolsOf(env, team, sessionId) },
      history: history(),
      commandPlace: commandsOf(env),
    }),
    questionTokens: byteLength(question) + (attached?.tokens ?? 0),
  });
  return refusal && { ok: false, ...refusal };
}
