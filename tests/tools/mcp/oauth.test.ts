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

/** All warnings since the start of this file, also the SDK's. */
const warned = vi.hoisted(() => {
  const lines: string[] = [];
  console.warn = (...parts: unknown[]) => void lines.push(parts.map(String).join(" "));
  return lines;
});

/** OAuth: an MCP server that requires a token, and an authorization server that may be hostile. */

type Metadata = { issuer?: string; [field: string]: unknown };

/** An authorization server; `change` alters its metadata. */
async function authorisation(change: (honest: Metadata) => Metadata = (honest) => honest) {
  const raw = await startRawServer();
  const issuer = raw.origin;
  /** The refusal of the token endpoint; `null` if it returns a token. */
  let refusal: ((asked: ReceivedRequest) => object) | null = null;
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
  const refuse = (how: (asked: ReceivedRequest) => object): void => {
    refusal = how;
  };
  return { issuer, received: raw.received, refuse, close: () => raw.close() };
}

/** A tool server that accepts only `fresh-token-1`, and sends clients without it to the issuer. */
async function guarded(issuer: () => string) {
  const made = await serve({
    tools: [tool("act")],
    call: ({ response, message }) => reply(response, message.id, text("let in")),
    first: (asked: ScriptedCall) => {
      const { received, response } = asked;
      if (received.path.startsWith("/.well-known/oauth-protected-resource")) {
        const metadata = { resource: made.url, authorization_servers: [issuer()] };
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
  return made;
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

/** How often a path was requested. */
const asked = (received: readonly ReceivedRequest[], path: string) =>
  received.filter((one) => one.path.startsWith(path)).length;

describe("client credentials", () => {
  it("admit a session once for all its requests", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const servers = keep(await connected([server(made.url, { auth: credentials(auth.issuer) })]));
    expect(servers.list()).toMatchObject([{ problem: null, tools: ["act"] }]);
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({
      outcome: "ok",
      text: "let in",
    });
    expect(asked(auth.received, "/token")).toBeLessThanOrEqual(2);
    await auth.close();
  });
});

/**
 * Secrets by name, each with the origins that it is bound to; `planted-` and its name is its value.
 * Mutable, as an admin changes them.
 */
const bound = (origins: Record<string, readonly string[]>): McpEnvironment["secretOf"] => {
  return async (name, use) => {
    const bindings = (origins[name] ?? []).map((origin) => ({ origin }));
    if (maySend(bindings, use)) return `planted-${name}`;
    throw new MissingSecretError(`the service has no ${name} for ${new URL(use.url).origin}`);
  };
};

describe("metadata with a token endpoint of another origin", () => {
  it.each([
    { what: "client credentials", given: credentials, names: ["CLIENT"] },
    { what: "a refresh token", given: tokens, names: ["REFRESH"] },
  ])("receive no $what unless it is bound to that origin too (M10)", async ({ given, names }) => {
    const thief = await authorisation();
    const auth = await authorisation((honest) => ({
      ...honest,
      token_endpoint: `${thief.issuer}/token`,
    }));
    const tools = await guarded(() => auth.issuer);
    const origins = Object.fromEntries(names.map((name) => [name, [auth.issuer]]));
    const secretOf = bound({ OLD: [new URL(tools.url).origin], ...origins });
    const [listing] = keep(
      await connected([server(tools.url, { auth: given(auth.issuer) })], { secretOf }),
    ).list();
    expect(listing?.problem).toContain(
      `cannot be asked: the service has no ${names[0]} for ${thief.issuer}`,
    );
    expect(thief.received).toEqual([]);

    const both = Object.fromEntries(names.map((name) => [name, [auth.issuer, thief.issuer]]));
    const allowed = bound({ OLD: [new URL(tools.url).origin], ...both });
    const [let_in] = keep(
      await connected([server(tools.url, { auth: given(auth.issuer) })], { secretOf: allowed }),
    ).list();
    expect([let_in?.problem, asked(thief.received, "/token") > 0]).toEqual([null, true]);
    await Promise.all([auth.close(), thief.close()]);
  });
});

describe("a secret that is deleted while a connection is open", () => {
  it("is not used for further requests, nor is its access token", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const origins: Record<string, readonly string[]> = { CLIENT: [auth.issuer] };
    const servers = keep(
      await connected([server(made.url, { auth: credentials(auth.issuer) })], {
        secretOf: bound(origins),
      }),
    );
    const act = () => toolOf(servers, "mcp__box__act").run({}, context());
    expect(await act()).toEqual({ outcome: "ok", text: "let in" });
    const before = made.received.length;
    delete origins["CLIENT"];
    expect(await act()).toMatchObject({
      outcome: "error",
      text: expect.stringContaining("has no CLIENT"),
    });
    expect(made.received.length).toBe(before);
    await auth.close();
  });

  it("is sent with its new value after a replacement, in headers too", async () => {
    let value = "first-value";
    const made = await serve({
      tools: [tool("act")],
      call: ({ response, message }) => reply(response, message.id, text("ok")),
    });
    const headers = { "x-key": "${KEY}" };
    const servers = keep(
      await connected([server(made.url, { headers })], { secretOf: () => value }),
    );
    value = "second-value";
    await toolOf(servers, "mcp__box__act").run({}, context());
    expect(made.received[0]?.headers["x-key"]).toBe("first-value");
    expect(made.received.at(-1)?.headers["x-key"]).toBe("second-value");
  });

  it("is not sent with a method that it is not bound to, and calls work without the stream of that method", async () => {
    const made = await serve({
      tools: [tool("act")],
      call: ({ response, message }) => reply(response, message.id, text("ok")),
    });
    const bindings = [{ origin: new URL(made.url).origin, methods: ["POST" as const] }];
    const secretOf: McpEnvironment["secretOf"] = (name, use) => {
      if (maySend(bindings, use)) return "s3cret-value";
      throw new MissingSecretError(`the service has no ${name}`);
    };
    const servers = keep(
      await connected([server(made.url, { headers: { "x-key": "${KEY}" } })], { secretOf }),
    );
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({
      outcome: "ok",
      text: "ok",
    });
    await servers.close();
    expect(new Set(made.received.map(({ method }) => method))).toEqual(new Set(["POST"]));
  });
});

describe("D19 an invalid authorization server", () => {
  it.each([
    {
      what: "names another issuer",
      change: (honest: Metadata) => ({ ...honest, issuer: "https://other.example.com" }),
    },
    { what: "names none", change: ({ issuer: _none, ...rest }: Metadata) => rest },
  ])("gets no credential if its metadata $what", async ({ change }) => {
    const auth = await authorisation(change);
    const made = await guarded(() => auth.issuer);
    const [listing] = keep(
      await connected([server(made.url, { auth: credentials(auth.issuer) })]),
    ).list();
    expect(listing?.problem).not.toBeNull();
    expect(asked(auth.received, "/token")).toBe(0);
    await auth.close();
  });

  it.each([
    { what: "client credentials", given: credentials },
    { what: "tokens of a person", given: tokens },
  ])("gets no $what if it differs from the config", async ({ given }) => {
    const [auth, evil] = [await authorisation(), await authorisation()];
    const made = await guarded(() => evil.issuer);
    const [listing] = keep(
      await connected([server(made.url, { auth: given(auth.issuer) })]),
    ).list();
    expect(listing?.problem).toMatch(/may not be asked|refused|cannot be/);
    expect([asked(evil.received, "/token"), asked(auth.received, "/token")]).toEqual([0, 0]);
    await auth.close();
    await evil.close();
  });
});

describe("tokens from a person's consent", () => {
  it("are renewed when they are rejected, and reported to their store", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const kept = new Map<string, string>();
    const servers = keep(
      await connected([server(made.url, { auth: tokens(auth.issuer) })], { tokens: kept }),
    );
    expect(servers.list()).toMatchObject([{ problem: null }]);
    expect([...kept.values()].join()).toContain("fresh-token-1");
    await auth.close();
  });

  it("are renewed for the next connection", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const servers = keep(await connected([server(made.url, { auth: tokens(auth.issuer) })]));
    const renewals = asked(auth.received, "/token");
    let isLost = false;
    const { call } = made.script;
    made.script.call = (asked) => {
      if (isLost) return call?.(asked);
      isLost = true;
      asked.response.destroy(); // the connection is lost with it
    };
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).outcome).toBe("unknown");
    expect((await toolOf(servers, "mcp__box__act").run({}, context())).text).toBe("let in");
    expect(made.messages("initialize").length).toBeGreaterThan(1);
    expect(asked(auth.received, "/token")).toBe(renewals);
    await auth.close();
  });

  it("report that a person must consent again if they cannot be renewed", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const old: McpAuth = {
      type: "authorization_code",
      issuer: auth.issuer,
      clientId: "us",
      clientSecret: null,
      accessToken: "OLD",
      refreshToken: null,
    };
    const [listing] = keep(await connected([server(made.url, { auth: old })])).list();
    expect(listing?.problem).toMatch(/a person has to consent again/);
    await auth.close();
  });
});

