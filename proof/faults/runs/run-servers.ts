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

/** Starts all servers on loopback. If one cannot be started, none remains. */
export async function startRunServers(): Promise<RunServers> {
  const started: { close(): Promise<unknown> }[] = [];
  try {
    return await startAll(started);
  } catch (error) {
    await closeAll(started);
    throw error;
  }
}

/** The last ones first: a recorder forwards to a server that started before. */
async function closeAll(started: readonly { close(): Promise<unknown> }[]): Promise<void> {
  for (const one of started.toReversed()) await one.close();
}

async function startAll(started: { close(): Promise<unknown> }[]): Promise<RunServers> {
  const keep = <Server extends { close(): Promise<unknown> }>(server: Server): Server => {
    started.push(server);
    return server;
  };
  const record = async (url: string) => keep(await startRecordingToolServer(url, toolPorts()));
  const server = keep(await modernServer({ legacy: true }));
  const asking = keep(await askingServer());
  const silent = keep(await scriptedServer({ tools: [tool("wait")], call: () => undefined }));
  const recorders = [
    await record(server.url),
    await record(asking.url),
    await record(silent.url),
  ] as const;
  const providers = keep(await startSimulatedProviders({ models: MODELS }));
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
    close: () => closeAll(started),
  };
}
