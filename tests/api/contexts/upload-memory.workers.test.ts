import { env } from "cloudflare:workers";
import { zipSync } from "fflate";
import { packTar } from "modern-tar";
import { describe, expect, it } from "vitest";
import { hashOf } from "../../../src/workspace/snapshot";
import type { ContextUpload } from "../../../src/protocol/api/contexts";
import { ask, makeKey } from "../keyed-client";

const [{ key }, other] = [await makeKey("crowd"), await makeKey("another")];
const TAR = "application/x-tar";
const sendAs =
  (key: string) => (path: string, type: string, body: BodyInit, signal?: AbortSignal) =>
    ask(path, {
      method: "PUT",
      headers: { authorization: `Bearer ${key}`, "content-type": type },
      body,
      signal: signal ?? null,
    });
const send = sendAs(key);
const problemOf = async (response: Response) => [
  response.status,
  (await response.json<{ code?: string }>()).code,
  response.headers.get("retry-after"),
];

/** A body that sends its first 100 bytes, and the other bytes after a call of `end`. */
function pausedBody(bytes: Uint8Array) {
  const rest = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(bytes.slice(0, 100));
      await rest.promise;
      controller.enqueue(bytes.slice(100));
      controller.close();
    },
  });
  return { body, end: () => rest.resolve() };
}

/** A body without a content length. */
const bodyWithoutLength = (bytes: Uint8Array) => {
  const { body, end } = pausedBody(bytes);
  end();
  return body;
};

const archive = () => packTar([{ header: { name: "a.txt", size: 5 }, body: "hello" }]);

describe("concurrent uploads", () => {
  it("of one tenant wait for the tenant's half of the memory; above the maximum of waiting uploads one is refused, but another tenant's upload starts at once (M8)", async () => {
    const tar = await archive();
    const hash = await hashOf(new TextEncoder().encode("hello"));
    const manifest = JSON.stringify({ files: [{ path: "a.txt", sha256: hash, size: 5 }] });
    const started = await (
      await send("/api/contexts/blobs", "application/json", manifest)
    ).json<ContextUpload>();
    const [blobs = "", query = ""] = started.links.blobs.split("?");
    const blob = () => send(`${blobs}/${hash}?${query}`, "application/octet-stream", "hello");

    const bodies = [pausedBody(tar)];
    const admitted = bodies.map(({ body }, nth) => send(`/api/contexts/inside-${nth}`, TAR, body));
    // Wait until these uploads have memory before the others arrive.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const waiting = Array.from({ length: 15 }, (_, nth) =>
      send(`/api/contexts/waiting-${nth}`, TAR, bodyWithoutLength(tar)),
    );
    // Wait until these uploads are in the queue. A blob before them would get memory at once.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    waiting.push(blob());
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const refused = [await send("/api/contexts/more", TAR, tar), await blob()];
    expect(await Promise.all(refused.map(problemOf))).toEqual([
      [503, "uploads_busy", "5"],
      [503, "uploads_busy", "5"],
    ]);
    expect((await sendAs(other.key)("/api/contexts/theirs", TAR, tar)).status).toBe(201);
    for (const { end } of bodies) end();
    const statuses = (await Promise.all([...admitted, ...waiting])).map(({ status }) => status);
    expect(statuses).toEqual([...Array(16).fill(201), 200]);
    expect((await send("/api/contexts/more", TAR, tar)).status).toBe(201);
  });

  it("are not blocked by three uploads of another tenant that send nothing (M8)", {
    timeout: 30_000,
  }, async () => {
    const zip = zipSync({ x: new Uint8Array(99) });
    const idle = [1, 2, 3].map((nth) => {
      const client = new AbortController();
      void send(
        `/api/contexts/idle-${nth}`,
        "application/zip",
        pausedBody(zip).body,
        client.signal,
      ).catch(() => null);
      return client;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const otherUpload = await sendAs(other.key)("/api/contexts/beside", "application/zip", zip);
    for (const client of idle) client.abort();
    expect(otherUpload.status).toBe(201);
  });

  it("are not blocked by clients that disconnected", async () => {
    const tar = await archive();
    const clients = [1, 2, 3].map((nth) => {
      const client = new AbortController();
      const response = send(
        `/api/contexts/left-${nth}`,
        TAR,
        pausedBody(tar).body,
        client.signal,
      ).catch(() => null);
      return { client, response };
    });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    for (const { client } of clients) client.abort();
    await Promise.all(clients.map(({ response }) => response));
    expect(
      (await send("/api/contexts/after", "application/zip", zipSync({ x: new Uint8Array(9) })))
        .status,
    ).toBe(201);
  });
});

it("a zip that is stored in several pieces is read unchanged, and no piece stays stored", async () => {
  const noise = new Uint8Array(9_000_000);
  // `getRandomValues` accepts at most 65,536 bytes.
  for (let start = 0; start < noise.byteLength; start += 50_000)
    crypto.getRandomValues(noise.subarray(start, start + 50_000));
  const small = Object.fromEntries(
    Array.from({ length: 20 }, (_, nth) => [`${nth}.txt`, new TextEncoder().encode(`text ${nth}`)]),
  );
  const body = zipSync({ noise, ...small, "z.bin": noise.subarray(0, 3_000_000) });
  expect((await send("/api/contexts/pieces", "application/zip", body)).status).toBe(201);
  const file = async (path: string) =>
    new Uint8Array(
      await (
        await ask(`/api/contexts/pieces/files/${path}`, {
          headers: { authorization: `Bearer ${key}` },
        })
      ).arrayBuffer(),
    );
  expect(await hashOf(await file("noise"))).toBe(await hashOf(noise));
  expect(await hashOf(await file("z.bin"))).toBe(await hashOf(noise.slice(0, 3_000_000)));
  const { objects } = await env.BUCKET.list({ prefix: "tenants/crowd/contexts/" });
  expect(objects.filter(({ key: name }) => name.includes("/upload/"))).toEqual([]);
});
