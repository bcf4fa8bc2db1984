import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

/** A request that a hostile page, or another program on this machine, sends to a port. */
export type Attack = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
};
export type Reply = { status: number; body: string };

const WITHIN_MS = 5_000;
/** Number of characters of a body that are kept. Enough to recognize a page. */
const KEPT_CHARS = 20_000;

/**
 * Sends the request to an address of this machine. Status 0 means that the connection was refused
 * or closed, or timed out.
 */
export function ask(
  port: number,
  { method = "GET", path, headers = {}, body = "" }: Attack,
  host: "127.0.0.1" | "::1" = "127.0.0.1",
): Promise<Reply> {
  return new Promise((resolve) => {
    const resolveFailed = () => resolve({ status: 0, body: "" });
    const sentRequest = request({ host, port, method, path, headers, agent: false });
    sentRequest.setTimeout(WITHIN_MS, () => sentRequest.destroy());
    sentRequest.on("error", resolveFailed).on("response", (response: IncomingMessage) => {
      text(response).then(
        (got) => resolve({ status: response.statusCode ?? 0, body: got.slice(0, KEPT_CHARS) }),
        resolveFailed,
      );
    });
    sentRequest.on("upgrade", (response: IncomingMessage, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 101, body: "" });
    });
    sentRequest.end(body);
  });
}

const FROM_A_PAGE = { origin: "http://localhost:3000", "content-type": "application/json" };
const WEB_SOCKET = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  origin: "http://localhost:3000",
};

/**
 * Finding H1: requests for the list of sessions, with a host name that an attacker has rebound to
 * this machine (DNS rebinding), or with a forged URL.
 */
export const rebinding = (servicePort: number): Attack[] => {
  const target = `http://127.0.0.1:${servicePort}/api/sessions`;
  return [
    { path: "/api/sessions", headers: { host: `evil.example:${servicePort}` } },
    { path: "/x", headers: { host: `evil.example:${servicePort}`, "mf-original-url": target } },
    { path: "/x", headers: { "mf-original-url": target } },
    {
      path: "/api/sessions",
      headers: {
        host: "evil.example",
        "x-forwarded-host": "127.0.0.1",
        forwarded: "host=localhost",
      },
    },
    { path: target, headers: { host: "evil.example" } },
  ];
};

const EXPLORER = "/cdn-cgi/local/explorer/api";
const SQL = JSON.stringify({ sql: "select id, tenant, scopes from api_keys" });

/** Finding H2: requests to the runtime's explorer of databases, objects and buckets. */
export const EXPLORING: Attack[] = [
  { path: "/cdn-cgi/local/explorer/", headers: FROM_A_PAGE },
  { path: EXPLORER, headers: FROM_A_PAGE },
  { path: `${EXPLORER}/d1/database`, headers: FROM_A_PAGE },
  { method: "POST", path: `${EXPLORER}/d1/database/DB/raw`, headers: FROM_A_PAGE, body: SQL },
  { path: `${EXPLORER}/workers/durable_objects/namespaces`, headers: FROM_A_PAGE },
  {
    path: `${EXPLORER}/workers/durable_objects/namespaces/massgen-edge-SessionObject/objects`,
    headers: FROM_A_PAGE,
  },
  { path: `${EXPLORER}/r2/buckets`, headers: FROM_A_PAGE },
  { method: "POST", path: `/${EXPLORER}/d1/database/DB/raw`, headers: FROM_A_PAGE, body: SQL },
  { path: "/cdn-cgi/explorer/api/d1/database", headers: FROM_A_PAGE },
];

/** Finding H3: requests to the debugger, which can run any code inside the service. */
export const DEBUGGING: Attack[] = [
  ...["/json", "/json/list", "/json/version"].map((path) => ({
    path,
    headers: { origin: "http://localhost:3000" },
  })),
  ...["/", "/ws", "/core:user:massgen-edge", "/massgen-edge"].map((path) => ({
    path,
    headers: WEB_SOCKET,
  })),
];

const TRIGGER = "cron=0+6+*+*+MON&time=1793599200000";

/** Finding H4: requests that trigger scheduled work, as a page sends them for an image. */
export const TRIGGERING: Attack[] = [
  `/cdn-cgi/local/scheduled?${TRIGGER}`,
  "/cdn-cgi/local/scheduled?time=4102444800000",
  `/cdn-cgi/handler/scheduled?${TRIGGER}`,
  `/cdn-cgi/mf/scheduled?${TRIGGER}`,
  `/__scheduled?${TRIGGER}`,
].map((path) => ({
  path,
  headers: { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
}));
