import { describe, expect, it } from "vitest";
import {
  addressGuard,
  AddressRefusedError,
  guardedFetch,
  markedFetch,
  UnresolvedNameError,
  UnreachableOriginError,
  type OutgoingRules,
} from "../../src/outgoing/address-guard";

/**
 * Sends a request through a guard. `outcome`: the response or the error. `sent`: all requests that
 * were sent. `lookups`: all names that were looked up.
 */
async function sendThroughGuard(
  url: string,
  { names = {}, response = new Response("ok"), ...rules }: Partial<OutgoingRules> & Network = {},
) {
  const sent: { url: string; redirect: string | undefined; headers: Headers }[] = [];
  const lookups: string[] = [];
  const guard = addressGuard({
    allowedOrigins: [],
    trustedOrigins: new Set(["https://api.openai.com"]),
    ...rules,
    resolve: async (name) => {
      lookups.push(name);
      return names[name] ?? [];
    },
  });
  const network: typeof fetch = async (input, init) => {
    sent.push({
      url: String(input),
      redirect: init?.redirect,
      headers: new Headers(init?.headers),
    });
    return response;
  };
  const send = guardedFetch(guard, markedFetch(network));
  const outcome = await send(url, { headers: { authorization: "Bearer secret" } }).catch(
    (error: unknown) => error,
  );
  return { outcome, sent, lookups };
}
type Network = { names?: Record<string, string[]>; response?: Response };

/** Rows D1 to D12 of the bad inputs: the kind of the addresses, and the addresses. */
const REFUSED: readonly (readonly [string, readonly string[]])[] = [
  [
    "D1 loopback addresses",
    [
      "http://127.0.0.1",
      "https://127.0.0.1/",
      "https://localhost",
      "https://localhost.",
      "https://[::1]",
      "https://0.0.0.0",
      "https://[::]",
    ],
  ],
  [
    "D2 loopback addresses in other number formats",
    ["https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/"],
  ],
  [
    "D3 loopback and private addresses in IPv6",
    [
      "https://[::ffff:127.0.0.1]/",
      "https://[::ffff:7f00:1]/",
      "https://[64:ff9b::7f00:1]/",
      "https://[fd00::1]/",
    ],
  ],
  [
    "D4 private networks and cloud metadata services",
    [
      "https://169.254.169.254/",
      "https://metadata.google.internal/",
      "https://100.64.0.1/",
      "https://10.0.0.1/",
      "https://172.16.0.1/",
      "https://192.168.1.1/",
      "https://198.18.0.1/",
      "https://224.0.0.1/",
    ],
  ],
  [
    "D8 other schemes",
    [
      "file:///etc/passwd",
      "data:text/plain,x",
      "ftp://example.org",
      "ws://example.org",
      "javascript:alert(1)",
      "blob:https://example.org/x",
    ],
  ],
  [
    "D9 other ports",
    [
      "https://example.org:22/",
      "https://example.org:25/",
      "https://example.org:6379/",
      "https://example.org:8443/",
      "https://example.org:0/",
    ],
  ],
  [
    "D12 a cloud metadata service as the address of OAuth metadata",
    ["http://169.254.169.254/.well-known/oauth-protected-resource"],
  ],
  ["addresses with a user name and password", ["https://user:secret@example.org/"]],
  ["addresses without encryption", ["http://example.org/"]],
];

describe("a request is refused and not sent to", () => {
  it.each(REFUSED.flatMap(([name, urls]) => urls.map((url) => ({ name, url }))))(
    "$name: $url",
    async ({ url }) => {
      const { outcome, sent, lookups } = await sendThroughGuard(url, {
        names: { "example.org": ["93.184.215.14"] },
      });
      expect(outcome).toBeInstanceOf(AddressRefusedError);
      expect([sent, lookups]).toEqual([[], []]);
    },
  );

  it.each([
    { name: "a private address", addresses: ["127.0.0.1"] },
    { name: "a private address and a public address", addresses: ["93.184.215.14", "10.0.0.1"] },
    { name: "a private IPv6 address", addresses: ["fd00::1"] },
    { name: "a private IPv4 address in IPv6 form", addresses: ["::ffff:169.254.169.254"] },
    { name: "an invalid address", addresses: ["internal.example.org"] },
  ])("D5 a public name that resolves to $name", async ({ addresses }) => {
    const { outcome, sent } = await sendThroughGuard("https://rebind.example.org/v1", {
      names: { "rebind.example.org": addresses },
    });
    expect([outcome, sent]).toEqual([expect.any(AddressRefusedError), []]);
  });

  it("a name that does not exist, with the error of a failed lookup", async () => {
    const { outcome, sent } = await sendThroughGuard("https://nobody.example.org/v1");
    expect([String(outcome), sent]).toEqual([expect.stringContaining("DNS lookup failed"), []]);
    expect(outcome).not.toBeInstanceOf(AddressRefusedError);
  });
});

