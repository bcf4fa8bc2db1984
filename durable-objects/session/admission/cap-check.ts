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
import type { EarlierTurn } from "../../../src/prompts/task";
import { hasJavascript } from "../../../src/tools/javascript";
import { readsToolResults } from "../../../src/tools/files";
import { Mutex } from "../../../src/async/mutex";
import { Containers } from "../tools/containers";
import type { Env } from "../../../src/env";
import type { StartTurn } from "../session-api";
import { toolboxOf } from "../tools/toolbox";

type CapCheck = {
  turn: StartTurn;
  team: Team;
  attached: QuestionAttachments | null;
  /** Returns the earlier turns; called only if the turn has a limit. */
  history: () => readonly EarlierTurn[];
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
  const containers = new Containers({
    sandboxes: env.SANDBOX,
    place: commandsOf(env),
    session: sessionId,
    teams: { current: () => team, all: () => [team] },
  });
  const toolsOf = (index: number) => {
    const agent = team.agents[index];
    const rules = team.rules.agents[index]?.tools ?? [];
    const javascript = hasJavascript(rules) ? { runner: null, mutex: new Mutex() } : null;
    const dependencies = {
      secretOf: async () => undefined,
      shared: {},
      runner: () => containers.runnerOf(index),
    };
    return agent
      ? toolboxOf(agent, {
          ...dependencies,
          javascript,
          readsResults: readsToolResults(rules),
        }).map(({ spec }) => spec)
      : [];
  };
  const refusal = capTooSmall({
    rules: withAudioPricing(team.rules, attached?.attachments ?? []),
    budget,
    calls: firstCalls({
      ...{ team, question, attached, toolsOf },
      history: history(),
      commandPlace: commandsOf(env),
    }),
    questionTokens: byteLength(question) + (attached?.tokens ?? 0),
  });
  return refusal && { ok: false, ...refusal };
}
