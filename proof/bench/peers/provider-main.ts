import { setTimeout as sleep } from "node:timers/promises";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import type { Pace, Script } from "../../../simulated/providers/reply";
import type { SimulatedProviders } from "../../../simulated/providers/server";
import { type Situation, toSituation } from "../../../simulated/providers/situation";
import { idealStages } from "./comparison";
import { asServiceRequest } from "./massgen-requests";
import { type EndedCall, type ProviderOrder, ProviderOrderSchema } from "./schema";
import { startTeam, teamOf } from "../simulated-team";

/**
 * The simulated providers of the comparison, in a process of their own. In the measuring process
 * they would compete with the contestants that run there.
 */

type Team = {
  providers: SimulatedProviders;
  /** The request as the service would send it. */
  read(situation: Situation): Situation;
  /** Number of requests before the latest `take`, and at it. */
  before: number;
  taken: number;
};

let team: Team | null = null;
let pace: Pace | null = null;

async function perform(order: ProviderOrder): Promise<unknown> {
  if (order.type === "start") return start(order);
  if (!team) throw new Error("No team was started.");
  switch (order.type) {
    case "pace":
      pace = order.pace;
      return null;
    case "take":
      return take(team);
    case "job":
      return { baseUrl: team.providers.baseUrl, stages: idealStages(staged(team)) };
  }
}

async function start({
  agents,
  tokens,
  client,
}: Extract<ProviderOrder, { type: "start" }>): Promise<string> {
  const read = client === "massgen" ? asServiceRequest : (situation: Situation) => situation;
  const load = { answerTokens: tokens, voteTokens: tokens, presentationTokens: tokens, pace: null };
  const adapt =
    (script: Script): Script =>
    async (situation) => ({
      ...(pace && { pace }),
      ...(await script(read(situation))),
    });
  const providers = await startTeam(load, teamOf(agents), adapt);
  pace = null;
  team = { providers, read, before: 0, taken: 0 };
  return providers.baseUrl;
}

/** The calls since the previous `take`. Waits until all of them have ended. */
async function take(team: Team): Promise<EndedCall[]> {
  [team.before, team.taken] = [team.taken, team.providers.requests().length];
  const latest = staged(team);
  while (latest.some(({ request }) => request.endedAt === null)) await sleep(1);
  return latest.map(({ stage, request: { startedAt, endedAt } }) => ({
    stage,
    startedAt,
    endedAt: endedAt ?? startedAt,
  }));
}

/** The requests of the latest `take`, with their stages. */
const staged = ({
  providers,
  read,
  before,
  taken,
}: Team): { stage: string; request: RecordedRequest }[] =>
  providers
    .requests()
    .slice(before, taken)
    .map((request) => ({ stage: read(toSituation(request.asked)).stage, request }));

process.on("message", (message) => {
  perform(ProviderOrderSchema.parse(message)).then(
    (value) => process.send?.({ value }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
