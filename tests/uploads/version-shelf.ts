import { env } from "cloudflare:workers";
import { contextServices } from "../../durable-objects/shared/context-services";
import { createSessionIndex } from "../../d1/session-index";
import { pruneVersions } from "../../src/uploads/pruning";
import type { ContextStore } from "../../src/uploads/context-store";
import type { ArchiveEntry } from "../../src/uploads/read-tar";
import { readPlaces } from "../../src/uploads/stored-packs";
import { putArchive } from "../../src/uploads/archive-upload";
import { sweepUploads } from "../../src/uploads/erase-uploads";
import { readManifest } from "../../src/uploads/stored-manifest";
import { putBlob, putBlobs, putManifest } from "../../src/uploads/uploads";
import { hashOf } from "../../src/workspace/snapshot";

export const DAY = 24 * 60 * 60 * 1_000;
export const { store, reader, pins, prune } = contextServices(env);
export type Files = Readonly<Record<string, string>>;

const NAME = "site";
const entriesOf = (files: Files) =>
  Promise.all(
    Object.entries(files).map(async ([path, text]) => {
      const bytes = new Uint8Array(new TextEncoder().encode(text));
      return { path, sha256: await hashOf(bytes), size: bytes.byteLength, bytes };
    }),
  );

/** The only context of a tenant, in the D1 and R2 of the runtime, with a clock of the test. */
export class VersionShelf {
  readonly #owner: { tenant: string; name: string };
  now = Date.UTC(2026, 0, 1);

  constructor(tenant: string) {
    this.#owner = { tenant, name: NAME };
  }

  /**
   * Sends a manifest and then the missing contents. If no contents are missing, the upload becomes
   * a version at once.
   */
  async beginUpload(files: Files): Promise<{ version: string; missing: number }> {
    const entries = await entriesOf(files);
    const manifest = { files: entries.map(({ bytes: _, ...entry }) => entry) };
    const { version, missing, status } = await putManifest(store, this.#owner, manifest, this.now);
    const missingEntries = entries.filter(({ sha256 }) => missing.includes(sha256));
    const blobs = async function* (): AsyncGenerator<ArchiveEntry> {
      for (const { sha256: name, bytes } of missingEntries)
        yield { kind: "file", name, bytes, executable: false };
    };
    if (missingEntries.length > 0) await putBlobs(store, { ...this.#owner, version }, blobs);
    return { version, missing: status === "uploading" ? missing.length : 0 };
  }

  /** Uploads files as a new version. Returns its id. */
  async push(files: Files): Promise<string> {
    await this.beginUpload(files);
    return (await this.beginUpload(files)).version;
  }

  /** Like `push`, but sends each missing blob in its own request. */
  async pushSingly(files: Files, contextStore: ContextStore = store): Promise<string> {
    const entries = await entriesOf(files);
    const manifest = { files: entries.map(({ bytes: _, ...entry }) => entry) };
    const { version, missing } = await putManifest(contextStore, this.#owner, manifest, this.now);
    for (const { sha256: hash, bytes } of entries) {
      if (!missing.includes(hash)) continue;
      const blob = { hash, body: new Blob([bytes]).stream(), length: null };
      await putBlob(contextStore, { ...this.#owner, version }, blob);
    }
    return (await putManifest(contextStore, this.#owner, manifest, this.now)).version;
  }

  /** Number of objects in R2 that have the contents of a version: packs and separate blobs. */
  async countObjects(version: string): Promise<number> {
    const keys = await keysNeededBy(this.#owner.tenant, version);
    return new Set(keys.filter((key) => /\/(packs|blobs)\//.test(key))).size;
  }

  /** Like `push`, with an archive. `during`: runs while the archive is sent. */
  async pushArchive(files: Files, during = async (): Promise<void> => {}): Promise<string> {
    const entries = await entriesOf(files);
    const archive = async function* (): AsyncGenerator<ArchiveEntry> {
      await during();
      for (const { path, bytes } of entries)
        yield { kind: "file", name: path, bytes, executable: false };
    };
    return (await putArchive(store, this.#owner, archive, this.now)).version;
  }

  /**
   * Prunes like the nightly job on the last two nights of these days. Old open uploads are swept
   * first, as in the job.
   */
  async passDays(days: number): Promise<void> {
    this.now += (days - 2) * DAY;
    for (let night = 0; night < 2; night += 1) {
      this.now += DAY;
      await sweepUploads(store, this.now);
      await pruneVersions(prune, this.now);
    }
  }

  newest = () => store.index.newest(this.#owner.tenant, NAME);

  /** The files of the newest version; `null` if there is none. */
  texts = async (): Promise<Files | null> => {
    const newest = await this.newest();
    return newest && this.read(newest.id);
  };

  /** The files of a version; `null` if the version cannot be read. */
  async read(version: string): Promise<Files | null> {
    const open = await reader.open(this.#owner.tenant, NAME, version);
    if (!open) return null;
    const texts = [...open.tree].map(async ([path, entry]) => [
      path,
      new TextDecoder().decode(await open.read(entry)),
    ]);
    return Object.fromEntries(await Promise.all(texts));
  }

  /** Adds a session with a turn that uses the newest version. */
  async pin(session: string): Promise<void> {
    const { tenant } = this.#owner;
    await createSessionIndex(env.DB).add({
      tenant,
      id: session,
      createdAt: this.now,
      question: "?",
    });
    await pins.take({ tenant, session, turn: 1 }, "start", [NAME]);
  }

  /** Ends the turn of a session. `kept`: versions that stay pinned. */
  release(session: string, kept: readonly string[] = []): Promise<void> {
    const versions = kept.map((version) => ({ context: NAME, version }));
    return pins.release({ tenant: this.#owner.tenant, session, turn: 1 }, versions);
  }

  eraseSession = (session: string) =>
    createSessionIndex(env.DB).remove(this.#owner.tenant, session);

  /** Number of versions in the index, readable or retired. */
  countVersions = async () => (await prune.index.history(this.#owner.tenant, NAME)).length;

  /**
   * Keys of objects in R2 that no readable version needs, and of missing objects that a readable
   * version needs.
   */
  async wrongObjects(): Promise<string[]> {
    const { tenant } = this.#owner;
    const prefix = `tenants/${tenant}/contexts/`;
    const storedKeys = new Set(
      (await env.BUCKET.list({ prefix })).objects.map(({ key }) => key.slice(prefix.length)),
    );
    const needed = new Set<string>();
    const versions = await prune.index.history(tenant, NAME);
    for (const { id } of versions.filter(({ isReadable }) => isReadable)) {
      for (const key of await keysNeededBy(tenant, id)) needed.add(key);
      // The index of a pack stays stored while its version is readable.
      for (const key of storedKeys)
        if (key.startsWith(`${id}/packs/`) && key.endsWith(".json")) needed.add(key);
    }
    return [...storedKeys.symmetricDifference(needed)].sort();
  }
}

/** The keys of all objects that a version needs. */
async function keysNeededBy(tenant: string, version: string): Promise<string[]> {
  const place = { tenant, version };
  const manifest = await readManifest(store.files, place);
  const places = await readPlaces(store.files, place);
  const contents = [...(manifest?.values() ?? [])].map(({ hash, from }) => {
    const packed = places.get(hash);
    return packed ? `${packed.from}/packs/${packed.pack}` : `${from}/blobs/${hash}`;
  });
  return [
    `${version}/manifest.json`,
    ...(places.size > 0 ? [`${version}/packs.json`] : []),
    ...contents,
  ];
}
