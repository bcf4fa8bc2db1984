import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { packTar } from "modern-tar";
import { describe, expect, it } from "vitest";
import { zipSync } from "fflate";
import { contextServices } from "../../../durable-objects/shared/context-services";
import { storageOf, storedBySession } from "../../../d1/stored-bytes";
import { READABLE_FOR_MS, pruneVersions } from "../../../src/uploads/pruning";
import { sweepUploads } from "../../../src/uploads/erase-uploads";
import type { ContextUpload } from "../../../src/protocol/api/contexts";
import { sessionName } from "../../../src/tenancy/principal";
import { hashOf } from "../../../src/workspace/snapshot";
import { teamOf } from "../../durable-objects/session/session-client";
import { ask, askWith, makeKey } from "../keyed-client";

// M13: the service stores one number for the stored bytes of a tenant. It is correct after each
// change, and its limit is checked before a write.
const storedBytesOf = async (tenant: string) => (await storageOf(env, tenant)).storedBytes;
const setLimit = (tenant: string, bytes: number | null) =>
  env.DB.prepare("INSERT OR REPLACE INTO tenants (id, stored_bytes) VALUES (?, ?)")
    .bind(tenant, bytes)
    .run();
const objectsOf = async (tenant: string, subfolder = "") =>
  (await env.BUCKET.list({ prefix: `tenants/${tenant}/${subfolder}` })).objects;
const sizeOf = async (tenant: string, subfolder = "") =>
  (await objectsOf(tenant, subfolder)).reduce((sum, { size }) => sum + size, 0);
const put = (key: string, path: string, type: string, body: BodyInit) =>
  ask(path, {
    method: "PUT",
    headers: { authorization: `Bearer ${key}`, "content-type": type },
    body,
  });
const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ code?: string }>()).code,
];

/** A unique file of this many bytes. */
const fileOf = async (bytes: number) => {
  const content = new Uint8Array(bytes);
  // `getRandomValues` accepts at most 65,536 bytes.
  for (let start = 0; start < bytes; start += 60_000)
    crypto.getRandomValues(content.subarray(start, start + 60_000));
  return { content, sha256: await hashOf(content), size: bytes };
};
const push = async (
  key: string,
  name: string,
  files: { path: string; content: Uint8Array; sha256: string; size: number }[],
) => {
  const manifest = JSON.stringify({
    files: files.map(({ path, sha256, size }) => ({ path, sha256, size })),
  });
  const started = await put(key, `/api/contexts/${name}`, "application/json", manifest);
  if (started.status !== 202) return started;
  const { links, missing } = await started.json<ContextUpload>();
  const [blobs = "", query = ""] = links.blobs.split("?");
  for (const { sha256, content } of files) {
    if (missing.includes(sha256))
      await put(key, `${blobs}/${sha256}?${query}`, "application/octet-stream", content.slice());
  }
  return put(key, `/api/contexts/${name}`, "application/json", manifest);
};

