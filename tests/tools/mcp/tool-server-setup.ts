import type { TestProject } from "vitest/node";
import { askingServer } from "../../../simulated/tool-servers/asking-server";
import { holdingServer } from "../../../simulated/tool-servers/holding-server";
import { mediaServer } from "../../../simulated/tool-servers/media-server";
import { modernServer } from "../../../simulated/tool-servers/modern-server";
import { rotatingServer } from "../../../simulated/tool-servers/rotating-server";
import { scriptedServer, tool } from "../../../simulated/tool-servers/scripted-server";

/** Starts the tool servers for tests in workerd. They use real sockets. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await modernServer({ legacy: true });
  const asking = await askingServer();
  const media = await mediaServer();
  const holding = await holdingServer();
  const excluding = tool("excluding", {
    inputSchema: { type: "object", properties: { a: { not: { type: "null" } } } },
  });
  const unsupported = await scriptedServer({ tools: [tool("plain"), excluding] });
  project.provide("toolServerUrl", server.url);
  project.provide("askingServerUrl", asking.url);
  project.provide("holdingServerUrl", holding.url);
  const rotating = await rotatingServer("the-first-refresh-token", { onceEach: true });
  project.provide("unsupportedSchemaUrl", unsupported.url);
  project.provide("mediaServerUrl", media.url);
  project.provide("rotatingServerUrl", rotating.url);
  project.provide("rotatingIssuer", rotating.issuer);
  return async () => {
    await Promise.all(
      [server, asking, media, holding, rotating, unsupported].map((toolServer) =>
        toolServer.close(),
      ),
    );
  };
}
