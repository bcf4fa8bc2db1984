import { describe, expect, it, vi } from "vitest";
import { type McpEnvironment, MissingSecretError } from "../../../src/tools/mcp/environment";
import type { McpAuth } from "../../../src/tools/mcp/server";
import { maySend } from "../../../src/tools/secret-bindings";
import { type ReceivedRequest, startRawServer } from "../../../simulated/raw-server";
import { keep, serve } from "./test-servers";
import {
  type ScriptedCall,
  reply,
  text,
  tool,
} from "../../../simulated/tool-servers/scripted-server";
import { connected, context, server, toolOf } from "./support";

/** All warnings since the start of this test file, including those of the SDK. */
const warnings = vi.hoisted(() => {
  const lines: string[] = [];
  console.warn = (...parts: unknown[]) => void lines.push(parts.map(String).join(" "));
  return lines;
});

type Metadata = { issuer?: string; [field: string]: unknown };

/** Starts an authorization server. `change` changes its metadata, for a server that is hostile. */
async function startIssuer(change: (honest: Metadata) => Metadata = (honest) => honest) {
  const raw = await startRawServer();
  const issuer = raw.origin;
  /** The refusal of the token endpoint; `null` if it returns a token. */
  let refusal: ((request: ReceivedRequest) => object) | null = null;
  raw.answer((response, received) => {
    const { path, method } = received;
    if (path.startsWith("/.well-known/oauth-authorization-server")) {
      const honest = {
        ...{
          issuer,
          token_endpoint: `${issuer}/token`,
          authorization_endpoint: `${issuer}/authorize`,
        },
        ...{
          response_types_supported: ["code"],
          grant_types_supported: ["client_credentials"],
          code_challenge_methods_supported: ["S256"],
        },
      };
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(change(honest)));
    }
    if (path === "/token" && method === "POST" && refusal) {
      return void response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify(refusal(received)));
    }
    if (path === "/token" && method === "POST") {
      const token = { access_token: "fresh-token-1", token_type: "Bearer", expires_in: 60 };
      return void response
        .writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(token));
    }
    response.writeHead(404).end();
  });
  const refuse = (refusalFor: (request: ReceivedRequest) => object): void => {
    refusal = refusalFor;
  };
  return { issuer, received: raw.received, refuse, close: () => raw.close() };
}

/** A tool server that accepts only `fresh-token-1`. To other clients, it names the issuer. */
async function guardedServer(issuer: () => string) {
  const mcp = await serve({
    tools: [tool("act")],
    call: ({ response, message }) => reply(response, message.id, text("let in")),
    first: ({ received, response }: ScriptedCall) => {
      if (received.path.startsWith("/.well-known/oauth-protected-resource")) {
        const metadata = { resource: mcp.url, authorization_servers: [issuer()] };
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify(metadata));
        return true;
      }
      if (received.path !== "/mcp" || received.headers.authorization === "Bearer fresh-token-1")
        return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    },
  });
  return mcp;
}

const credentials = (issuer: string): McpAuth => ({
  ...{ type: "client_credentials", issuer, clientId: "us", clientSecret: "CLIENT", scope: null },
});
const tokens = (issuer: string): McpAuth => ({
  ...{
    type: "authorization_code",
    issuer,
    clientId: "us",
    clientSecret: null,
    accessToken: "OLD",
    refreshToken: "REFRESH",
  },
});

/** The number of requests to a path. */
const requestsTo = (received: readonly ReceivedRequest[], path: string) =>
  received.filter((request) => request.path.startsWith(path)).length;

describe("client credentials", () => {
  it("are used for one token, which is sent with all requests of a session", async () => {
    const auth = await startIssuer();
    const mcp = await guardedServer(() => auth.issuer);
    const servers = keep(await connected([server(mcp.url, { auth: credentials(auth.issuer) })]));
    expect(servers.list()).toMatchObject([{ problem: null, tools: ["act"] }]);
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({
      outcome: "ok",
      text: "let in",
    });
    expect(requestsTo(auth.received, "/token")).toBeLessThanOrEqual(2);
    await auth.close();
  });
});

/**
 * Secrets, each bound to the origins under its name. The value of a secret is `planted-` and its
 * name. A test may change `origins` later, as an admin changes bindings.
 */
const boundTo = (origins: Record<string, readonly string[]>): McpEnvironment["secretOf"] => {
  return async (name, use) => {
    const bindings = (origins[name] ?? []).map((origin) => ({ origin }));
    if (maySend(bindings, use)) return `planted-${name}`;
    throw new MissingSecretError(`the service has no ${name} for ${new URL(use.url).origin}`);
  };
};

