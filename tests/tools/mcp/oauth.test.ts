import { describe, expect, it } from "vitest";
import type { McpAuth } from "../../../src/tools/mcp/server";
import { type Received, startRawServer } from "../../contracts/raw-server";
import { keep, serve } from "./kept";
import { type Asked, reply, text, tool } from "./scripted-server";
import { connected, context, server, toolOf } from "./support";

/** OAuth: an MCP server that wants a token, and an authorisation server that may not be what it says. */

type Metadata = { issuer?: string; [field: string]: unknown };

/** An authorisation server; `change` makes its metadata other than they should be. */
async function authorisation(change: (honest: Metadata) => Metadata = (honest) => honest) {
  const raw = await startRawServer();
  const issuer = raw.origin;
  raw.answer((response, { path, method }) => {
    if (path.startsWith("/.well-known/oauth-authorization-server")) {
      const honest = {
        ...{ issuer, token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/authorize` },
        ...{
          response_types_supported: ["code"],
          grant_types_supported: ["client_credentials"],
          code_challenge_methods_supported: ["S256"],
        },
      };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(change(honest)));
    }
    if (path === "/token" && method === "POST") {
      const token = { access_token: "fresh-token-1", token_type: "Bearer", expires_in: 60 };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(token));
    }
    response.writeHead(404).end();
  });
  return { issuer, received: raw.received, close: () => raw.close() };
}

/** A tool server that takes only `fresh-token-1`, and sends whoever has none to the issuer. */
async function guarded(issuer: () => string) {
  const made = await serve({
    tools: [tool("act")],
    call: ({ response, message }) => reply(response, message.id, text("let in")),
    first: (asked: Asked) => {
      const { received, response } = asked;
      if (received.path.startsWith("/.well-known/oauth-protected-resource")) {
        const metadata = { resource: made.url, authorization_servers: [issuer()] };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
        return true;
      }
      if (received.path !== "/mcp" || received.headers.authorization === "Bearer fresh-token-1") return false;
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
  ...{ type: "authorization_code", issuer, clientId: "us", clientSecret: null, accessToken: "OLD", refreshToken: "REFRESH" },
});

/** How often a path was asked. */
const asked = (received: readonly Received[], path: string) => received.filter((one) => one.path.startsWith(path)).length;

describe("client credentials", () => {
  it("let a session in, once for all its requests", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const servers = keep(await connected([server(made.url, { auth: credentials(auth.issuer) })]));
    expect(servers.list()).toMatchObject([{ problem: null, tools: ["act"] }]);
    expect(await toolOf(servers, "mcp__box__act").run({}, context())).toEqual({ outcome: "ok", text: "let in" });
    expect(asked(auth.received, "/token")).toBeLessThanOrEqual(2);
    await auth.close();
  });
});

describe("D19 an authorisation server that is not what it should be", () => {
  it.each([
    { what: "names another issuer", change: (honest: Metadata) => ({ ...honest, issuer: "https://other.example.com" }) },
    { what: "names none", change: ({ issuer: _none, ...rest }: Metadata) => rest },
  ])("gets no credential if its metadata $what", async ({ change }) => {
    const auth = await authorisation(change);
    const made = await guarded(() => auth.issuer);
    const [listing] = keep(await connected([server(made.url, { auth: credentials(auth.issuer) })])).list();
    expect(listing?.problem).not.toBeNull();
    expect(asked(auth.received, "/token")).toBe(0);
    await auth.close();
  });

  it.each([
    { what: "client credentials", given: credentials },
    { what: "tokens of a person", given: tokens },
  ])("gets no $what if it is another than the config names", async ({ given }) => {
    const [auth, evil] = [await authorisation(), await authorisation()];
    const made = await guarded(() => evil.issuer);
    const [listing] = keep(await connected([server(made.url, { auth: given(auth.issuer) })])).list();
    expect(listing?.problem).toMatch(/may not be asked|refused|cannot be/);
    expect([asked(evil.received, "/token"), asked(auth.received, "/token")]).toEqual([0, 0]);
    await auth.close();
    await evil.close();
  });
});

describe("tokens that a person's consent gave", () => {
  it("are renewed when they are no longer taken, and whoever keeps them is told", async () => {
    const auth = await authorisation();
    const made = await guarded(() => auth.issuer);
    const renewed: string[] = [];
    const servers = keep(
      await connected([server(made.url, { auth: tokens(auth.issuer) })], {
        renewed: (_server, fresh) => renewed.push(fresh.access_token),
      }),
    );
    expect(servers.list()).toMatchObject([{ problem: null }]);
    expect(renewed).toContain("fresh-token-1");
    await auth.close();
  });

  it("say that a person has to consent again when there is nothing to renew them with", async () => {
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
