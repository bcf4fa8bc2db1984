import { zipSync } from "fflate";
import { packTar, type TarEntry } from "modern-tar";
import { beforeAll, describe, expect, it } from "vitest";
import type { Context } from "../../../src/protocol/api/contexts";
import {
  blobsTar,
  codeOf,
  fileOf,
  get,
  insertOwner,
  sendManifest,
  objectKeys,
  owner,
  pushFiles,
  send,
  TAR,
  text,
  uploadOf,
} from "./context-client";
import { ask } from "../keyed-client";

beforeAll(insertOwner);

describe("a context that is uploaded by its manifest", () => {
  it("receives its hashes, then only the missing blobs, and then becomes a version", async () => {
    const files = [
      await fileOf("a.txt", "one"),
      await fileOf("src/b.txt", "two"),
      await fileOf("copy.txt", "one"),
    ];
    const response = await sendManifest("site", files);
    const first = await uploadOf(response);
    expect([
      response.status,
      first.status,
      first.files,
      first.bytes,
      new Set(first.missing),
    ]).toEqual([202, "uploading", 3, 9, new Set([files[0]?.sha256, files[1]?.sha256])]);
    expect(await codeOf(await send("GET", "/api/contexts/site"))).toEqual([
      404,
      "context_not_found",
    ]);

    const [blobs = "", query = ""] = first.links.blobs.split("?");
    const sendOne = () =>
      send("PUT", `${blobs}/${files[0]?.sha256}?${query}`, {
        type: "application/octet-stream",
        body: "one",
      });
    expect([(await sendOne()).status, (await sendOne()).status]).toEqual([200, 200]);
    const resumed = await uploadOf(await sendManifest("site", files));
    expect([resumed.version, resumed.missing]).toEqual([first.version, [files[1]?.sha256]]);
    expect(
      (await send("PUT", first.links.blobs, { type: TAR, body: await blobsTar(["two"]) })).status,
    ).toBe(200);

    const committed = await sendManifest("site", files);
    expect([committed.status, (await uploadOf(committed)).status]).toEqual([201, "committed"]);
    const repeated = await sendManifest("site", files, { base_version: null });
    expect([repeated.status, await uploadOf(repeated)]).toMatchObject([
      200,
      { status: "unchanged", version: first.version },
    ]);
    const shown = await get<Context>("/api/contexts/site");
    expect(shown.tree.map(({ path }) => path)).toEqual(["a.txt", "copy.txt", "src/b.txt"]);
  });

  it("needs only new blobs for the next version, and does not change the older version", async () => {
    const first = await pushFiles("next", { "a.txt": "alpha", "b.txt": "beta" });
    const files = [
      await fileOf("a.txt", "alpha"),
      await fileOf("b.txt", "changed"),
      await fileOf("c.txt", "beta"),
    ];
    const nextUpload = await uploadOf(await sendManifest("next", files, { base_version: first }));
    expect(nextUpload.missing).toEqual([files[1]?.sha256]);
    const second = await pushFiles("next", {
      "a.txt": "alpha",
      "b.txt": "changed",
      "c.txt": "beta",
    });
    const fileAt = async (path: string, version: string) =>
      (await send("GET", `/api/contexts/next/files/${path}?version=${version}`)).text();
    expect([
      await fileAt("b.txt", first),
      await fileAt("b.txt", second),
      await fileAt("c.txt", second),
    ]).toEqual(["beta", "changed", "beta"]);
  });

  it("refuses an upload whose base version is no longer the newest", async () => {
    const first = await pushFiles("race", { "a.txt": "1" });
    const second = await pushFiles("race", { "a.txt": "2" });
    const files = [await fileOf("a.txt", "3")];
    expect(await codeOf(await sendManifest("race", files, { base_version: first }))).toEqual([
      409,
      "context_changed",
    ]);
    expect(await codeOf(await sendManifest("race", files, { base_version: null }))).toEqual([
      409,
      "context_changed",
    ]);
    expect((await sendManifest("race", files, { base_version: second })).status).toBe(202);
  });

  it("starts again if a newer version was committed, so that ids of versions sort by time", async () => {
    const base = await pushFiles("resumed", { a: "1" });
    const files = [await fileOf("a", "interrupted")];
    const open = await uploadOf(await sendManifest("resumed", files, { base_version: base }));
    const newer = await pushFiles("resumed", { a: "2" }, { base_version: base });
    const again = await uploadOf(await sendManifest("resumed", files, { base_version: newer }));
    expect([open.status, again.status]).toEqual(["uploading", "uploading"]);
    expect([base, newer, again.version].toSorted()).toEqual([base, newer, again.version]);
    const blob = again.links.blobs.replace("?", `/${files[0]?.sha256}?`);
    await send("PUT", blob, { type: "application/octet-stream", body: "interrupted" });
    const done = await uploadOf(await sendManifest("resumed", files, { base_version: newer }));
    expect([done.status, done.version]).toEqual(["committed", again.version]);
  });

  it("becomes one version if two clients upload the same files concurrently", async () => {
    const files = [await fileOf("a.txt", "same")];
    const started = await Promise.all(
      [sendManifest("twins", files), sendManifest("twins", files)].map(async (response) =>
        uploadOf(await response),
      ),
    );
    expect(new Set(started.map(({ version }) => version)).size).toBe(1);
    const tar = await blobsTar(["same"]);
    await Promise.all(
      started.map(({ links }) => send("PUT", links.blobs, { type: TAR, body: tar })),
    );
    const ended = await Promise.all(
      [sendManifest("twins", files), sendManifest("twins", files)].map(async (response) =>
        uploadOf(await response),
      ),
    );
    expect(new Set(ended.map(({ version }) => version))).toEqual(new Set([started[0]?.version]));
  });

  it.each([
    { name: "the bytes of another hash", body: "xxx" },
    { name: "too few bytes", body: "on" },
    { name: "too many bytes", body: "one and more" },
  ])("accepts no blob with $name", async ({ body }) => {
    const file = await fileOf("a.txt", "one");
    const { links } = await uploadOf(await sendManifest("lies", [file]));
    const path = links.blobs.replace("?", `/${file.sha256}?`);
    expect(
      await codeOf(await send("PUT", path, { type: "application/octet-stream", body })),
    ).toEqual([422, "blob_mismatch"]);
    const entry = { header: { name: file.sha256, size: body.length }, body };
    expect(
      await codeOf(await send("PUT", links.blobs, { type: TAR, body: await packTar([entry]) })),
    ).toEqual([422, "blob_mismatch"]);
    expect((await uploadOf(await sendManifest("lies", [file]))).missing).toEqual([file.sha256]);
  });

  it("accepts no blob that its manifest does not list, nor a blob for a committed version or another context", async () => {
    const { links } = await uploadOf(await sendManifest("strict", [await fileOf("a.txt", "one")]));
    expect(
      await codeOf(await send("PUT", links.blobs, { type: TAR, body: await blobsTar(["two"]) })),
    ).toEqual([422, "blob_mismatch"]);
    const other = links.blobs.replace("strict", "other");
    expect(
      await codeOf(await send("PUT", other, { type: TAR, body: await blobsTar(["one"]) })),
    ).toEqual([404, "upload_not_found"]);
    const version = await pushFiles("strict", { "a.txt": "one" });
    const committedPath = `/api/contexts/strict/blobs?version=${version}`;
    expect(
      await codeOf(await send("PUT", committedPath, { type: TAR, body: await blobsTar(["one"]) })),
    ).toEqual([404, "upload_not_found"]);
  });

  const HASH = "0".repeat(64);
  it.each([
    {
      name: "a path outside of the context",
      files: [{ path: "../a", sha256: HASH, size: 1 }],
      code: "path_invalid",
    },
    {
      name: "an absolute path",
      files: [{ path: "/etc/passwd", sha256: HASH, size: 1 }],
      code: "path_invalid",
    },
    {
      name: "the path of a git hook",
      files: [{ path: ".git/hooks/x", sha256: HASH, size: 1 }],
      code: "path_invalid",
    },
    {
      name: "a path with a NUL character",
      files: [{ path: "a\0b", sha256: HASH, size: 1 }],
      code: "path_invalid",
    },
    {
      name: "two paths that are equal in Unicode normal form C",
      files: [
        { path: "caf\u00e9", sha256: HASH, size: 1 },
        { path: "cafe\u0301", sha256: HASH, size: 1 },
      ],
      code: "path_invalid",
    },
    {
      name: "a file at the path of a directory",
      files: [
        { path: "a/b", sha256: HASH, size: 1 },
        { path: "a", sha256: HASH, size: 1 },
      ],
      code: "path_invalid",
    },
    {
      name: "one hash with two sizes",
      files: [
        { path: "a", sha256: HASH, size: 1 },
        { path: "b", sha256: HASH, size: 2 },
      ],
      code: "path_invalid",
    },
    {
      name: "a file that is too large",
      files: [{ path: "a", sha256: HASH, size: 16_000_001 }],
      code: "context_too_large",
    },
    {
      name: "too many bytes in total",
      files: Array.from({ length: 7 }, (_, nth) => ({
        path: `${nth}`,
        sha256: String(nth).repeat(64),
        size: 15_000_000,
      })),
      code: "context_too_large",
    },
    {
      name: "an invalid hash",
      files: [{ path: "a", sha256: "ABC", size: 1 }],
      code: "request_invalid",
    },
    {
      name: "too many files",
      files: Array.from({ length: 10_001 }, (_, nth) => ({
        path: `${nth}`,
        sha256: HASH,
        size: 1,
      })),
      code: "request_invalid",
    },
  ])("accepts no manifest with $name ($code)", async ({ files, code }) => {
    expect((await codeOf(await sendManifest("bad", files)))[1]).toBe(code);
    expect(await codeOf(await send("GET", "/api/contexts/bad"))).toEqual([
      404,
      "context_not_found",
    ]);
  });
});

