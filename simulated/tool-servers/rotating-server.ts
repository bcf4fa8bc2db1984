import type { ServerResponse } from "node:http";
import { type RawServer, startRawServer } from "../raw-server";
import { reply, scriptedServer, text, tool } from "./scripted-server";

/**
 * A tool server with an authorization server that replaces the refresh token at each use, so each
 * refresh token works once. `first`: the first valid refresh token. `onceEach`: each access token
 * admits only one connection. The returned `shown` lists all refresh tokens that the client has
 * sent.
 */
export async function rotatingServer(first: string, { onceEach = false } = {}) {
  const issuing = await startRawServer();
  const issuer = issuing.origin;
  const tokens: Tokens = { good: first, access: "", used: "", count: 0, shown: [] };
  issueTokens(issuing, tokens);
  const toolServer = await scriptedServer({
    tools: [tool("act")],
    call: ({ response, message }) => reply(response, message.id, text("let in")),
    first: ({ message, received, response }) => {
      if (received.path.startsWith("/.well-known/oauth-protected-resource")) {
        sendJson(response, 200, { resource: toolServer.url, authorization_servers: [issuer] });
        return true;
      }
      const isGood =
        received.headers.authorization === `Bearer ${tokens.access}` &&
        !(message.method === "initialize" && tokens.used === tokens.access);
      if (onceEach && isGood && message.method === "initialize") tokens.used = tokens.access;
      if (received.path !== "/mcp" || isGood) return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    },
  });
  return {
    ...{ issuer, url: toolServer.url, shown: tokens.shown },
    /** Makes the current access token invalid. */
    expire: (): void => {
      tokens.access = "none";
    },
    /** Simulates a new consent of a person: only this refresh token is valid now. */
    consent: (refresh: string): void => {
      tokens.good = refresh;
    },
    close: async () => void (await Promise.all([issuing.close(), toolServer.close()])),
  };
}

type Tokens = {
  /** The only valid refresh token. */
  good: string;
  /** The valid access token. */
  access: string;
  /** The access token that has admitted its connection. */
  used: string;
  /** Number of access tokens issued so far. */
  count: number;
  /** Refresh tokens that the client has sent, in order. */
  shown: string[];
};

/** Makes `issuing` behave like an authorization server that issues these tokens. */
function issueTokens(issuing: RawServer, tokens: Tokens): void {
  const issuer = issuing.origin;
  issuing.answer((response, { path, body }) => {
    if (path.startsWith("/.well-known/oauth-authorization-server"))
      return sendJson(response, 200, {
        issuer,
        token_endpoint: `${issuer}/token`,
        authorization_endpoint: `${issuer}/authorize`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      });
    if (path !== "/token") return void response.writeHead(404).end();
    const presented = new URLSearchParams(String(body)).get("refresh_token") ?? "";
    tokens.shown.push(presented);
    if (presented !== tokens.good) return sendJson(response, 400, { error: "invalid_grant" });
    tokens.count += 1;
    tokens.good = `refresh-token-${tokens.count}`;
    tokens.access = `access-token-${tokens.count}`;
    sendJson(response, 200, {
      access_token: tokens.access,
      refresh_token: tokens.good,
      token_type: "Bearer",
      expires_in: 60,
    });
  });
}

const sendJson = (response: ServerResponse, status: number, value: object): void =>
  void response
    .writeHead(status, { "content-type": "application/json" })
    .end(JSON.stringify(value));