it("a failed lookup is an error other than a refusal, and no request is sent", async () => {
  let sent = 0;
  const guard = addressGuard({
    allowedOrigins: [],
    trustedOrigins: new Set(),
    resolve: () => Promise.reject(new Error("no answer")),
  });
  const send = guardedFetch(guard, async () => {
    sent += 1;
    return new Response("ok");
  });
  const outcome = await send("https://llm.example.org/v1").catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(UnresolvedNameError);
  expect(outcome).toMatchObject({
    message: "The address of llm.example.org could not be looked up.",
    cause: new Error("no answer"),
  });
  expect(sent).toBe(0);
});

describe("a request is sent", () => {
  it.each([
    {
      name: "to a public name after its addresses were looked up",
      url: "https://llm.example.org/v1",
      lookups: ["llm.example.org"],
    },
    {
      name: "to a well-known provider without a lookup",
      url: "https://api.openai.com/v1",
      lookups: [],
    },
    { name: "to a public IP address without a lookup", url: "https://8.8.8.8/v1", lookups: [] },
    {
      name: "to an allowed origin, although it is private",
      url: "http://10.0.0.1:8000/v1",
      lookups: [],
    },
    {
      name: "to loopback if all its ports are allowed",
      url: "http://127.0.0.1:9999/v1",
      lookups: [],
    },
  ])("$name", async ({ url, lookups }) => {
    const allowedOrigins = ["http://10.0.0.1:8000", "http://127.0.0.1:*"];
    const result = await sendThroughGuard(url, {
      allowedOrigins,
      names: { "llm.example.org": ["93.184.215.14", "2606:4700::1111"] },
    });
    expect([result.sent.map((request) => request.url), result.lookups]).toEqual([[url], lookups]);
  });

  it.each([301, 302, 303, 307, 308])(
    "D6 only once: a redirect with status %i is returned and not followed",
    async (status) => {
      const response = new Response(null, {
        status,
        headers: { location: "http://169.254.169.254/" },
      });
      const { outcome, sent } = await sendThroughGuard("https://api.openai.com/v1", { response });
      expect([outcome, sent.map(({ url, redirect }) => [url, redirect])]).toEqual([
        response,
        [["https://api.openai.com/v1", "manual"]],
      ]);
    },
  );
});

describe("a guard with a probe (A2)", () => {
  function guardWithProbe(isReachable: boolean) {
    const sent: string[] = [];
    const lookups: string[] = [];
    const guard = addressGuard({
      allowedOrigins: [],
      trustedOrigins: new Set(["https://api.openai.com"]),
      resolve: async () => ["10.0.0.1"],
      probe: async ({ origin }) => {
        lookups.push(origin);
        return isReachable;
      },
    });
    const send = guardedFetch(guard, async (input) => {
      sent.push(String(input));
      return new Response("ok");
    });
    return { send, sent, lookups };
  }

  it("sends no request to an unreachable origin; the error contains the host", async () => {
    const { send, sent } = guardWithProbe(false);
    await expect(send("https://api.openai.com/v1")).rejects.toEqual(
      new UnreachableOriginError("api.openai.com"),
    );
    expect(sent).toEqual([]);
  });

  it("sends requests to a reachable origin", async () => {
    const { send, sent, lookups } = guardWithProbe(true);
    await send("https://api.openai.com/v1");
    expect([sent, lookups]).toEqual([["https://api.openai.com/v1"], ["https://api.openai.com"]]);
  });

  it.each(["https://127.0.0.1", "http://api.openai.com", "https://inside.example.org"])(
    "does not probe %s, which the guard refuses",
    async (url) => {
      const { send, lookups } = guardWithProbe(true);
      await expect(send(url)).rejects.toBeInstanceOf(AddressRefusedError);
      expect(lookups).toEqual([]);
    },
  );
});
