import { sha256 } from "../../../local/sha256";
import type { IncludedTurn } from "../../../src/protocol/api/contexts";
import type { ContextPins, ContextRecords } from "../../../src/uploads/context-index";
import type { ContextReader, OpenContext } from "../../../src/uploads/context-reader";
import { encodeRecord } from "../../../src/uploads/records";
import type { FileEntry } from "../../../src/workspace/types";

/** The only context of simulated projects. */
export const SITE = "site";

/** Contents by path. */
export type Files = ReadonlyMap<string, string>;

/**
 * A version that the user pushed. `entry`: the entry of the session in its record; `null` if it has
 * none. `leftOut`: the last contents of files that only older versions have, because the folder
 * excludes them now.
 */
export type Version = { id: string; files: Files; entry: IncludedTurn | null; leftOut: Files };

/** The stored form of a text. */
export const entryOf = (text: string): FileEntry => ({
  hash: sha256(text),
  size: Buffer.byteLength(text),
});

/** The context of a simulated project: all its versions, in order. */
export class SimulatedContexts {
  readonly versions: Version[] = [];
  /** Versions that the session has released, by turn: all except those that it named. */
  readonly kept = new Map<number, ReadonlySet<string>>();

  /** Adds a version. Returns its id. */
  push({ files, entry, leftOut }: Omit<Version, "id">): string {
    const id = `version-${this.versions.length + 1}`;
    this.versions.push({ id, files, entry, leftOut });
    return id;
  }

  get newest(): Version {
    const newest = this.versions.at(-1);
    if (!newest) throw new Error("the simulated user pushes before the first turn");
    return newest;
  }

  version(id: string): Version | null {
    return this.versions.find((version) => version.id === id) ?? null;
  }

  /** The records of the versions. */
  get records(): Pick<ContextRecords, "entriesOf" | "read"> {
    return {
      read: async ({ id }) => {
        const version = this.version(id);
        const leftOut = [...(version?.leftOut ?? [])].map(([path, text]) => ({
          path,
          sha256: sha256(text),
        }));
        return version && encodeRecord(version.entry ? [version.entry] : [], leftOut);
      },
      entriesOf: async (_tenant, _session, contexts) => {
        const entry = this.version(contexts[0]?.version ?? "")?.entry;
        return new Map(entry ? [[SITE, JSON.stringify(entry)]] : []);
      },
    };
  }

  /** The services that the session uses. */
  get services(): { reader: ContextReader; pins: Pick<ContextPins, "release"> } {
    return {
      reader: {
        uploaded: async () => new Set([SITE]),
        open: async (_tenant, _name, id) => {
          const version = id === null ? this.newest : this.version(id);
          return version && openVersion(version);
        },
      },
      pins: {
        release: async ({ turn }, kept) =>
          void this.kept.set(turn, new Set(kept.map(({ version }) => version))),
      },
    };
  }
}

function openVersion({ id, files }: Version): OpenContext {
  const texts = new Map([...files.values()].map((text) => [sha256(text), text]));
  return {
    version: { id, name: SITE, treeHash: id, files: files.size, bytes: 0, createdAt: 0 },
    tree: new Map([...files].sort(byName).map(([path, text]) => [path, entryOf(text)])),
    manifest: new Map(),
    has: (hash) => texts.has(hash),
    read: async ({ hash }) => {
      const text = texts.get(hash);
      if (text === undefined) throw new Error("this version has no such contents");
      return new TextEncoder().encode(text);
    },
    objectOf: ({ hash, size }) => ({ name: hash, bytes: size }),
    stream: () => Promise.reject(new Error("no context is streamed in the simulation")),
  };
}

const byName = ([a]: [string, string], [b]: [string, string]): number => (a < b ? -1 : 1);