describe("the stored bytes of a tenant (M13)", () => {
  it("equal the bytes in R2 after uploads by manifest, tar and zip, after a new version, pruning and erasing", async () => {
    const { key } = await makeKey("counted");
    const [kept, changed, next] = [
      await fileOf(70_000),
      await fileOf(90_000),
      await fileOf(100_000),
    ];
    expect(
      (
        await push(key, "site", [
          { path: "a", ...kept },
          { path: "b", ...changed },
        ])
      ).status,
    ).toBe(201);
    expect(await storedBytesOf("counted")).toBe(await sizeOf("counted"));
    await push(key, "site", [
      { path: "a", ...kept },
      { path: "b", ...next },
    ]);
    expect(await storedBytesOf("counted")).toBe(await sizeOf("counted"));
    const tar = await packTar([
      { header: { name: "t", size: 5_000 }, body: (await fileOf(5_000)).content },
    ]);
    await put(key, "/api/contexts/tar", "application/x-tar", tar.slice());
    await put(
      key,
      "/api/contexts/zip",
      "application/zip",
      zipSync({ z: (await fileOf(6_000)).content }).slice(),
    );
    expect(await storedBytesOf("counted")).toBe(await sizeOf("counted"));

    const { prune } = contextServices(env);
    const later = Date.now() + READABLE_FOR_MS + 1_000;
    await pruneVersions(prune, later);
    await pruneVersions(prune, later + 2 * 60 * 60 * 1_000);
    expect(await storedBytesOf("counted")).toBe(await sizeOf("counted"));
    expect(await sizeOf("counted")).toBeLessThan(70_000 + 100_000 + 5_000 + 6_000 + 3_000);
    for (const name of ["site", "tar", "zip"])
      await askWith(key, `/api/contexts/${name}`, { method: "DELETE" });
    expect([await storedBytesOf("counted"), await sizeOf("counted")]).toEqual([0, 0]);
  });

  it("include the declared bytes of an open upload until the upload expires", async () => {
    const { key } = await makeKey("opened");
    const { sha256 } = await fileOf(10);
    const manifest = JSON.stringify({ files: [{ path: "a", sha256, size: 3_000_000 }] });
    expect((await put(key, "/api/contexts/big", "application/json", manifest)).status).toBe(202);
    expect(await storedBytesOf("opened")).toBeGreaterThan(3_000_000);
    await sweepUploads(contextServices(env).store, Date.now() + 2 * 24 * 60 * 60 * 1_000);
    expect(await storedBytesOf("opened")).toBe(0);
  });

  it("never exceed their limit: an upload is refused with 507, and nothing of it is stored", async () => {
    const { key } = await makeKey("limited");
    await setLimit("limited", 200_000);
    const file = async (bytes: number) => [{ path: "a", ...(await fileOf(bytes)) }];
    expect((await push(key, "one", await file(150_000))).status).toBe(201);
    const before = await objectsOf("limited");
    expect(await codeOf(await push(key, "two", await file(60_000)))).toEqual([
      507,
      "storage_exceeded",
    ]);
    const tar = await packTar([
      { header: { name: "t", size: 60_000 }, body: (await fileOf(60_000)).content },
    ]);
    expect(
      await codeOf(await put(key, "/api/contexts/tar", "application/x-tar", tar.slice())),
    ).toEqual([507, "storage_exceeded"]);
    const zip = zipSync({ z: (await fileOf(60_000)).content }, { level: 0 });
    expect(
      await codeOf(await put(key, "/api/contexts/zip", "application/zip", zip.slice())),
    ).toEqual([507, "storage_exceeded"]);
    expect((await objectsOf("limited")).map(({ key: name }) => name)).toEqual(
      before.map(({ key: name }) => name),
    );
    const rows = env.DB.prepare(
      "SELECT count(*) AS n FROM context_versions WHERE tenant = 'limited'",
    );
    expect([await rows.first("n"), await storedBytesOf("limited")]).toEqual([
      1,
      await sizeOf("limited"),
    ]);

    const results = await Promise.all([
      push(key, "x", await file(40_000)),
      push(key, "y", await file(40_000)),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual([201, 507]);
    await askWith(key, "/api/contexts/one", { method: "DELETE" });
    expect((await push(key, "two", await file(60_000))).status).toBe(201);
  });

  it("include the log and files of a session from the end of its turn until it is erased", async () => {
    const { key } = await makeKey("running");
    const body = { question: "What is six times seven?", config: teamOf(["quick"]) };
    const { session_id: id } = await (
      await askWith(key, "/api/runs", { method: "POST", body })
    ).json<{ session_id: string }>();
    await (await askWith(key, `/api/sessions/${id}/turns/1/events`)).text();
    await expect.poll(() => storedBytesOf("running")).toBeGreaterThan(0);
    const stub = env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "running", id)));
    const sessionBytes = await runInDurableObject(stub, (_, { storage }) =>
      storedBySession(storage.sql),
    );
    expect(await storedBytesOf("running")).toBe(sessionBytes);
    await setLimit("running", 1);
    const startNextTurn = () =>
      askWith(key, `/api/sessions/${id}/turns`, {
        method: "POST",
        body: { question: "And seven?" },
      });
    expect(await codeOf(await startNextTurn())).toEqual([507, "storage_exceeded"]);
    const starts = env.DB.prepare("SELECT count(*) AS n FROM sessions WHERE tenant = 'running'");
    const before = await starts.first("n");
    expect(await codeOf(await askWith(key, "/api/runs", { method: "POST", body }))).toEqual([
      507,
      "storage_exceeded",
    ]);
    expect(await starts.first("n")).toBe(before);
    await askWith(key, `/api/sessions/${id}`, { method: "DELETE" });
    expect(await storedBytesOf("running")).toBe(0);
    expect((await askWith(key, "/api/runs", { method: "POST", body })).status).toBe(202);
  });

  it("have a limit that refuses a question with too large attachments before these are stored", async () => {
    const { key } = await makeKey("attaching");
    await setLimit("attaching", 1_000);
    const text = Buffer.from("x".repeat(2_000)).toString("base64");
    const question = [
      { type: "text", text: "What is this?" },
      { type: "file", data: text, name: "a.txt" },
    ];
    const config = teamOf(["quick"]);
    const refused = await askWith(key, "/api/runs", { method: "POST", body: { question, config } });
    expect(await codeOf(refused)).toEqual([507, "storage_exceeded"]);
    expect(await objectsOf("attaching")).toEqual([]);
  });

  it("have the deployment's limit, or no limit, if D1 has no limit for the tenant", async () => {
    const limitWith = async (TENANT_STORED_BYTES: string | undefined, tenant = "anyone") => {
      const { limitBytes } = await storageOf(
        { DB: env.DB, ...(TENANT_STORED_BYTES !== undefined && { TENANT_STORED_BYTES }) },
        tenant,
      );
      return limitBytes;
    };
    expect([
      await limitWith(undefined),
      await limitWith(""),
      await limitWith("5"),
      await limitWith("0"),
    ]).toEqual([10_000_000_000, 10_000_000_000, 5, null]);
    await setLimit("free", 0);
    expect(await limitWith("5", "free")).toBeNull();
  });
});
