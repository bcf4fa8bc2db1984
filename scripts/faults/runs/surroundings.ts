import { CALL_KEY } from "../../../src/tools/mcp/schema";
import { startLookout } from "../../../tests/tools/mcp/lookout";
import { modernServer } from "../../../tests/tools/mcp/modern-server";
import { startSimulatedProviders } from "../../simulated-providers/server";
import { MODELS, type Surroundings } from "./kinds";

/** On loopback, until they are closed. */
export async function startSurroundings(): Promise<Surroundings> {
  const server = await modernServer({ legacy: true });
  const lookout = await startLookout(server.url);
  const providers = await startSimulatedProviders({ models: MODELS });
  return {
    ...providers,
    toolsUrl: lookout.url,
    toolCalls: () => lookout.calls().map(({ name, meta }) => ({ name, key: String(meta[CALL_KEY] ?? "") })),
    close: async () => {
      await Promise.all([providers.close(), lookout.close()]);
      await server.close();
    },
  };
}
