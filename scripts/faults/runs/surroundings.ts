import { CALL_KEY } from "../../../src/tools/mcp/schema";
import { askingServer } from "../../../tests/tools/mcp/asking-server";
import { startLookout } from "../../../tests/tools/mcp/lookout";
import { modernServer } from "../../../tests/tools/mcp/modern-server";
import { startSimulatedProviders } from "../../simulated-providers/server";
import { MODELS, type Surroundings } from "./kinds";

/** On loopback, until they are closed. */
export async function startSurroundings(): Promise<Surroundings> {
  const server = await modernServer({ legacy: true });
  const asking = await askingServer();
  const lookouts = [await startLookout(server.url), await startLookout(asking.url)] as const;
  const providers = await startSimulatedProviders({ models: MODELS });
  return {
    ...providers,
    toolsUrl: lookouts[0].url,
    askingUrl: lookouts[1].url,
    toolCalls: () =>
      lookouts
        .flatMap((lookout) => lookout.calls())
        .map(({ name, meta, answered }) => ({ name, key: String(meta[CALL_KEY] ?? ""), answered })),
    close: async () => {
      await Promise.all([providers.close(), ...lookouts.map((lookout) => lookout.close())]);
      await Promise.all([server.close(), asking.close()]);
    },
  };
}
