import { describe, expect, it } from "vitest";
import type { McpEnvironment } from "../../../src/tools/mcp/environment";
import { keep } from "./test-servers";
import { rotatingServer } from "../../../simulated/tool-servers/rotating-server";
import { connected, context, server, toolOf } from "./support";

/**
 * A tool server whose refresh tokens are valid once. `shown` are the tokens that it has received.
 */
async function setUp(env: Partial<McpEnvironment> = {}) {
  const toolServer = await rotatingServer("planted-REFRESH");
  const auth = {
    type: "authorization_code" as const,
    issuer: toolServer.issuer,
    clientId: "us",
    clientSecret: null,
  };
  const serverConfig = server(toolServer.url, {
    auth: { ...auth, accessToken: null, refreshToken: "REFRESH" },
  });
  const connectServer = async (overrides: Partial<McpEnvironment> = {}) =>
    keep(await connected([serverConfig], { ...env, ...overrides }));
  return { ...toolServer, serverConfig, connectServer };
}
const agentsOf = (serverConfig: ReturnType<typeof server>) =>
  new Map([["one", { servers: [serverConfig], allowedTools: null, excludeTools: [] }]]);

describe("tokens that were renewed", () => {
  it("are used again after the session closes its connections and connects again", async () => {
    const { serverConfig, connectServer, shown, expire, close } = await setUp();
    const servers = await connectServer();
    expect(servers.list()).toMatchObject([{ problem: null }]);
    await servers.close();
    await servers.connect(agentsOf(serverConfig), new Map(), AbortSignal.timeout(5_000));
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).text).toBe("let in");
    expect(shown).toEqual(["planted-REFRESH"]);
    await servers.close();
    expire();
    await servers.connect(agentsOf(serverConfig), new Map(), AbortSignal.timeout(5_000));
    expect(servers.list()).toMatchObject([{ problem: null, tools: ["act"] }]);
    expect(shown).toEqual(["planted-REFRESH", "refresh-token-1"]);
    await close();
  });

  it("are read from the token store", async () => {
    const { connectServer, shown, expire, close } = await setUp({ tokens: new Map() });
    await (await connectServer()).close();
    expire();
    expect((await connectServer()).list()).toMatchObject([{ problem: null }]);
    expect(shown).toEqual(["planted-REFRESH", "refresh-token-1"]);
    await close();
  });

  it("are replaced by a new secret of the operator", async () => {
    const { connectServer, shown, expire, consent, close } = await setUp({ tokens: new Map() });
    await (await connectServer()).close();
    expire();
    consent("new-consent");
    expect((await connectServer({ secretOf: () => "new-consent" })).list()).toMatchObject([
      { problem: null },
    ]);
    expect(shown).toEqual(["planted-REFRESH", "new-consent"]);
    await close();
  });

  it("are renewed once for all calls at the same time", async () => {
    const { connectServer, shown, expire, close } = await setUp();
    const servers = await connectServer();
    expire();
    const act = toolOf(servers, "mcp__box__act");
    const results = await Promise.all(Array.from({ length: 4 }, () => act.run({}, context())));
    expect(results.map(({ text }) => text)).toEqual(["let in", "let in", "let in", "let in"]);
    expect(shown).toEqual(["planted-REFRESH", "refresh-token-1"]);
    await close();
  });

  it("are used for all agents with the same server and secret, even if other settings differ", async () => {
    const { serverConfig, connectServer, shown, expire, close } = await setUp();
    const servers = await connectServer();
    expire();
    const other = {
      servers: [{ ...serverConfig, callMs: 4_000 }],
      allowedTools: null,
      excludeTools: [],
    };
    await servers.connect(new Map([["two", other]]), new Map(), AbortSignal.timeout(5_000));
    expect(servers.list().map(({ problem }) => problem)).toEqual([null, null]);
    expect(new Set(shown).size).toBe(shown.length);
    await close();
  });
});
