import type { ContextBlobs } from "../../r2-layout/contexts";
import type { FileEntry, Tree } from "../workspace/types";
import { PackReader } from "../workspace/pack-reader";
import type { ContextIndex, VersionRow } from "./context-index";
import { CONTEXT_PACKS, type Places } from "./packs";
import { placesOf, type StoredManifest, toTree } from "./manifest-text";
import { readManifest } from "./stored-manifest";
import { readPlaces } from "./stored-packs";

/** Read access to one version of a context. A version never changes. */
export type OpenContext = {
  /**
   * Reads contents. `isSearch`: whether contents near them will be read too; then a whole pack is
   * read.
   */
  read(entry: FileEntry, isSearch?: boolean): Promise<Uint8Array>;
  /**
   * The object in storage that has these contents: its name, which is unique in this version, and
   * its size in bytes as far as the version uses it.
   */
  objectOf(entry: FileEntry): { name: string; bytes: number };
  version: VersionRow;
  tree: Tree;
  manifest: StoredManifest;
  /** Whether a file of the tree has this hash. */
  has(hash: string): boolean;
  /** The contents of a hash as a stream. Throws if they are missing. */
  stream(hash: string): Promise<ReadableStream<Uint8Array>>;
};

/** Read access to all contexts. */
export type ContextReader = {
  /** Returns those of the names for which the tenant has a context. */
  uploaded(tenant: string, names: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Opens a version; `version` is `null` for the newest. Returns `null` if the version does not
   * exist.
   */
  open(tenant: string, name: string, version: string | null): Promise<OpenContext | null>;
};

/** Creates a reader of the contexts in this index and this storage. */
export function createContextReader({
  index,
  files,
}: {
  index: Pick<ContextIndex, "newest" | "newestOf" | "version">;
  files: ContextBlobs;
}): ContextReader {
  const packs = packReader(files);
  return {
    async uploaded(tenant, names) {
      const versions = names.length === 0 ? [] : await index.newestOf(tenant, names);
      return new Set(versions.map(({ name }) => name));
    },
    async open(tenant, name, id) {
      const version = await (id === null
        ? index.newest(tenant, name)
        : index.version(tenant, name, id));
      const manifest = version && (await readManifest(files, { tenant, version: version.id }));
      if (!version || !manifest) return null;
      const packed = await readPlaces(files, { tenant, version: version.id });
      return openVersion({ files, packs }, tenant, { version, manifest, packed });
    },
  };
}

type Stores = { files: ContextBlobs; packs: PackReader };
type FoundVersion = { version: VersionRow; manifest: StoredManifest; packed: Places };

function openVersion(
  { files, packs }: Stores,
  tenant: string,
  { version, manifest, packed }: FoundVersion,
): OpenContext {
  const places = placesOf(manifest);
  const placeOf = (hash: string) => {
    const sourceVersion = places.get(hash);
    if (sourceVersion === undefined)
      throw new Error("This version of the context has no such contents.");
    return { tenant, version: sourceVersion };
  };
  const requireContents = <T>(found: T | null): T => {
    if (found === null) throw new Error("Contents of a context are gone.");
    return found;
  };
  /** Returns `null` if the contents are not in a pack. */
  const readPacked = async (
    hash: string,
    isSearch = false,
  ): Promise<Uint8Array<ArrayBuffer> | null> => {
    const place = packed.get(hash);
    if (!place) return null;
    const pack = packName({ tenant, version: place.from, pack: place.pack });
    return requireContents(await packs.read({ ...place, pack }, isSearch));
  };
  return {
    version,
    manifest,
    has: (hash) => places.has(hash),
    tree: toTree(manifest),
    read: async ({ hash }, isSearch = false) =>
      (await readPacked(hash, isSearch)) ?? requireContents(await files.blob(placeOf(hash), hash)),
    objectOf({ hash, size }) {
      const place = packed.get(hash);
      return place
        ? { name: `${place.from}/${place.pack}`, bytes: place.at + place.size }
        : { name: hash, bytes: size };
    },
    async stream(hash) {
      const bytes = await readPacked(hash);
      return bytes
        ? new Blob([bytes]).stream()
        : requireContents(await files.blobStream(placeOf(hash), hash));
    },
  };
}

type PackPlace = { tenant: string; version: string; pack: string };

/**
 * The name of a pack in `PackReader`, which serves all tenants. The parts of the name contain no
 * slash.
 */
const packName = ({ tenant, version, pack }: PackPlace): string => `${tenant}/${version}/${pack}`;

function packReader(files: ContextBlobs): PackReader {
  const read = (name: string, range?: { offset: number; length: number }) => {
    const [tenant = "", version = "", pack = ""] = name.split("/");
    return files.pack({ tenant, version }, pack, range);
  };
  return new PackReader(
    {
      pack: (name) => read(name),
      packed: (name, offset, length) => read(name, { offset, length }),
    },
    CONTEXT_PACKS.cachedBytes,
  );
}
