import {
  argumentsText,
  CHARACTERS_PER_TOKEN,
  type Pace,
  type Script,
} from "../../simulated/providers/reply";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";

/** An agent of the simulated team. `delayMs`: additional delay before each of its replies. */
export type Member = { id: string; model: string; delayMs?: number };

/** The default team. Its models have large context windows and output caps for long replies. */
export const TRIO: readonly Member[] = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"].map((model) => ({
  id: model,
  model,
}));

/** A team of this size; each agent is slower than the previous one by `staggerMs`. */
export const teamOf = (size: number, staggerMs = 0): Member[] =>
  Array.from({ length: size }, (_, place) => ({
    id: `agent-${place + 1}`,
    model: `bench-${place + 1}`,
    delayMs: place * staggerMs,
  }));

/** Number of calls if every agent answers once and votes once, and one agent presents. */
export const idealCalls = (size: number): number => 2 * size + 1;

/**
 * The length and pace of the team's replies. One token is one chunk. `pace`: `null` for replies
 * without delay.
 */
export type Load = {
  answerTokens: number;
  voteTokens: number;
  presentationTokens: number;
  pace: Pace | null;
};

/**
 * Starts providers for agents that answer, vote and present, with the reply lengths of `load`.
 * `adapt` changes the script of each model.
 */
export function startTeam(
  load: Load,
  members: readonly Member[] = TRIO,
  adapt: (script: Script) => Script = (script) => script,
): Promise<SimulatedProviders> {
  const models = members.map(({ model, delayMs = 0 }) => {
    const pace = load.pace && { ...load.pace, ttftMs: load.pace.ttftMs + delayMs };
    return [model, adapt(withPace(pace, scriptOf(model, load)))] as const;
  });
  return startSimulatedProviders({ models: Object.fromEntries(models) });
}

const QUESTION = "How much time does the service itself take?";

/** The body of the request that starts a run with this team. */
export function runRequest(
  { baseUrl }: Pick<SimulatedProviders, "baseUrl">,
  members: readonly Member[] = TRIO,
): string {
  const agents = members.map(({ id, model }) => ({
    id,
    backend: { type: "chatcompletion", model, base_url: baseUrl, api_key: "simulated" },
  }));
  return JSON.stringify({ question: QUESTION, config: { agents } });
}

/** The beginning of the answer of a model. */
export const openingOf = (model: string): string => `${model} says: `;

function scriptOf(model: string, { answerTokens, voteTokens, presentationTokens }: Load): Script {
  return answersThenVotes({
    answer: textOfLength(answerTokens, openingOf(model), (content) =>
      argumentsText({ name: "new_answer", arguments: { content } }),
    ),
    reason: textOfLength(voteTokens, "", (reason) =>
      argumentsText({ name: "vote", arguments: { agent_id: "agent1", reason } }),
    ),
    presentation: textOfLength(presentationTokens, "", (text) => text),
  });
}

const withPace = (pace: Pace | null, script: Script): Script =>
  pace ? paced(pace, script) : script;

/** A text that begins with `start` and has exactly `tokens` tokens after `encode`. */
function textOfLength(tokens: number, start: string, encode: (text: string) => string): string {
  const missing = tokens * CHARACTERS_PER_TOKEN - encode(start).length;
  return start + FILLER.repeat(Math.ceil(missing / FILLER.length)).slice(0, missing);
}

const FILLER = "It is as long as it has to be. ";