describe("a token endpoint of another origin in the metadata", () => {
  it.each([
    { what: "client credentials", authFor: credentials, names: ["CLIENT"] },
    { what: "a refresh token", authFor: tokens, names: ["REFRESH"] },
  ])("receives no $what that is not bound to that origin too (M10)", async ({ authFor, names }) => {
    const rogue = await startIssuer();
    const auth = await startIssuer((honest) => ({
      ...honest,
      token_endpoint: `${rogue.issuer}/token`,
    }));
    const tools = await guardedServer(() => auth.issuer);
    const origins = Object.fromEntries(names.map((name) => [name, [auth.issuer]]));
    const secretOf = boundTo({ OLD: [new URL(tools.url).origin], ...origins });
    const [listing] = keep(
      await connected([server(tools.url, { auth: authFor(auth.issuer) })], { secretOf }),
    ).list();
    expect(listing?.problem).toContain(
      `cannot be asked: the service has no ${names[0]} for ${rogue.issuer}`,
    );
    expect(rogue.received).toEqual([]);

    const bothOrigins = Object.fromEntries(
      names.map((name) => [name, [auth.issuer, rogue.issuer]]),
    );
    const allowed = boundTo({ OLD: [new URL(tools.url).origin], ...bothOrigins });
    const [allowedListing] = keep(
      await connected([server(tools.url, { auth: authFor(auth.issuer) })], {
        secretOf: allowed,
      }),
    ).list();
    expect([allowedListing?.problem, requestsTo(rogue.received, "/token") > 0]).toEqual([
      null,
      true,
    ]);
    await Promise.all([auth.close(), rogue.close()]);
  });
});

describe("a secret that changes while a connection is open", () => {
  it("is no longer used, and neither is the access token that it was used for", async () => {
    const auth = await startIssuer();
    const mcp = await guardedServer(() => auth.issuer);
    const origins: Record<string, readonly string[]> = { CLIENT: [auth.issuer] };
    const servers = keep(
      await connected([server(mcp.url, { auth: credentials(auth.issuer) })], {
        secretOf: boundTo(origins),
      }),
    );
    const act = () => toolOf(servers, "mcp__box__act").run({}, context());
    expect(await act()).toEqual({ outcome: "ok", text: "let in" });
    const requestsBefore = mcp.received.length;
    delete origins["CLIENT"];
    expect(await act()).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("has no CLIENT"),
    });
    expect(mcp.received.length).toBe(requestsBefore);
    await auth.close();
  });

  it("is sent with its new value if it is replaced, also in headers", async () => {
    let value = "first-value";
    const mcp = await serve({
      tools: [tool("act")],
      call: ({ response, message }) => reply(response, message.id, text("ok")),
    });
    const headers = { "x-key": "${KEY}" };
    const servers = keep(
      await connected([server(mcp.url, { headers })], { secretOf: () => value }),
    );
    value = "second-value";
    await toolOf(servers, "mcp__box__act").run({}, context());
    expect(mcp.received[0]?.headers["x-key"]).toBe("first-value");
    expect(mcp.received.at(-1)?.headers["x-key"]).toBe("second-value");
  });

  it("is not sent with a method that it is not bound to, and calls still succeed", async () => {
    const mcp = await serve({
      tools: [tool("act")],
      call: ({ response, message }) => reply(response, message.id, text("ok")),
    });
    const bindings = [{ origin: new URL(mcp.url).origin, methods: ["POST" as const] }];
    const secretOf: McpEnvironment["secretOf"] = (name, use) => {
      if (maySend(bindings, use)) return "s3cret-value";
      throw new MissingSecretError(`the service has no ${name}`);
    };
    const servers = keep(
      await connected([server(mcp.url, { headers: { "x-key": "${KEY}" } })], { secretOf }),
    );
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({
      outcome: "ok",
      text: "ok",
    });
    await servers.close();
    expect(new Set(mcp.received.map(({ method }) => method))).toEqual(new Set(["POST"]));
  });
});

describe("D19 an invalid authorization server", () => {
  it.each([
    {
      what: "names another issuer",
      change: (honest: Metadata) => ({ ...honest, issuer: "https://other.example.com" }),
    },
    { what: "names no issuer", change: ({ issuer: _none, ...rest }: Metadata) => rest },
  ])("gets no credential if its metadata $what", async ({ change }) => {
    const auth = await startIssuer(change);
    const mcp = await guardedServer(() => auth.issuer);
    const [listing] = keep(
      await connected([server(mcp.url, { auth: credentials(auth.issuer) })]),
    ).list();
    expect(listing?.problem).not.toBeNull();
    expect(requestsTo(auth.received, "/token")).toBe(0);
    await auth.close();
  });

  it.each([
    { what: "client credentials", authFor: credentials },
    { what: "tokens of a person", authFor: tokens },
  ])("gets no $what if it is not the issuer in the config", async ({ authFor }) => {
    const [auth, rogue] = [await startIssuer(), await startIssuer()];
    const mcp = await guardedServer(() => rogue.issuer);
    const [listing] = keep(
      await connected([server(mcp.url, { auth: authFor(auth.issuer) })]),
    ).list();
    expect(listing?.problem).toMatch(/may not be asked|refused|cannot be/);
    expect([requestsTo(rogue.received, "/token"), requestsTo(auth.received, "/token")]).toEqual([
      0, 0,
    ]);
    await auth.close();
    await rogue.close();
  });
});

