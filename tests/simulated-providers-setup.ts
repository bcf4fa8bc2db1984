import type { TestProject } from "vitest/node";
import { alwaysFails, answersThenVotes, hangs, improvesOnce, paced } from "../scripts/simulated-providers/scripts";
import { startSimulatedProviders } from "../scripts/simulated-providers/server";

const PACE = { ttftMs: 60, tokensPerSecond: 200 };
const LONG = "A long answer that takes its time to be written down, word by word and line by line. ".repeat(12);

/** Models for the tests in workerd, over real sockets. What they do is in their names. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const providers = await startSimulatedProviders({
    models: {
      quick: answersThenVotes({ answer: "The quick answer is 42.", presentation: "Forty-two, presented." }),
      plain: answersThenVotes({ answer: "It is 42, I believe." }),
      // Known by its name as a model that takes hosted tools or functions, never both.
      "gemini-2.5-flash": answersThenVotes({ answer: "Looked up: it is 42.", presentation: "Forty-two, looked up." }),
      solid: answersThenVotes({ answer: "The answer is 42, and here is why: six times seven." }),
      improver: paced(PACE, improvesOnce({ answer: "42.", improved: "42, because six rows of seven make it so." })),
      slow: paced(PACE, answersThenVotes({ answer: LONG })),
      failing: alwaysFails(500),
      keyless: alwaysFails(401, { message: "Incorrect API key provided: sk-canary-0123456789abcdef." }),
      hanging: hangs("headers"),
    },
  });
  project.provide("providersUrl", providers.baseUrl);
  return () => providers.close();
}