describe("a context that is uploaded as an archive", () => {
  const entries: TarEntry[] = [
    { header: { name: "./src/", size: 0, type: "directory" } },
    { header: { name: "./src/run.sh", size: 4, mode: 0o755 }, body: "echo" },
    { header: { name: "./read.me", size: 2 }, body: "hi" },
    { header: { name: "./link", size: 0, type: "symlink", linkname: "/etc/passwd" } },
    { header: { name: "./hard", size: 0, type: "link", linkname: "read.me" } },
    { header: { name: "./tty", size: 0, type: "character-device" } },
    { header: { name: "./root", size: 1, mode: 0o4755 }, body: "x" },
  ];
  const skipped = [
    { path: "./link", reason: "symlink" },
    { path: "./hard", reason: "hard link" },
    { path: "./tty", reason: "device" },
    { path: "./root", reason: "setuid" },
  ];

  it("E10 has the files of a tar, without links, devices and setuid files, which are listed", async () => {
    const response = await send("PUT", "/api/contexts/tarred", {
      type: TAR,
      body: await packTar(entries),
    });
    expect([response.status, await uploadOf(response)]).toMatchObject([
      201,
      { status: "committed", files: 2, bytes: 6, skipped },
    ]);
    expect((await get<Context>("/api/contexts/tarred")).tree).toEqual([
      await fileOf("read.me", "hi"),
      { ...(await fileOf("src/run.sh", "echo")), executable: true },
    ]);
  });

  it("E10 lists a thousand skipped entries, and returns the number of the others", async () => {
    const links = [...Array(1_002).keys()].map(
      (n): TarEntry => ({ header: { name: `${n}`, size: 0, type: "symlink" } }),
    );
    const committed = await uploadOf(
      await send("PUT", "/api/contexts/linked", { type: TAR, body: await packTar(links) }),
    );
    expect([committed.status, committed.skipped.length, committed.skipped_more]).toEqual([
      "committed",
      1_000,
      2,
    ]);
  });

  it("does not change if a gzipped tar with the same files is uploaded", async () => {
    const packed = new Response(await packTar(entries)).body?.pipeThrough(
      new CompressionStream("gzip"),
    );
    const body = await new Response(packed).arrayBuffer();
    const before = await objectKeys();
    const response = await send("PUT", "/api/contexts/tarred", { type: "application/gzip", body });
    expect([response.status, (await uploadOf(response)).status]).toEqual([200, "unchanged"]);
    expect(await objectKeys()).toEqual(before);
  });

  it("has the files of a zip", async () => {
    const body = zipSync({
      "src/run.sh": text("echo"),
      "big.bin": new Uint8Array(50_000).fill(7),
      "empty/": new Uint8Array(),
    });
    const response = await send("PUT", "/api/contexts/zipped", { type: "application/zip", body });
    expect([response.status, await uploadOf(response)]).toMatchObject([
      201,
      { status: "committed", files: 2, bytes: 50_004 },
    ]);
    expect((await objectKeys()).filter((key) => key.includes("/upload/"))).toEqual([]);
  });

  it.each([
    {
      name: "has a path outside of the context",
      body: () => packTar([{ header: { name: "../x", size: 1 }, body: "x" }]),
      code: "path_invalid",
    },
    {
      name: "has a name twice",
      body: () => packTar([1, 2].map(() => ({ header: { name: "x", size: 1 }, body: "x" }))),
      code: "path_invalid",
    },
    {
      name: "is not an archive",
      body: async () => text("hello".repeat(1_000)),
      code: "archive_invalid",
    },
    {
      name: "is cut off",
      body: async () => (await packTar(entries)).slice(0, 1_200),
      code: "archive_invalid",
    },
  ])("is refused if the tar $name, and nothing of it stays stored", async ({ body, code }) => {
    const before = await objectKeys();
    const response = await send("PUT", "/api/contexts/broken", { type: TAR, body: await body() });
    expect((await codeOf(response))[1]).toBe(code);
    expect([await objectKeys(), (await send("GET", "/api/contexts/broken")).status]).toEqual([
      before,
      404,
    ]);
  });

  it("E13 is read only up to the limit if the archive never ends, and nothing of it stays stored", async () => {
    const before = await objectKeys();
    const header = (await packTar([{ header: { name: "endless", size: 0 } }])).slice(0, 512);
    let sent = 0;
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(sent === 0 ? header : new Uint8Array(1_000_000));
        sent += 1;
        if (sent > 200) controller.close();
      },
    });
    const response = await send("PUT", "/api/contexts/endless", { type: "application/zip", body });
    expect(await codeOf(response)).toEqual([413, "context_too_large"]);
    expect([sent < 130, await objectKeys()]).toEqual([true, before]);
  }, 120_000);

  it("E13 is not read if its content length is above the limit", async () => {
    const headers = {
      authorization: `Bearer ${owner.key}`,
      "content-type": TAR,
      "content-length": "5000000000",
    };
    const response = await ask("/api/contexts/huge", { method: "PUT", headers, body: "x" });
    expect((await codeOf(response))[0]).toBe(413);
  });

  it("is refused for another content type", async () => {
    const response = await send("PUT", "/api/contexts/odd", {
      type: "application/x-7z-compressed",
      body: "x",
    });
    expect(await codeOf(response)).toEqual([415, "unsupported_media_type"]);
  });
});
