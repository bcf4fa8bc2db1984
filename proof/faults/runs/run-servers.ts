import { CALL_KEY } from "../../../src/tools/mcp/schema";
import { askingServer } from "../../../simulated/tool-servers/asking-server";
import { startRecordingToolServer } from "../../../simulated/tool-servers/recording-tool-server";
import { modernServer } from "../../../simulated/tool-servers/modern-server";
import { scriptedServer, tool } from "../../../simulated/tool-servers/scripted-server";
import { startSimulatedProviders } from "../../../simulated/providers/server";
import type { RunServers } from "./kinds";
import { MODELS } from "./models";
import { toolPorts } from "./tool-ports";
import { purposeOf, relayOf } from "./tool-records";

/** Starts all servers on loopback. */
export async function startRunServers(): Promise<RunServers> {
  const server = await modernServer({ legacy: true });
  const asking = await askingServer();
  const silent = await scriptedServer({ tools: [tool("wait")], call: () => undefined });
  const servers = [server, asking, silent] as const;
  const recorders = [
    await startRecordingToolServer(server.url, toolPorts()),
    await startRecordingToolServer(asking.url, toolPorts()),
    await startRecordingToolServer(silent.url, toolPorts()),
  ] as const;
  const providers = await startSimulatedProviders({ models: MODELS });
  return {
    ...providers,
    toolsUrl: recorders[0].url,
    askingUrl: recorders[1].url,
    silentUrl: recorders[2].url,
    toolCalls: () =>
      recorders
        .flatMap((recorder) => recorder.calls())
        .map(({ name, meta, answered }) => ({ name, key: String(meta[CALL_KEY] ?? ""), answered })),
    toolRequests: (mark) =>
      recorders
        .flatMap(({ requests }) => requests)
        .filter(({ received }) => received.path.endsWith(`/${mark}`))
        .map(({ received, ...times }) => ({
          ...times,
          relay: relayOf(received.headers),
          purpose: purposeOf(received),
        })),
    close: async () => {
      await Promise.all([providers.close(), ...recorders.map((recorder) => recorder.close())]);
      await Promise.all(servers.map((one) => one.close()));
    },
  };
}
