import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import type { Context, IncludedTurn } from "../../../src/protocol/api/contexts";
import {
  codeOf,
  fileOf,
  get,
  insertOwner,
  pushFiles,
  send,
  sendManifest,
  uploadOf,
} from "./context-client";

beforeAll(insertOwner);

const A: IncludedTurn = { session: "session_aaaaaaaaaa", turn: 1 };
const B: IncludedTurn = {
  session: "session_bbbbbbbbbb",
  turn: 3,
  left_out: ["dist/app.js"],
  bases: [
    { path: "a", sha256: null },
    { path: "b", sha256: "0".repeat(64) },
  ],
};

const shown = (name: string, version?: string): Promise<Context> =>
  get<Context>(`/api/contexts/${name}${version ? `?version=${version}` : ""}`);
const recordOf = async (name: string, version?: string) => (await shown(name, version)).includes;

describe("the record of a version", () => {
  it("is stored with the version and returned with it", async () => {
    await pushFiles("stored", { a: "1" }, { includes: [A, B] });
    expect(await recordOf("stored")).toEqual([A, B]);
  });

  it("is omitted from a version without a record, and from the list of contexts", async () => {
    await pushFiles("none", { a: "1" });
    expect(await shown("none")).not.toHaveProperty("includes");
    await pushFiles("listed", { a: "1" }, { includes: [A] });
    const list = await get<{ data: object[] }>("/api/contexts?limit=100");
    expect(list.data.filter((entry) => "includes" in entry)).toEqual([]);
  });

  it("inherits entries of its base for sessions that the request does not name", async () => {
    const first = await pushFiles("heir", { a: "1" }, { includes: [A, B] });
    const newer = { ...B, turn: 4, left_out: [], bases: [] };
    await pushFiles("heir", { a: "2" }, { includes: [newer], base_version: first });
    expect(await recordOf("heir")).toEqual([A, newer]);
    expect(await recordOf("heir", first)).toEqual([A, B]);
    const third = (await shown("heir")).version;
    await pushFiles("heir", { a: "3" }, { base_version: third });
    expect(await recordOf("heir")).toEqual([A, newer]);
  });

  it("inherits nothing without a base", async () => {
    await pushFiles("alone", { a: "1" }, { includes: [A] });
    await pushFiles("alone", { a: "2" });
    expect(await recordOf("alone")).toBeUndefined();
  });

  it("is updated by an upload with equal files, which makes no version", async () => {
    const first = await pushFiles("equal", { a: "1" }, { includes: [A] });
    const upload = await uploadOf(
      await sendManifest("equal", [await fileOf("a", "1")], { includes: [B], base_version: first }),
    );
    expect([upload.status, upload.version]).toEqual(["unchanged", first]);
    expect(await recordOf("equal")).toEqual([A, B]);
    await sendManifest("equal", [await fileOf("a", "1")]);
    expect(await recordOf("equal")).toEqual([A, B]);
  });

  it("keeps a later turn if equal files are uploaded on an older version", async () => {
    const first = await pushFiles("stale", { a: "1" }, { includes: [B] });
    const later = { session: B.session, turn: 4 };
    const second = await pushFiles("stale", { a: "2" }, { includes: [later], base_version: first });
    const more = { includes: [A, B], base_version: first };
    const upload = await uploadOf(await sendManifest("stale", [await fileOf("a", "2")], more));
    expect([upload.status, upload.version]).toEqual(["unchanged", second]);
    expect(await recordOf("stale")).toEqual([later, A]);
  });

  it("loses no entry if two uploads with equal files update it at the same time", async () => {
    await pushFiles("both", { a: "1" });
    const files = [await fileOf("a", "1")];
    await Promise.all([A, B].map((entry) => sendManifest("both", files, { includes: [entry] })));
    expect(new Set(await recordOf("both"))).toEqual(new Set([A, B]));
  });

  it("loses no entry if two clients upload the same new files with different records", async () => {
    const files = [await fileOf("a", "twins")];
    await pushFiles("twin-records", { a: "base" });
    const base = (await shown("twin-records")).version;
    const more = (entry: IncludedTurn) => ({ includes: [entry], base_version: base });
    const { links } = await uploadOf(await sendManifest("twin-records", files, more(A)));
    const path = links.blobs.replace("?", `/${files[0]?.sha256}?`);
    await send("PUT", path, { type: "application/octet-stream", body: "twins" });
    await Promise.all([A, B].map((entry) => sendManifest("twin-records", files, more(entry))));
    expect(new Set(await recordOf("twin-records"))).toEqual(new Set([A, B]));
  });

  it.each([
    { name: "two entries of one session", includes: [A, { ...A, turn: 2 }] },
    { name: "a turn of 0", includes: [{ ...A, turn: 0 }] },
    { name: "an unknown field", includes: [{ ...A, more: 1 }] },
  ])("is refused with $name", async ({ includes }) => {
    expect(await codeOf(await sendManifest("bad", [], { includes }))).toEqual([
      422,
      "request_invalid",
    ]);
  });

  it("is refused if it is larger than its limit, and nothing is stored", async () => {
    const left_out = Array.from({ length: 3_000 }, (_, at) => `${"p".repeat(100)}${at}`);
    const response = await sendManifest("fat", [], { includes: [{ ...A, left_out }] });
    expect(await codeOf(response)).toEqual([422, "record_too_large"]);
    expect((await send("GET", "/api/contexts/fat")).status).toBe(404);
  });

  it("has the files that the version leaves out, until a later version has them again", async () => {
    const left_out = [{ path: "x", sha256: (await fileOf("x", "1")).sha256 }];
    const leftOutOf = async () =>
      (await get<{ left_out?: object[] }>("/api/contexts/left")).left_out ?? [];
    const first = await pushFiles("left", { a: "1", x: "1" });
    const second = await pushFiles("left", { a: "1" }, { base_version: first, left_out });
    expect(await leftOutOf()).toEqual(left_out);
    const third = await pushFiles("left", { a: "2" }, { base_version: second, includes: [A] });
    expect([await leftOutOf(), await recordOf("left")]).toEqual([left_out, [A]]);
    await pushFiles("left", { a: "2", x: "2" }, { base_version: third });
    expect([await leftOutOf(), await recordOf("left")]).toEqual([[], [A]]);
  });

  it("is erased with its context", async () => {
    const version = await pushFiles("gone", { a: "1" }, { includes: [A] });
    const count = () =>
      env.DB.prepare("SELECT count(*) AS count FROM context_records WHERE version = ?")
        .bind(version)
        .first("count");
    expect(await count()).toBe(1);
    expect((await send("DELETE", "/api/contexts/gone")).status).toBe(204);
    expect(await count()).toBe(0);
  });
});

describe("before the migration of records has run", () => {
  it("versions are read and pushed without a record, and a push with one is to be retried", async () => {
    const first = await pushFiles("late", { a: "1" });
    await env.DB.prepare("ALTER TABLE context_records RENAME TO context_records_later").run();
    try {
      expect((await shown("late")).version).toBe(first);
      await pushFiles("late", { a: "2" }, { base_version: first });
      const refused = await sendManifest("late", [await fileOf("a", "2")], { includes: [A] });
      expect(await codeOf(refused)).toEqual([503, "interrupted"]);
    } finally {
      await env.DB.prepare("ALTER TABLE context_records_later RENAME TO context_records").run();
    }
  });
});
