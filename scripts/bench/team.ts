import { argumentsText, CHARACTERS_PER_TOKEN, type Pace, type Script } from "../simulated-providers/reply";
import { answersThenVotes, paced } from "../simulated-providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../simulated-providers/server";

/** Models with large windows and output caps, so that no limit ends a long reply. */
const MODELS = ["gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"] as const;
export const AGENTS = MODELS.length;

/** What each reply of the team is made of; one token is one chunk. */
export type Load = { answerTokens: number; voteTokens: number; presentationTokens: number; pace: Pace | null };

/** Three agents that answer, vote and present, each reply with exactly as many chunks as the load says. */
export function startTeam(load: Load): Promise<SimulatedProviders> {
  const models = MODELS.map((model) => [model, pacedBy(load.pace, member(model, load))] as const);
  return startSimulatedProviders({ models: Object.fromEntries(models) });
}

/** The body of a run with this team. */
export function runRequest({ baseUrl }: SimulatedProviders): string {
  const agents = MODELS.map((model) => ({
    id: model,
    backend: { type: "chatcompletion", model, base_url: baseUrl, api_key: "simulated" },
  }));
  return JSON.stringify({ question: "How much time does the service itself take?", config: { agents } });
}

function member(model: string, { answerTokens, voteTokens, presentationTokens }: Load): Script {
  return answersThenVotes({
    answer: filling(answerTokens, `${model} says: `, (content) => argumentsText({ name: "new_answer", arguments: { content } })),
    reason: filling(voteTokens, "", (reason) => argumentsText({ name: "vote", arguments: { agent_id: "agent1", reason } })),
    presentation: filling(presentationTokens, "", (text) => text),
  });
}

const pacedBy = (pace: Pace | null, script: Script): Script => (pace ? paced(pace, script) : script);

/** A text that makes the whole, as it goes over the wire, that many tokens long. */
function filling(tokens: number, start: string, whole: (text: string) => string): string {
  const room = tokens * CHARACTERS_PER_TOKEN - whole(start).length;
  return start + "It is as long as it has to be. ".repeat(Math.ceil(room / 31)).slice(0, room);
}
