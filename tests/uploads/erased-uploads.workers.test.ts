import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { ContextFiles, type VersionPlace } from "../../r2-layout/contexts";
import type { ArchiveEntry } from "../../src/uploads/read-tar";
import { eraseContext, putArchive, putBlobs, putManifest } from "../../src/uploads/uploads";
import { hashOf } from "../../src/workspace/snapshot";
import { store } from "./version-shelf";

/** The writes of an upload: its context is erased directly before the given write. */
type Moment = "putManifest" | "putPlaces" | "putPack";

/** The runtime's own R2, which erases the context once before a write. */
class RacedContextFiles extends ContextFiles {
  readonly #moment: Moment;
  #erase: (() => Promise<unknown>) | null;

  constructor(moment: Moment, erase: () => Promise<unknown>) {
    super(env.BUCKET);
    this.#moment = moment;
    this.#erase = erase;
  }

  async #race(moment: Moment): Promise<void> {
    const erase = moment === this.#moment ? this.#erase : null;
    if (erase === null) return;
    this.#erase = null;
    await erase();
  }

  override async putManifest(place: VersionPlace, text: string): Promise<string> {
    await this.#race("putManifest");
    return super.putManifest(place, text);
  }

  override async putPlaces(place: VersionPlace, text: string): Promise<void> {
    await this.#race("putPlaces");
    return super.putPlaces(place, text);
  }

  override async putPack(
    place: VersionPlace,
    hash: string,
    bytes: Uint8Array,
    index: string,
  ): Promise<void> {
    await this.#race("putPack");
    return super.putPack(place, hash, bytes, index);
  }
}

const files = await Promise.all(
  Array.from({ length: 10 }, async (_, nth) => {
    const bytes = new Uint8Array(new TextEncoder().encode(`file ${nth}`));
    return { path: `${nth}.txt`, sha256: await hashOf(bytes), size: bytes.byteLength, bytes };
  }),
);
const entries = async function* (
  nameOf: (file: (typeof files)[number]) => string,
): AsyncGenerator<ArchiveEntry> {
  for (const file of files)
    yield { kind: "file", name: nameOf(file), bytes: file.bytes, executable: false };
};

it.each([
  {
    name: "a manifest's context is erased before the manifest is written",
    way: "manifest",
    moment: "putManifest",
    base: false,
  },
  {
    name: "it is erased while blobs are stored",
    way: "manifest",
    moment: "putPack",
    base: false,
  },
  {
    name: "it is erased before the places of its contents are written",
    way: "manifest",
    moment: "putPlaces",
    base: false,
  },
  {
    name: "it is erased at the same moment of an upload that must be the first version",
    way: "manifest",
    moment: "putPlaces",
    base: true,
  },
  {
    name: "an archive's context is erased before its manifest is written",
    way: "archive",
    moment: "putManifest",
    base: false,
  },
  {
    name: "it is erased before the places of an archive's contents are written",
    way: "archive",
    moment: "putPlaces",
    base: false,
  },
] as const)("an upload leaves nothing and is refused if $name", async ({ way, moment, base }) => {
  const owner = { tenant: `erased-${way}-${moment}-${base}`, name: "site" };
  const raced = {
    ...store,
    files: new RacedContextFiles(moment, () => eraseContext(store, owner)),
  };
  const manifest = {
    files: files.map(({ bytes: _, ...file }) => file),
    ...(base ? { base_version: null } : {}),
  };
  const upload = async () => {
    if (way === "archive")
      return putArchive(raced, owner, () => entries(({ path }) => path), Date.now());
    const { version } = await putManifest(raced, owner, manifest, Date.now());
    await putBlobs(raced, { ...owner, version }, () => entries(({ sha256 }) => sha256));
    return putManifest(raced, owner, manifest, Date.now());
  };
  await expect(upload()).rejects.toMatchObject({ code: "upload_not_found" });
  const { objects } = await env.BUCKET.list({ prefix: `tenants/${owner.tenant}/` });
  expect(objects.map(({ key }) => key)).toEqual([]);
  expect((await upload()).status).toBe("committed");
});
