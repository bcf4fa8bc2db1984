import { startRawServer } from "../../contracts/raw-server";
import { reply, scriptedServer, text, tool } from "./scripted-server";

/**
 * A tool server and the authorisation server that lets it in by tokens whose refresh tokens serve once. `first`: the refresh token
 * that serves first. Which was shown in which order is in `shown`.
 */
export async function rotatingServer(first: string) {
  const issuing = await startRawServer();
  const issuer = issuing.origin;
  const shown: string[] = [];
  let [good, access, count] = [first, "", 0];
  issuing.answer((response, { path, body }) => {
    const answer = (status: number, value: object) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (path.startsWith("/.well-known/oauth-authorization-server")) {
      const ends = { issuer, token_endpoint: `${issuer}/token`, authorization_endpoint: `${issuer}/authorize` };
      return answer(200, { ...ends, response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] });
    }
    if (path !== "/token") return void response.writeHead(404).end();
    const presented = new URLSearchParams(String(body)).get("refresh_token") ?? "";
    shown.push(presented);
    if (presented !== good) return answer(400, { error: "invalid_grant" });
    count += 1;
    [good, access] = [`refresh-token-${count}`, `access-token-${count}`];
    return answer(200, { access_token: access, refresh_token: good, token_type: "Bearer", expires_in: 60 });
  });
  const made = await scriptedServer({
    tools: [tool("act")],
    call: ({ response, message }) => reply(response, message.id, text("let in")),
    first: ({ received, response }) => {
      if (received.path.startsWith("/.well-known/oauth-protected-resource")) {
        const metadata = { resource: made.url, authorization_servers: [issuer] };
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(metadata));
        return true;
      }
      if (received.path !== "/mcp" || received.headers.authorization === `Bearer ${access}`) return false;
      response.writeHead(401, { "www-authenticate": "Bearer" }).end();
      return true;
    },
  });
  return {
    ...{ issuer, url: made.url, shown, messages: made.messages },
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
