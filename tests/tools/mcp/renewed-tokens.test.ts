import { describe, expect, it } from "vitest";
import type { McpEnvironment } from "../../../src/tools/mcp/environment";
import { keep } from "./test-servers";
import { rotatingServer } from "../../../simulated/tool-servers/rotating-server";
import { connected, context, server, toolOf } from "./support";

/** Tokens with single-use refresh tokens, over the life of a session. */

async function rotating(env: Partial<McpEnvironment> = {}) {
  const made = await rotatingServer("planted-REFRESH");
  const auth = {
    type: "authorization_code" as const,
    issuer: made.issuer,
    clientId: "us",
    clientSecret: null,
  };
  const named = server(made.url, { auth: { ...auth, accessToken: null, refreshToken: "REFRESH" } });
  const begin = async (more: Partial<McpEnvironment> = {}) =>
    keep(await connected([named], { ...env, ...more }));
  return { ...made, named, begin };
}
const agentsOf = (named: ReturnType<typeof server>) =>
  new Map([["one", { servers: [named], allowedTools: null, excludeTools: [] }]]);

describe("tokens that were renewed", () => {
  it("serve again when the session has left its servers and comes back", async () => {
    const { named, begin, shown, expire, close } = await rotating();
    const servers = await begin();
    expect(servers.list()).toMatchObject([{ problem: null }]);
    await servers.close();
    await servers.connect(agentsOf(named), new Map(), AbortSignal.timeout(5_000));
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).text).toBe("let in");
    expect(shown).toEqual(["planted-REFRESH"]);
    await servers.close();
    expire();
    await servers.connect(agentsOf(named), new Map(), AbortSignal.timeout(5_000));
    expect(servers.list()).toMatchObject([{ problem: null, tools: ["act"] }]);
    expect(shown).toEqual(["planted-REFRESH", "refresh-token-1"]);
    await close();
  });

  it("are reused from the token store", async () => {
    const { begin, shown, expire, close } = await rotating({ tokens: new Map() });
    await (await begin()).close();
    expire();
    expect((await begin()).list()).toMatchObject([{ problem: null }]);
    expect(shown).toEqual(["planted-REFRESH", "refresh-token-1"]);
    await close();
  });

  it("are replaced by a new secret of the operator", async () => {
    const { begin, shown, expire, consent, close } = await rotating({ tokens: new Map() });
    await (await begin()).close();
    expire();
    consent("consented-anew");
    expect((await begin({ secretOf: () => "consented-anew" })).list()).toMatchObject([
      { problem: null },
    ]);
    expect(shown).toEqual(["planted-REFRESH", "consented-anew"]);
    await close();
  });

  it("are renewed once for all calls that need it at the same time", async () => {
    const { begin, shown, expire, close } = await rotating();
    const servers = await begin();
    expire();
    const act = toolOf(servers, "mcp__box__act");
    const all = await Promise.all(Array.from({ length: 4 }, () => act.run({}, context())));
    expect(all.map(({ text }) => text)).toEqual(["let in", "let in", "let in", "let in"]);
    expect(shown).toEqual(["planted-REFRESH", "refresh-token-1"]);
    await close();
  });

  it("serve every agent that names the server with the same secret, despite other differences", async () => {
    const { named, begin, shown, expire, close } = await rotating();
    const servers = await begin();
    expire();
    const other = { servers: [{ ...named, callMs: 4_000 }], allowedTools: null, excludeTools: [] };
    await servers.connect(new Map([["two", other]]), new Map(), AbortSignal.timeout(5_000));
    expect(servers.list().map(({ problem }) => problem)).toEqual([null, null]);
    expect(new Set(shown).size).toBe(shown.length);
    await close();
  });
});
