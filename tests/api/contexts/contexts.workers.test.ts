import { unzipSync } from "fflate";
import { packTar } from "modern-tar";
import { beforeAll, describe, expect, it } from "vitest";
import type { Context, ContextList } from "../../../src/protocol/api/contexts";
import { hashOf } from "../../../src/workspace/snapshot";
import {
  blobsTar,
  codeOf,
  fileOf,
  get,
  insertOwner,
  sendManifest,
  objectKeys,
  pushFiles,
  send,
  TAR,
  text,
  uploadOf,
} from "./context-client";
import { makeKey } from "../keyed-client";
import { sweepAt } from "../scheduled";

beforeAll(insertOwner);

describe("a stored context", () => {
  it("is in a list that is sorted by name and has pages, with its newest version", async () => {
    const reader = await makeKey("pages");
    const put = async (name: string, body: string) =>
      send("PUT", `/api/contexts/${name}`, {
        type: TAR,
        body: await packTar([{ header: { name: "x", size: body.length }, body }]),
        key: reader.key,
      });
    for (const name of ["c", "a", "b"]) await put(name, "old");
    const { version } = await uploadOf(await put("b", "newer"));
    const page = async (query: string) =>
      (await send("GET", `/api/contexts?${query}`, { key: reader.key })).json<ContextList>();
    const first = await page("limit=2");
    expect([first.data.map(({ name }) => name), first.has_more]).toEqual([["a", "b"], true]);
    expect(first.data[1]).toMatchObject({ version, bytes: 5 });
    const second = await page(`limit=2&after=${first.last_id}`);
    expect([second.data.map(({ name }) => name), second.has_more]).toEqual([["c"], false]);
  });

  it("E14 has files that are downloaded as bytes, independent of their type", async () => {
    await pushFiles("pages", { 'sub/"évil" x.html': "<script>alert(1)</script>" });
    const path = "/api/contexts/pages/files/sub/%22%C3%A9vil%22%20x.html";
    const response = await send("GET", path);
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition":
        "attachment; filename=\"__vil__x.html\"; filename*=UTF-8''%22%C3%A9vil%22%20x.html",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    });
    for (const missingPath of ["nothing", "..%2f..%2fx", "sub", "%00"])
      expect(await codeOf(await send("GET", `/api/contexts/pages/files/${missingPath}`))).toEqual([
        404,
        "file_not_found",
      ]);
  });

  it("E14 has files that a browser shows as plain text with inline=1", async () => {
    await pushFiles("shown", { "x.html": "<script>alert(1)</script>" });
    const response = await send("GET", "/api/contexts/shown/files/x.html?inline=1");
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "content-disposition": "inline; filename=\"x.html\"; filename*=UTF-8''x.html",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
    });
    expect(await codeOf(await send("GET", "/api/contexts/shown/files/x.html?inline=2"))).toEqual([
      400,
      "bad_query",
    ]);
  });

  it("is downloaded as a zip with the same bytes each time", async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `dir/${index}.txt`,
        `content ${index}`.repeat(index),
      ]),
    );
    await pushFiles("whole", contents);
    const zip = async () =>
      new Uint8Array(await (await send("GET", "/api/contexts/whole/archive.zip")).arrayBuffer());
    const bytes = await zip();
    const found = Object.entries(unzipSync(bytes)).map(([path, content]) => [
      path,
      new TextDecoder().decode(content),
    ]);
    expect(Object.fromEntries(found)).toEqual(contents);
    expect(await zip()).toEqual(bytes);
  });

  it.each([
    { path: "/api/contexts/UPPER", code: "bad_id" },
    { path: "/api/contexts/whole?version=x", code: "bad_query" },
    { path: "/api/contexts/whole?version=01kb0000000000000000000000", code: "context_not_found" },
    { path: "/api/contexts?after=X", code: "bad_query" },
    { path: "/api/contexts?limit=1000", code: "bad_query" },
  ])("is not returned for $path, but the error $code", async ({ path, code }) => {
    expect((await codeOf(await send("GET", path)))[1]).toBe(code);
  });

  it("is separate from another tenant's context with the same name", async () => {
    const version = await pushFiles("shared", { "a.txt": "mine" });
    const other = await makeKey("neighbour");
    const codeForOther = async (path: string) =>
      codeOf(await send("GET", path, { key: other.key }));
    expect(await codeForOther("/api/contexts/shared")).toEqual([404, "context_not_found"]);
    const otherUpload = await send("PUT", "/api/contexts/shared", {
      type: TAR,
      body: await packTar([{ header: { name: "b", size: 1 }, body: "b" }]),
      key: other.key,
    });
    expect(otherUpload.status).toBe(201);
    expect(await codeForOther(`/api/contexts/shared?version=${version}`)).toEqual([
      404,
      "context_not_found",
    ]);
    const blobs = `/api/contexts/shared/blobs/${await hashOf(text("mine"))}?version=${version}`;
    const type = "application/octet-stream";
    expect(await codeOf(await send("PUT", blobs, { key: other.key, type, body: "mine" }))).toEqual([
      404,
      "upload_not_found",
    ]);
    expect((await get<Context>("/api/contexts/shared")).tree.map(({ path }) => path)).toEqual([
      "a.txt",
    ]);
  });
});

describe("erasing contexts and uploads", () => {
  it("removes all versions and open uploads of a context; a new context of its name starts empty", async () => {
    const version = await pushFiles("gone", { "a.txt": "gone for good" });
    const open = await uploadOf(await sendManifest("gone", [await fileOf("a.txt", "never sent")]));
    const remainingKeys = async () =>
      (await objectKeys()).filter((key) => key.includes(version) || key.includes(open.version));
    expect((await remainingKeys()).length).toBeGreaterThan(2);
    expect((await send("DELETE", "/api/contexts/gone")).status).toBe(204);
    expect([await remainingKeys(), (await send("DELETE", "/api/contexts/gone")).status]).toEqual([
      [],
      404,
    ]);
    expect(
      await codeOf(
        await send("PUT", open.links.blobs, { type: TAR, body: await blobsTar(["never sent"]) }),
      ),
    ).toEqual([404, "upload_not_found"]);
    expect(
      (await uploadOf(await sendManifest("gone", [await fileOf("a.txt", "gone for good")])))
        .missing,
    ).toHaveLength(1);
  });

  it("E13 erases an unfinished upload after a day, and keeps committed versions (H4)", async () => {
    await pushFiles("kept", { "a.txt": "kept" });
    const open = await uploadOf(
      await sendManifest("kept", [
        await fileOf("a.txt", "half"),
        await fileOf("b.txt", "other half"),
      ]),
    );
    await send("PUT", open.links.blobs, { type: TAR, body: await blobsTar(["half"]) });
    const remainingKeys = async () =>
      (await objectKeys()).filter((key) => key.includes(open.version)).length;
    await sweepAt(Date.now() + 23 * 3_600_000);
    expect(await remainingKeys()).toBe(2);
    await sweepAt(Date.now() + 25 * 3_600_000);
    expect(await remainingKeys()).toBe(0);
    expect(await (await send("GET", "/api/contexts/kept/files/a.txt")).text()).toBe("kept");
    const again = await uploadOf(
      await sendManifest("kept", [
        await fileOf("a.txt", "half"),
        await fileOf("b.txt", "other half"),
      ]),
    );
    expect([again.version === open.version, again.missing.length]).toEqual([false, 2]);
  });
});