describe("tokens from a person's consent", () => {
  it("are renewed when they are rejected, and the new tokens are stored", async () => {
    const auth = await startIssuer();
    const mcp = await guardedServer(() => auth.issuer);
    const tokenStore = new Map<string, string>();
    const servers = keep(
      await connected([server(mcp.url, { auth: tokens(auth.issuer) })], {
        tokens: tokenStore,
      }),
    );
    expect(servers.list()).toMatchObject([{ problem: null }]);
    expect([...tokenStore.values()].join()).toContain("fresh-token-1");
    await auth.close();
  });

  it("are used for the next connection after a renewal", async () => {
    const auth = await startIssuer();
    const mcp = await guardedServer(() => auth.issuer);
    const servers = keep(await connected([server(mcp.url, { auth: tokens(auth.issuer) })]));
    const renewals = requestsTo(auth.received, "/token");
    let isLost = false;
    const { call } = mcp.script;
    mcp.script.call = (scriptedCall) => {
      if (isLost) return call?.(scriptedCall);
      isLost = true;
      scriptedCall.response.destroy(); // this also breaks the connection
    };
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).outcome).toBe("unknown");
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).text).toBe("let in");
    expect(mcp.messages("initialize").length).toBeGreaterThan(1);
    expect(requestsTo(auth.received, "/token")).toBe(renewals);
    await auth.close();
  });

  it("report that a person must consent again if they cannot be renewed", async () => {
    const auth = await startIssuer();
    const mcp = await guardedServer(() => auth.issuer);
    const old: McpAuth = {
      type: "authorization_code",
      issuer: auth.issuer,
      clientId: "us",
      clientSecret: null,
      accessToken: "OLD",
      refreshToken: null,
    };
    const [listing] = keep(await connected([server(mcp.url, { auth: old })])).list();
    expect(listing?.problem).toMatch(/a person has to consent again/);
    await auth.close();
  });
});

describe("D21 the text of an authorization server that repeats credentials", () => {
  const refuses =
    (methods: string[], repeatedText: (request: ReceivedRequest) => string) => async () => {
      const auth = await startIssuer((honest) => ({
        ...honest,
        token_endpoint_auth_methods_supported: methods,
      }));
      auth.refuse((request) => ({
        error: "invalid_client",
        error_description: `the credentials '${repeatedText(request)}' are wrong`,
      }));
      return auth;
    };
  const form = ({ body }: ReceivedRequest) => new URLSearchParams(String(body));
  const basic = ({ headers }: ReceivedRequest) =>
    String(headers.authorization).split(" ").at(-1) ?? "";

  it.each([
    {
      what: "a client secret in form encoding",
      start: refuses(["client_secret_post"], (sent) => form(sent).get("client_secret") ?? ""),
    },
    { what: "the form body", start: refuses(["client_secret_post"], (sent) => String(sent.body)) },
    {
      what: "the credentials in Basic",
      start: refuses(["client_secret_basic"], (sent) =>
        Buffer.from(basic(sent), "base64").toString(),
      ),
    },
    { what: "the Basic header", start: refuses(["client_secret_basic"], basic) },
  ])("is shown and logged without $what", async ({ start }) => {
    const auth = await start();
    const tools = await guardedServer(() => auth.issuer);
    const secret = "s3cr3t (of ours)/1";
    const env = { secretOf: () => secret };
    const listings: unknown[] = [];
    const listed = (listing: unknown) => void listings.push(listing);
    const servers = keep(
      await connected([server(tools.url, { auth: credentials(auth.issuer) })], { ...env, listed }),
    );
    expect(servers.list()[0]?.problem).toMatch(/the credentials '.*\[redacted\].*' are wrong/);
    const all = JSON.stringify([servers.list(), servers.offersFor("one"), listings, warnings]);
    for (const form of [secret, "s3cr3t", "of+ours", "of%20ours", btoa(`us:${secret}`)])
      expect(all).not.toContain(form);
    expect(requestsTo(auth.received, "/token")).toBeGreaterThan(0);
    expect(warnings).toEqual([]);
    await auth.close();
  });

  it("is shown without the start of a secret where the text is cut", async () => {
    const auth = await refuses(
      ["client_secret_basic"],
      () => `${"x".repeat(1_960)}${"s3cr3t-".repeat(20)}`,
    )();
    const tools = await guardedServer(() => auth.issuer);
    const secretOf = () => "s3cr3t-".repeat(20);
    const [listing] = keep(
      await connected([server(tools.url, { auth: credentials(auth.issuer) })], { secretOf }),
    ).list();
    expect(listing?.problem).toMatch(/xxx/);
    expect(listing?.problem).not.toContain("s3cr3t");
    await auth.close();
  });

  it("is shown and logged without a refresh token", async () => {
    const auth = await startIssuer();
    const tools = await guardedServer(() => auth.issuer);
    auth.refuse((request) => ({
      error: "invalid_grant",
      error_description: `no more ${form(request).get("refresh_token")}`,
    }));
    const [listing] = keep(
      await connected([server(tools.url, { auth: tokens(auth.issuer) })]),
    ).list();
    expect(JSON.stringify([listing, warnings])).not.toContain("planted-");
    expect(listing?.problem).not.toBeNull();
    expect(warnings).toEqual([]);
    await auth.close();
  });
});
