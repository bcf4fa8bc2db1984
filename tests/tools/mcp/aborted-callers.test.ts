import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { MessageSchema, reply, text } from "../../../simulated/tool-servers/scripted-server";
import { environment, server } from "./support";
import { keep, only, serve } from "./test-servers";

/** Connecting and listing, which callers share, when callers are aborted. */

/** Time in which requests that follow an aborted request would arrive. */
const SETTLED_MS = 200;
/** Whether a message is more than a notice that a call has ended. */
const isWork = (method: string | undefined): boolean => method !== "notifications/cancelled";

/** A server with one tool, and its agent `one`, which is not connected yet. */
async function unconnected() {
  const toolServer = await serve(
    only(({ response, message }) => reply(response, message.id, text("done"))),
  );
  const servers = keep(new McpServers(environment()));
  const tools = { servers: [server(toolServer.url)], allowedTools: null, excludeTools: [] };
  servers.know(new Map([["one", tools]]), new Map());
  return { toolServer, servers };
}

describe("a connection", () => {
  it("lists tools once for concurrent callers, and an abort of one caller does not cancel the listing", async () => {
    const { toolServer, servers } = await unconnected();
    const controller = new AbortController();
    const abortedRefresh = servers.refreshFor("one", controller.signal);
    const otherRefresh = servers.refreshFor("one", AbortSignal.timeout(5_000));
    controller.abort(new Error("not needed any more"));
    await expect(abortedRefresh).rejects.toThrow("not needed any more");
    await otherRefresh;
    expect(servers.offersFor("one")).toMatchObject([
      { server: "box", problem: null, tools: [{ rule: { name: "mcp__box__act" } }] },
    ]);
    expect(toolServer.messages("tools/list")).toHaveLength(1);
  });

  it.each(["server/discover", "initialize", "tools/list"])(
    "sends no further request after its last caller is aborted during %s",
    async (method) => {
      const aborted = new AbortController();
      const { toolServer, servers } = await unconnected();
      const { script } = toolServer;
      script.first = ({ message }) => {
        if (message.method === method) aborted.abort(new Error("not needed any more"));
        return false;
      };
      await expect(servers.refreshFor("one", aborted.signal)).rejects.toThrow(
        "not needed any more",
      );
      await sleep(SETTLED_MS);
      const sent = toolServer.received.map(({ body }) => MessageSchema.parse(body ?? {}).method);
      expect(sent.slice(sent.indexOf(method) + 1).filter(isWork)).toEqual([]);
      // a later caller opens it again
      script.first = () => false;
      await servers.refreshFor("one", AbortSignal.timeout(5_000));
      expect(servers.offersFor("one")).toMatchObject([{ problem: null, tools: [{}] }]);
    },
  );
});
