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

/** The response to a request of this URL, and all requests that were sent. */
async function ask(
  url: string,
  { names = {}, answer = new Response("ok"), ...rules }: Partial<OutgoingRules> & Rig = {},
) {
  const sent: { url: string; redirect: string | undefined; headers: Headers }[] = [];
  const asked: string[] = [];
  const guard = addressGuard({
    allowedOrigins: [],
    trustedOrigins: new Set(["https://api.openai.com"]),
    ...rules,
    resolve: async (name) => {
      asked.push(name);
      return names[name] ?? [];
    },
  });
  const network: typeof fetch = async (input, init) => {
    sent.push({
      url: String(input),
      redirect: init?.redirect,
      headers: new Headers(init?.headers),
    });
    return answer;
  };
  const send = guardedFetch(guard, markedFetch(network));
  const outcome = await send(url, { headers: { authorization: "Bearer secret" } }).catch(
    (error: unknown) => error,
  );
  return { outcome, sent, asked };
}
type Rig = { names?: Record<string, string[]>; answer?: Response };

/** D1 to D9 of the bad inputs: [what it is, addresses]. */
const REFUSED: readonly (readonly [string, readonly string[]])[] = [
  [
    "D1 this machine",
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
    "D2 this machine in other numbers",
    ["https://2130706433/", "https://0x7f000001/", "https://0177.0.0.1/", "https://127.1/"],
  ],
  [
    "D3 this machine or a private network in IPv6",
    [
      "https://[::ffff:127.0.0.1]/",
      "https://[::ffff:7f00:1]/",
      "https://[64:ff9b::7f00:1]/",
      "https://[fd00::1]/",
    ],
  ],
  [
    "D4 private networks and metadata",
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
    "D12 metadata that a server names",
    ["http://169.254.169.254/.well-known/oauth-protected-resource"],
  ],
  ["a name or password in the address", ["https://user:secret@example.org/"]],
  ["an address without encryption", ["http://example.org/"]],
];

describe("refused before anything is sent", () => {
  it.each(REFUSED.flatMap(([name, urls]) => urls.map((url) => ({ name, url }))))(
    "$name: $url",
    async ({ url }) => {
      const { outcome, sent, asked } = await ask(url, {
        names: { "example.org": ["93.184.215.14"] },
      });
      expect(outcome).toBeInstanceOf(AddressRefusedError);
      expect([sent, asked]).toEqual([[], []]);
    },
  );

  it.each([
    { name: "a private address", addresses: ["127.0.0.1"] },
    { name: "a private address beside a public one", addresses: ["93.184.215.14", "10.0.0.1"] },
    { name: "a private IPv6 address", addresses: ["fd00::1"] },
    { name: "an IPv4 address in IPv6", addresses: ["::ffff:169.254.169.254"] },
    { name: "an invalid address", addresses: ["internal.example.org"] },
  ])("D5 a public name that resolves to $name", async ({ addresses }) => {
    const { outcome, sent } = await ask("https://rebind.example.org/v1", {
      names: { "rebind.example.org": addresses },
    });
    expect([outcome, sent]).toEqual([expect.any(AddressRefusedError), []]);
  });

  it("a name without an owner fails like a network error", async () => {
    const { outcome, sent } = await ask("https://nobody.example.org/v1");
    expect([String(outcome), sent]).toEqual([expect.stringContaining("DNS lookup failed"), []]);
    expect(outcome).not.toBeInstanceOf(AddressRefusedError);
  });
});

it("a name whose lookup fails is not refused, and nothing is sent", async () => {
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

describe("sent", () => {
  it.each([
    {
      name: "to a public name, after a look at its addresses",
      url: "https://llm.example.org/v1",
      asked: ["llm.example.org"],
    },
    {
      name: "to a well-known provider without a look",
      url: "https://api.openai.com/v1",
      asked: [],
    },
    { name: "to a public address, which has no name", url: "https://8.8.8.8/v1", asked: [] },
    { name: "to an allowed origin of any kind", url: "http://10.0.0.1:8000/v1", asked: [] },
    {
      name: "to this machine, if its ports are allowed",
      url: "http://127.0.0.1:9999/v1",
      asked: [],
    },
  ])("$name", async ({ url, asked }) => {
    const allowedOrigins = ["http://10.0.0.1:8000", "http://127.0.0.1:*"];
    const result = await ask(url, {
      allowedOrigins,
      names: { "llm.example.org": ["93.184.215.14", "2606:4700::1111"] },
    });
    expect([result.sent.map((one) => one.url), result.asked]).toEqual([[url], asked]);
  });

  it.each([301, 302, 303, 307, 308])(
    "D6 once: a redirect with status %i is returned, not followed",
    async (status) => {
      const answer = new Response(null, {
        status,
        headers: { location: "http://169.254.169.254/" },
      });
      const { outcome, sent } = await ask("https://api.openai.com/v1", { answer });
      expect([outcome, sent.map(({ url, redirect }) => [url, redirect])]).toEqual([
        answer,
        [["https://api.openai.com/v1", "manual"]],
      ]);
    },
  );
});

describe("with a probe of origins (A2)", () => {
  function probed(isThere: boolean) {
    const sent: string[] = [];
    const asked: string[] = [];
    const guard = addressGuard({
      allowedOrigins: [],
      trustedOrigins: new Set(["https://api.openai.com"]),
      resolve: async () => ["10.0.0.1"],
      probe: async ({ origin }) => {
        asked.push(origin);
        return isThere;
      },
    });
    const send = guardedFetch(guard, async (input) => {
      sent.push(String(input));
      return new Response("ok");
    });
    return { send, sent, asked };
  }

  it("sends nothing to an origin that is not reached, and names its host", async () => {
    const { send, sent } = probed(false);
    await expect(send("https://api.openai.com/v1")).rejects.toEqual(
      new UnreachableOriginError("api.openai.com"),
    );
    expect(sent).toEqual([]);
  });

  it("sends requests to an origin that is reached", async () => {
    const { send, sent, asked } = probed(true);
    await send("https://api.openai.com/v1");
    expect([sent, asked]).toEqual([["https://api.openai.com/v1"], ["https://api.openai.com"]]);
  });

  it.each(["https://127.0.0.1", "http://api.openai.com", "https://inside.example.org"])(
    "does not probe %s, which the guard refuses",
    async (url) => {
      const { send, asked } = probed(true);
      await expect(send(url)).rejects.toBeInstanceOf(AddressRefusedError);
      expect(asked).toEqual([]);
    },
  );
});
