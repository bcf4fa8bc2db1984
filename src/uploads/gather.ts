import { READS_AT_ONCE, type VersionPlace } from "../../r2-layout/contexts";
import { inOrder } from "../async/in-order";
import type { Member } from "../workspace/pack-reader";
import type { ContextStore } from "./context-store";
import type { StoredManifest } from "./manifest-text";
import { CONTEXT_PACKS, decodeIndex, type PackStore, PackWriter, type Places } from "./packs";

/**
 * Limits of gathering. `objects`: number of small objects from which on they are gathered. `bytes`:
 * a pack with fewer bytes that the version uses is a small object. `most`: number of objects that
 * one commit reads. `memory`: one pack that is read, the contents of the next pack, and that pack.
 */
export const GATHERING = {
  objects: 16,
  bytes: CONTEXT_PACKS.packBytes / 4,
  most: 4_000,
  memory: 3 * CONTEXT_PACKS.packBytes + READS_AT_ONCE * CONTEXT_PACKS.smallBytes,
} as const;

/**
 * An object with small contents. `from`: the version whose folder has it. `pack`: `null` for a
 * separate blob. `contents`: the contents that the version uses, by hash, with their positions.
 * `bytes`: their total size.
 */
type SmallObject = {
  from: string;
  pack: string | null;
  bytes: number;
  contents: Map<string, { at: number; size: number }>;
};

/**
 * The small objects of a version, if they are many. Each of them costs a search a read. They come
 * from clients that send blobs one by one, and from many uploads with few changes each.
 */
function smallObjects(manifest: StoredManifest, places: Places): SmallObject[] {
  const objects = new Map<string, SmallObject>();
  for (const { hash, size, from: uploadedWith } of manifest.values()) {
    if (size === 0 || size > CONTEXT_PACKS.smallBytes) continue;
    const { from, pack, at } = places.get(hash) ?? { from: uploadedWith, pack: null, at: 0 };
    const key = `${from}/${pack ?? hash}`;
    const object = objects.get(key) ?? { from, pack, bytes: 0, contents: new Map() };
    objects.set(key, object);
    if (object.contents.has(hash)) continue;
    object.contents.set(hash, { at, size });
    object.bytes += size;
  }
  const small = [...objects.values()].filter(
    ({ pack, bytes }) => pack === null || bytes < GATHERING.bytes,
  );
  return small.length < GATHERING.objects ? [] : small.slice(0, GATHERING.most);
}

/** A version that is about to be committed. `places`: where its packed contents are now. */
type Upload = VersionPlace & { manifest: StoredManifest; places: Places };

/**
 * Stores the contents of small objects again, in packs of this version. Nothing else is changed, so
 * an interrupted gathering needs no repair. Contents that cannot be read stay where they are.
 * Returns the places of all packed contents; `null` if nothing was gathered, because there are few
 * small objects, or no memory is free, or `mayStore` returns `false` for the added bytes.
 */
export async function gather(
  { files, spare }: Pick<ContextStore, "files" | "spare">,
  { manifest, places, ...place }: Upload,
  mayStore: (bytes: number) => Promise<boolean>,
): Promise<Places | null> {
  const small = smallObjects(manifest, places);
  const addedBytes = small
    .filter(({ from }) => from !== place.version)
    .reduce((sum, { bytes }) => sum + bytes, 0);
  if (small.length === 0) return null;
  return spare(place.tenant, GATHERING.memory, async (mayContinue) => {
    if (!(await mayStore(addedBytes))) return null;
    const gathered = new Map<string, Member & { from: string }>();
    const gatheringStore: PackStore = {
      putBlob: () => Promise.reject(new Error("Small contents are gathered only in packs.")),
      async putPack(name, bytes, index) {
        await files.putPack(place, name, bytes, index);
        for (const [hash, member] of decodeIndex(name, index))
          gathered.set(hash, { ...member, from: place.version });
      },
    };
    const writer = new PackWriter(gatheringStore, [], 1);
    for await (const contents of contentsOf(files, place.tenant, small)) {
      if (!mayContinue()) return null;
      for (const [hash, bytes] of contents) await writer.put(hash, bytes);
    }
    await writer.end();
    return new Map([...places, ...gathered]);
  });
}

type ReadContents = [hash: string, bytes: Uint8Array][];

/** The contents of each object. Packs are read one at a time, because a pack has up to 4 MB. */
async function* contentsOf(
  files: ContextStore["files"],
  tenant: string,
  objects: readonly SmallObject[],
): AsyncGenerator<ReadContents> {
  const isPack = ({ pack }: SmallObject) => pack !== null;
  const read = async ({ from, pack, contents }: SmallObject): Promise<ReadContents> => {
    const place = { tenant, version: from };
    const [only = ""] = contents.keys();
    const bytes = await (pack === null ? files.blob(place, only) : files.pack(place, pack));
    if (bytes === null) return [];
    return [...contents].flatMap(([hash, { at, size }]): ReadContents => {
      const part = bytes.slice(at, at + size);
      return part.byteLength === size ? [[hash, part]] : [];
    });
  };
  yield* inOrder(objects.filter(isPack), 1, read);
  yield* inOrder(
    objects.filter((object) => !isPack(object)),
    READS_AT_ONCE,
    read,
  );
}
