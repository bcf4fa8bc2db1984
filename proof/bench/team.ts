import {
  argumentsText,
  CHARACTERS_PER_TOKEN,
  type Pace,
  type Script,
} from "../../simulated/providers/reply";
import { answersThenVotes, paced } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";

/** `delayMs`: how much later than at once its replies begin. */
export type Member = { id: string; model: string; delayMs?: number };

/** Models with large windows and output caps, so that no limit ends a long reply. */
export const TRIO: readonly Member[] = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"].map((model) => ({
  id: model,
  model,
}));

/** So many agents, each slower than the one before it by so much. */
export const teamOf = (size: number, staggerMs = 0): Member[] =>
  Array.from({ length: size }, (_, place) => ({
    id: `agent-${place + 1}`,
    model: `bench-${place + 1}`,
    delayMs: place * staggerMs,
  }));

/** The calls of a run in which everybody answers once, votes once, and one presents. */
export const idealCalls = (size: number): number => 2 * size + 1;

/** What each reply of the team is made of; one token is one chunk. */
export type Load = {
  answerTokens: number;
  voteTokens: number;
  presentationTokens: number;
  pace: Pace | null;
};

/** Agents that answer, vote and present, each reply with exactly as many chunks as the load says. */
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

/** A text that makes the whole, as it goes over the wire, that many tokens long. */
function filling(tokens: number, start: string, whole: (text: string) => string): string {
  const room = tokens * CHARACTERS_PER_TOKEN - whole(start).length;
  return start + "It is as long as it has to be. ".repeat(Math.ceil(room / 31)).slice(0, room);
}
