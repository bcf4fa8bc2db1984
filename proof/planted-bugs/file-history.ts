import { InProcessService } from "../file-histories/in-process-service";
import { playByCommandLine } from "../file-histories/judge";
import { randomHistory } from "../file-histories/random-history";

/** Steps of a history. */
const STEPS = 20;

/** How the random history of a seed differs from its prediction; `null` if it does not. */
export async function problemOfSeed(seed: number): Promise<string | null> {
  const history = randomHistory(seed, { isNormal: seed % 2 === 0, length: STEPS });
  const { problem } = await playByCommandLine(history, async ({ sessions }) => {
    const service = new InProcessService(sessions);
    await service.start();
    return service;
  });
  return problem?.text ?? null;
}
