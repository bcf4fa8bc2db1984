import { unzipSync } from "fflate";
import { packTar as tarOf } from "modern-tar";
import { beforeAll, describe, expect, it } from "vitest";
import type { Context, ContextList } from "../../../src/protocol/api/contexts";
import { hashOf } from "../../../src/workspace/snapshot";
import {
  blobsTar,
  codeOf,
  fileOf,
  get,
  insertOwner,
  manifest,
  objects,
  pushed,
  send,
  TAR,
  text,
  upload,
} from "./context-client";
import { makeKey } from "../keyed-client";
import { sweepAt } from "../scheduled";

beforeAll(insertOwner);

describe("a stored context", () => {
  it("is listed by name, page by page, each with its newest version", async () => {
    const reader = await makeKey("pages");
    const put = async (name: string, body: string) =>
      send("PUT", `/api/contexts/${name}`, {
        type: TAR,
        body: await tarOf([{ header: { name: "x", size: body.length }, body }]),
        key: reader.key,
      });
    for (const name of ["c", "a", "b"]) await put(name, "old");
    const { version } = await upload(await put("b", "newer"));
    const page = async (query: string) =>
      (await send("GET", `/api/contexts?${query}`, { key: reader.key })).json<ContextList>();
    const first = await page("limit=2");
    expect([first.data.map(({ name }) => name), first.has_more]).toEqual([["a", "b"], true]);
    expect(first.data[1]).toMatchObject({ version, bytes: 5 });
    const second = await page(`limit=2&after=${first.last_id}`);
    expect([second.data.map(({ name }) => name), second.has_more]).toEqual([["c"], false]);
  });

  it("E14 has files that are downloaded as bytes, of every type", async () => {
    await pushed("pages", { 'sub/"évil" x.html': "<script>alert(1)</script>" });
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
    for (const other of ["nothing", "..%2f..%2fx", "sub", "%00"])
      expect(await codeOf(await send("GET", `/api/contexts/pages/files/${other}`))).toEqual([
        404,
        "file_not_found",
      ]);
  });

  it("is downloaded as a zip with the same bytes each time", async () => {
    const contents = Object.fromEntries(
      Array.from({ length: 40 }, (_, nth) => [`dir/${nth}.txt`, `content ${nth}`.repeat(nth)]),
    );
    await pushed("whole", contents);
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
  ])("answers $path with $code", async ({ path, code }) => {
    expect((await codeOf(await send("GET", path)))[1]).toBe(code);
  });

  it("is separate from a context of the same name of another tenant", async () => {
    const version = await pushed("shared", { "a.txt": "mine" });
    const other = await makeKey("neighbour");
    const theirs = async (path: string) => codeOf(await send("GET", path, { key: other.key }));
    expect(await theirs("/api/contexts/shared")).toEqual([404, "context_not_found"]);
    const made = await send("PUT", "/api/contexts/shared", {
      type: TAR,
      body: await tarOf([{ header: { name: "b", size: 1 }, body: "b" }]),
      key: other.key,
    });
    expect(made.status).toBe(201);
    expect(await theirs(`/api/contexts/shared?version=${version}`)).toEqual([
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

describe("erasing", () => {
  it("removes a context with all its versions and open uploads; a new one of its name starts empty", async () => {
    const version = await pushed("gone", { "a.txt": "gone for good" });
    const open = await upload(await manifest("gone", [await fileOf("a.txt", "never sent")]));
    const ours = async () =>
      (await objects()).filter((key) => key.includes(version) || key.includes(open.version));
    expect((await ours()).length).toBeGreaterThan(2);
    expect((await send("DELETE", "/api/contexts/gone")).status).toBe(204);
    expect([await ours(), (await send("DELETE", "/api/contexts/gone")).status]).toEqual([[], 404]);
    expect(
      await codeOf(
        await send("PUT", open.links.blobs, { type: TAR, body: await blobsTar(["never sent"]) }),
      ),
    ).toEqual([404, "upload_not_found"]);
    expect(
      (await upload(await manifest("gone", [await fileOf("a.txt", "gone for good")]))).missing,
    ).toHaveLength(1);
  });

  it("E13 sweeps an unfinished upload after a day of the clock, and keeps committed versions (H4)", async () => {
    await pushed("kept", { "a.txt": "kept" });
    const open = await upload(
      await manifest("kept", [await fileOf("a.txt", "half"), await fileOf("b.txt", "other half")]),
    );
    await send("PUT", open.links.blobs, { type: TAR, body: await blobsTar(["half"]) });
    const ours = async () => (await objects()).filter((key) => key.includes(open.version)).length;
    await sweepAt(Date.now() + 23 * 3_600_000);
    expect(await ours()).toBe(2);
    await sweepAt(Date.now() + 25 * 3_600_000);
    expect(await ours()).toBe(0);
    expect(await (await send("GET", "/api/contexts/kept/files/a.txt")).text()).toBe("kept");
    const again = await upload(
      await manifest("kept", [await fileOf("a.txt", "half"), await fileOf("b.txt", "other half")]),
    );
    expect([again.version === open.version, again.missing.length]).toEqual([false, 2]);
  });
});
