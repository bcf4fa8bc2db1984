import { expect, it } from "vitest";
import { resolverOverHttps } from "../../src/outgoing/names";

type Record = { type: number; data: string; TTL?: number };

function resolver(records: { A?: Record[]; AAAA?: Record[] }, { status = 0, http = 200 } = {}) {
  const asked: string[] = [];
  const clock = { now: 0 };
  const resolve = resolverOverHttps({
    now: () => clock.now,
    fetch: async (input, init) => {
      const { origin, searchParams } = new URL(String(input));
      asked.push(
        `${origin} ${searchParams.get("name")} ${searchParams.get("type")} ${new Headers(init?.headers).get("accept")}`,
      );
      const type = searchParams.get("type") === "A" ? "A" : "AAAA";
      return Response.json({ Status: status, Answer: records[type] }, { status: http });
    },
  });
  return { resolve: (name: string) => resolve(name, null), asked, clock };
}

it("asks for addresses of both kinds and leaves aliases out", async () => {
  const { resolve, asked } = resolver({
    A: [
      { type: 5, data: "alias.example.org." },
      { type: 1, data: "93.184.215.14", TTL: 60 },
    ],
    AAAA: [{ type: 28, data: "2606:4700::1111", TTL: 60 }],
  });
  expect(await resolve("example.org")).toEqual(["93.184.215.14", "2606:4700::1111"]);
  expect(asked).toEqual(
    ["A", "AAAA"].map(
      (type) => `https://cloudflare-dns.com example.org ${type} application/dns-json`,
    ),
  );
});

it.each([
  { name: "half a minute, if it is valid for less", ttl: 1, ms: 30_000 },
  { name: "as long as it is valid", ttl: 60, ms: 60_000 },
  { name: "five minutes, if it is valid for a day", ttl: 86_400, ms: 300_000 },
])("keeps an answer $name", async ({ ttl, ms }) => {
  const { resolve, asked, clock } = resolver({ A: [{ type: 1, data: "93.184.215.14", TTL: ttl }] });
  await resolve("example.org");
  clock.now = ms - 1;
  await resolve("example.org");
  expect(asked.length).toBe(2);
  clock.now = ms;
  await resolve("example.org");
  expect(asked.length).toBe(4);
});

it("distinguishes a name without addresses from an unknown name", async () => {
  expect(await resolver({}).resolve("example.org")).toEqual([]);
  expect(await resolver({}, { status: 3 }).resolve("example.org")).toEqual([]);
});

it.each([
  { name: "the resolver fails", options: { status: 2 } },
  { name: "it answers with an error", options: { http: 503 } },
  { name: "it redirects", options: { http: 302 } },
])("throws if $name, rather than to say there is nothing private", async ({ options }) => {
  await expect(
    resolver({ A: [{ type: 1, data: "1.1.1.1" }] }, options).resolve("example.org"),
  ).rejects.toThrow("looked up");
});

it("keeps a bounded number of names", async () => {
  const { resolve, asked } = resolver({ A: [{ type: 1, data: "93.184.215.14", TTL: 60 }] });
  for (let nth = 0; nth <= 500; nth += 1) await resolve(`n${nth}.example.org`);
  const before = asked.length;
  await resolve("n500.example.org");
  expect(asked.length).toBe(before);
  await resolve("n0.example.org");
  expect(asked.length).toBe(before + 2);
});

it("never has two connections open for one look", async () => {
  let [open, most] = [0, 0];
  const resolve = resolverOverHttps({
    now: () => 0,
    fetch: async () => {
      open += 1;
      most = Math.max(most, open);
      await new Promise((answered) => setTimeout(answered, 1));
      open -= 1;
      return Response.json({ Status: 0, Answer: [{ type: 1, data: "93.184.215.14", TTL: 60 }] });
    },
  });
  await resolve("example.org", null);
  expect(most).toBe(1);
});
