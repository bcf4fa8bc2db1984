import { startRawServer } from "../raw-server";
import { reply, scriptedServer, text, tool } from "./scripted-server";

/**
 * A tool server and the authorisation server that lets it in by tokens whose refresh tokens serve once. `first`: the refresh token
 * that serves first. Which was shown in which order is in `shown`. `onceEach`: an access token lets one connection in.
 */
export async function rotatingServer(first: string, { onceEach = false } = {}) {
  const issuing = await startRawServer();
  const issuer = issuing.origin;
  const shown: string[] = [];
  /** `used`: an access token that has let its connection in. */
  let [good, access, used, count] = [first, "", "", 0];
  issuing.answer((response, { path, body }) => {
    const answer = (status: number, value: object) =>
      void response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify(value));
    if (path.startsWith("/.well-known/oauth-authorization-server")) {
      const ends = {
        issuer,
        token_endpoint: `${issuer}/token`,
        authorization_endpoint: `${issuer}/authorize`,
      };
      return answer(200, {
        ...ends,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      });
    }
    if (path !== "/token") return void response.writeHead(404).end();
    const presented = new URLSearchParams(String(body)).get("refresh_token") ?? "";
    shown.push(presented);
    if (presented !== good) return answer(400, { error: "invalid_grant" });
    count += 1;
    [good, access] = [`refresh-token-${count}`, `access-token-${count}`];
    return answer(200, {
      access_token: access,
      refresh_token: good,
      token_type: "Bearer",
      expires_in: 60,
    });
  });
  const made = await scriptedServer({
    tools: [tool("act")],
    call: ({ response, message }) => reply(response, message.id, text("let in")),
    first: ({ message, received, response }) => {
      if (received.path.startsWith("/.well-known/oauth-protected-resource")) {
        const metadata = { resource: made.url, authorization_servers: [issuer] };
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify(metadata));
        return true;
      }
      const isGood =
        received.headers.authorization === `Bearer ${access}` &&
        !(message.method === "initialize" && used === access);
      if (onceEach && isGood && message.method === "initialize") used = access;
      if (received.path !== "/mcp" || isGood) return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    },
  });
  return {
    ...{ issuer, url: made.url, shown },
    /** The access token of now is taken no more. */
    expire: (): void => {
      access = "none";
    },
    /** A person has consented anew: this refresh token serves next, and no other. */
    consent: (refresh: string): void => {
      good = refresh;
    },
    close: async () => void (await Promise.all([issuing.close(), made.close()])),
  };
}
