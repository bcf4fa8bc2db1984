import { expect, it } from "vitest";
import { resolverOverHttps } from "../../src/outgoing/names";

type Record = { type: number; data: string; TTL?: number };

function resolver(records: { A?: Record[]; AAAA?: Record[] }, { status = 0, http = 200 } = {}) {
  const queries: string[] = [];
  const clock = { now: 0 };
  const resolveOver = resolverOverHttps({ now: () => clock.now });
  const resolve = resolveOver(async (input, init) => {
    const { origin, searchParams } = new URL(String(input));
    queries.push(
      `${origin} ${searchParams.get("name")} ${searchParams.get("type")} ${new Headers(init?.headers).get("accept")}`,
    );
    const type = searchParams.get("type") === "A" ? "A" : "AAAA";
    return Response.json({ Status: status, Answer: records[type] }, { status: http });
  });
  return { resolve: (name: string) => resolve(name, null), queries, clock };
}

it("the resolver queries IPv4 and IPv6 addresses, and does not return aliases", async () => {
  const { resolve, queries } = resolver({
    A: [
      { type: 5, data: "alias.example.org." },
      { type: 1, data: "93.184.215.14", TTL: 60 },
    ],
    AAAA: [{ type: 28, data: "2606:4700::1111", TTL: 60 }],
  });
  expect(await resolve("example.org")).toEqual(["93.184.215.14", "2606:4700::1111"]);
  expect(queries).toEqual(
    ["A", "AAAA"].map(
      (type) => `https://cloudflare-dns.com example.org ${type} application/dns-json`,
    ),
  );
});

it.each([
  { name: "half a minute if its TTL is shorter", ttl: 1, ms: 30_000 },
  { name: "its TTL of a minute", ttl: 60, ms: 60_000 },
  { name: "five minutes if its TTL is a day", ttl: 86_400, ms: 300_000 },
])("the resolver caches an answer for $name", async ({ ttl, ms }) => {
  const { resolve, queries, clock } = resolver({
    A: [{ type: 1, data: "93.184.215.14", TTL: ttl }],
  });
  await resolve("example.org");
  clock.now = ms - 1;
  await resolve("example.org");
  expect(queries.length).toBe(2);
  clock.now = ms;
  await resolve("example.org");
  expect(queries.length).toBe(4);
});

it("the resolver returns no addresses for a name without addresses and for an unknown name", async () => {
  expect(await resolver({}).resolve("example.org")).toEqual([]);
  expect(await resolver({}, { status: 3 }).resolve("example.org")).toEqual([]);
});

it.each([
  { name: "the DNS server fails", options: { status: 2 } },
  { name: "the response has an error status", options: { http: 503 } },
  { name: "the response is a redirect", options: { http: 302 } },
])("the resolver throws, and does not return an empty list, if $name", async ({ options }) => {
  await expect(
    resolver({ A: [{ type: 1, data: "1.1.1.1" }] }, options).resolve("example.org"),
  ).rejects.toThrow("looked up");
});

it("the resolver caches at most 500 names", async () => {
  const { resolve, queries } = resolver({ A: [{ type: 1, data: "93.184.215.14", TTL: 60 }] });
  for (let index = 0; index <= 500; index += 1) await resolve(`n${index}.example.org`);
  const before = queries.length;
  await resolve("n500.example.org");
  expect(queries.length).toBe(before);
  await resolve("n0.example.org");
  expect(queries.length).toBe(before + 2);
});

it("the resolver has at most one open connection for a lookup", async () => {
  let [open, maxOpen] = [0, 0];
  const resolve = resolverOverHttps({ now: () => 0 })(async () => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    await new Promise((resolveWait) => setTimeout(resolveWait, 1));
    open -= 1;
    return Response.json({ Status: 0, Answer: [{ type: 1, data: "93.184.215.14", TTL: 60 }] });
  });
  await resolve("example.org", null);
  expect(maxOpen).toBe(1);
});

it("lookups over different connections share one cache", async () => {
  const queries: string[] = [];
  const resolveOver = resolverOverHttps({ now: () => 0 });
  const over = (name: string) =>
    resolveOver(async () => {
      queries.push(name);
      return Response.json({ Status: 0, Answer: [{ type: 1, data: "93.184.215.14", TTL: 60 }] });
    });
  await over("first")("example.org", null);
  await over("second")("example.org", null);
  expect(queries).toEqual(["first", "first"]);
});
