import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { ContextFiles, type VersionPlace } from "../../r2-layout/contexts";
import type { ArchiveEntry } from "../../src/uploads/read-tar";
import { putArchive } from "../../src/uploads/archive-upload";
import { eraseContext } from "../../src/uploads/erase-uploads";
import { putBlobs, putManifest } from "../../src/uploads/uploads";
import { hashOf } from "../../src/workspace/snapshot";
import { store } from "./version-shelf";

/** A write of an upload. The context is erased directly before this write. */
type Moment = "putManifest" | "putPlaces" | "putPack";

/** Context files in the R2 of the runtime. They erase the context once, before the given write. */
class RacingContextFiles extends ContextFiles {
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

  override async putPlaces(place: VersionPlace, text: string): Promise<string> {
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
    name: "its context is erased before the manifest is written",
    uploadKind: "manifest",
    moment: "putManifest",
    requiresFirst: false,
  },
  {
    name: "its context is erased while blobs are stored",
    uploadKind: "manifest",
    moment: "putPack",
    requiresFirst: false,
  },
  {
    name: "its context is erased before the places of its contents are written",
    uploadKind: "manifest",
    moment: "putPlaces",
    requiresFirst: false,
  },
  {
    name: "its context is erased before the places are written, and it must be the first version",
    uploadKind: "manifest",
    moment: "putPlaces",
    requiresFirst: true,
  },
  {
    name: "it is an archive and its context is erased before the manifest is written",
    uploadKind: "archive",
    moment: "putManifest",
    requiresFirst: false,
  },
  {
    name: "it is an archive and its context is erased before the places are written",
    uploadKind: "archive",
    moment: "putPlaces",
    requiresFirst: false,
  },
] as const)(
  "an upload is refused, and nothing of it stays stored, if $name",
  async ({ uploadKind, moment, requiresFirst }) => {
    const owner = { tenant: `erased-${uploadKind}-${moment}-${requiresFirst}`, name: "site" };
    const racingStore = {
      ...store,
      files: new RacingContextFiles(moment, () => eraseContext(store, owner)),
    };
    const manifest = {
      files: files.map(({ bytes: _, ...file }) => file),
      ...(requiresFirst ? { base_version: null } : {}),
    };
    const upload = async () => {
      if (uploadKind === "archive")
        return putArchive(racingStore, owner, () => entries(({ path }) => path), Date.now());
      const { version } = await putManifest(racingStore, owner, manifest, Date.now());
      await putBlobs(racingStore, { ...owner, version }, () => entries(({ sha256 }) => sha256));
      return putManifest(racingStore, owner, manifest, Date.now());
    };
    await expect(upload()).rejects.toMatchObject({ code: "upload_not_found" });
    const { objects } = await env.BUCKET.list({ prefix: `tenants/${owner.tenant}/` });
    expect(objects.map(({ key }) => key)).toEqual([]);
    expect((await upload()).status).toBe("committed");
  },
);