describe("D21 an authorization server that repeats credentials", () => {
  const refuses = (methods: string[], said: (asked: ReceivedRequest) => string) => async () => {
    const auth = await authorisation((honest) => ({
      ...honest,
      token_endpoint_auth_methods_supported: methods,
    }));
    auth.refuse((one) => ({
      error: "invalid_client",
      error_description: `the credentials '${said(one)}' are wrong`,
    }));
    return auth;
  };
  const form = ({ body }: ReceivedRequest) => new URLSearchParams(String(body));
  const basic = ({ headers }: ReceivedRequest) =>
    String(headers.authorization).split(" ").at(-1) ?? "";

  it.each([
    {
      what: "a client secret in form encoding",
      made: refuses(["client_secret_post"], (one) => form(one).get("client_secret") ?? ""),
    },
    { what: "the form body", made: refuses(["client_secret_post"], (one) => String(one.body)) },
    {
      what: "the credentials in Basic",
      made: refuses(["client_secret_basic"], (one) => Buffer.from(basic(one), "base64").toString()),
    },
    { what: "the Basic header", made: refuses(["client_secret_basic"], basic) },
  ])("is shown and logged without $what", async ({ made }) => {
    const auth = await made();
    const tools = await guarded(() => auth.issuer);
    const secret = "s3cr3t (of ours)/1";
    const env = { secretOf: () => secret };
    const listings: unknown[] = [];
    const listed = (listing: unknown) => void listings.push(listing);
    const servers = keep(
      await connected([server(tools.url, { auth: credentials(auth.issuer) })], { ...env, listed }),
    );
    expect(servers.list()[0]?.problem).toMatch(/the credentials '.*\[redacted\].*' are wrong/);
    const all = JSON.stringify([servers.list(), servers.offersFor("one"), listings, warned]);
    for (const form of [secret, "s3cr3t", "of+ours", "of%20ours", btoa(`us:${secret}`)])
      expect(all).not.toContain(form);
    expect(asked(auth.received, "/token")).toBeGreaterThan(0);
    expect(warned).toEqual([]);
    await auth.close();
  });

  it("is shown without the start of a secret at the cut", async () => {
    const auth = await refuses(
      ["client_secret_basic"],
      () => `${"x".repeat(1_960)}${"s3cr3t-".repeat(20)}`,
    )();
    const tools = await guarded(() => auth.issuer);
    const secretOf = () => "s3cr3t-".repeat(20);
    const [listing] = keep(
      await connected([server(tools.url, { auth: credentials(auth.issuer) })], { secretOf }),
    ).list();
    expect(listing?.problem).toMatch(/xxx/);
    expect(listing?.problem).not.toContain("s3cr3t");
    await auth.close();
  });

  it("is shown and logged without a refresh token", async () => {
    const auth = await authorisation();
    const tools = await guarded(() => auth.issuer);
    auth.refuse((one) => ({
      error: "invalid_grant",
      error_description: `no more ${form(one).get("refresh_token")}`,
    }));
    const [listing] = keep(
      await connected([server(tools.url, { auth: tokens(auth.issuer) })]),
    ).list();
    expect(JSON.stringify([listing, warned])).not.toContain("planted-");
    expect(listing?.problem).not.toBeNull();
    expect(warned).toEqual([]);
    await auth.close();
  });
});
