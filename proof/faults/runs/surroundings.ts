import { CALL_KEY } from "../../../src/tools/mcp/schema";
import { askingServer } from "../../../simulated/tool-servers/asking-server";
import { startLookout } from "../../../simulated/tool-servers/lookout";
import { modernServer } from "../../../simulated/tool-servers/modern-server";
import { scriptedServer, tool } from "../../../simulated/tool-servers/scripted-server";
import { startSimulatedProviders } from "../../../simulated/providers/server";
import type { Surroundings } from "./kinds";
import { MODELS } from "./models";
import { toolPorts } from "./tool-ports";
import { purposeOf } from "./tool-witness";

/** Starts all servers on loopback. */
export async function startSurroundings(): Promise<Surroundings> {
  const server = await modernServer({ legacy: true });
  const asking = await askingServer();
  const silent = await scriptedServer({ tools: [tool("wait")], call: () => undefined });
  const servers = [server, asking, silent] as const;
  const lookouts = [
    await startLookout(server.url, toolPorts()),
    await startLookout(asking.url, toolPorts()),
    await startLookout(silent.url, toolPorts()),
  ] as const;
  const providers = await startSimulatedProviders({ models: MODELS });
  return {
    ...providers,
    toolsUrl: lookouts[0].url,
    askingUrl: lookouts[1].url,
    silentUrl: lookouts[2].url,
    toolCalls: () =>
      lookouts
        .flatMap((lookout) => lookout.calls())
        .map(({ name, meta, answered }) => ({ name, key: String(meta[CALL_KEY] ?? ""), answered })),
    toolRequests: (mark) =>
      lookouts
        .flatMap(({ requests }) => requests)
        .filter(({ received }) => received.path.endsWith(`/${mark}`))
        .map(({ received, ...times }) => ({ ...times, purpose: purposeOf(received) })),
    close: async () => {
      await Promise.all([providers.close(), ...lookouts.map((lookout) => lookout.close())]);
      await Promise.all(servers.map((one) => one.close()));
    },
  };
}
