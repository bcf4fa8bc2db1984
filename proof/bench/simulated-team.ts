import {
  argumentsText,
  CHARACTERS_PER_TOKEN,
  type Pace,
  type Script,
} from "../../simulated/providers/reply";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";

/** `delayMs`: additional delay before its replies. */
export type Member = { id: string; model: string; delayMs?: number };

/** Models with large windows and output caps, so that no limit ends a long reply. */
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

/** The calls of a run in which every agent answers once and votes once, and one presents. */
export const idealCalls = (size: number): number => 2 * size + 1;

/** The length of the team's replies; one token is one chunk. */
export type Load = {
  answerTokens: number;
  voteTokens: number;
  presentationTokens: number;
  pace: Pace | null;
};

/** Agents that answer, vote and present; each reply has exactly the chunks of the load. */
export function startTeam(
  load: Load,
  members: readonly Member[] = TRIO,
): Promise<SimulatedProviders> {
  const models = members.map(({ model, delayMs = 0 }) => {
    const pace = load.pace && { ...load.pace, ttftMs: load.pace.ttftMs + delayMs };
    return [model, pacedBy(pace, member(model, load))] as const;
  });
  return startSimulatedProviders({ models: Object.fromEntries(models) });
}

const QUESTION = "How much time does the service itself take?";

/** The body of a run with this team. */
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

function member(model: string, { answerTokens, voteTokens, presentationTokens }: Load): Script {
  return answersThenVotes({
    answer: filling(answerTokens, `${model} says: `, (content) =>
      argumentsText({ name: "new_answer", arguments: { content } }),
    ),
    reason: filling(voteTokens, "", (reason) =>
      argumentsText({ name: "vote", arguments: { agent_id: "agent1", reason } }),
    ),
    presentation: filling(presentationTokens, "", (text) => text),
  });
}

const pacedBy = (pace: Pace | null, script: Script): Script =>
  pace ? paced(pace, script) : script;

/** A text whose encoded form has exactly so many tokens. */
function filling(tokens: number, start: string, whole: (text: string) => string): string {
  const room = tokens * CHARACTERS_PER_TOKEN - whole(start).length;
  return start + "It is as long as it has to be. ".repeat(Math.ceil(room / 31)).slice(0, room);
}
