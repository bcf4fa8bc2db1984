import type { Basis } from "../../src/workspace/agent-files";
import { hashOf } from "../../src/workspace/snapshot";
import type { ProtectedPaths } from "../../src/workspace/permissions";
import { StagedFiles } from "../../src/workspace/staged-files";
import { mergeChanges } from "../../src/workspace/tree";
import type { FileEntry, Tree, TreeChanges } from "../../src/workspace/types";
import { OneLoadedTurn, type TurnsSetup } from "./turn-rig";

type Texts = Readonly<Record<string, string>>;

/**
 * The state before a call; files are texts by path. Omitted parts are empty; omitted limits are
 * high.
 */
export type Setup = {
  workspace?: Texts;
  peers?: Readonly<Record<string, Texts>>;
  contexts?: Readonly<
    Record<string, { files: Texts; writable?: boolean } & Partial<ProtectedPaths>>
  >;
  /** Earlier turns by name: their results under the name "", and their contexts by name. */
  turns?: TurnsSetup<Texts>;
  read?: readonly string[];
  own?: readonly string[];
  directories?: readonly string[];
  readBeforeDelete?: boolean;
  limits?: Basis["limits"];
  stagedBytes?: number;
};

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Opens an agent's files for a setup, and records the hashes of contents that are read. */
export class Rig {
  readonly #setup: Setup;
  readonly #texts = new Map<string, string>();
  readonly #hashes = new Map<string, string>();
  /** Hashes of the contents that were read. */
  readonly readHashes: string[] = [];

  private constructor(setup: Setup) {
    this.#setup = setup;
  }

  static async of(setup: Setup = {}): Promise<Rig> {
    const rig = new Rig(setup);
    const trees = [
      setup.workspace,
      ...Object.values(setup.peers ?? {}),
      ...Object.values(setup.contexts ?? {}).map(({ files }) => files),
      ...Object.values(setup.turns ?? {}).flatMap((trees) => Object.values(trees)),
    ];
    for (const text of trees.flatMap((tree) => Object.values(tree ?? {}))) {
      const hash = await hashOf(encoder.encode(text));
      rig.#texts.set(hash, text);
      rig.#hashes.set(text, hash);
    }
    return rig;
  }

  open(): StagedFiles {
    const {
      peers = {},
      contexts = {},
      read = [],
      own = [],
      directories = [],
      readBeforeDelete = true,
      limits,
      stagedBytes,
    } = this.#setup;
    return new StagedFiles({
      workspace: this.#tree(this.#setup.workspace),
      peers: new Map(Object.entries(peers).map(([alias, files]) => [alias, this.#tree(files)])),
      contexts: new Map(
        Object.entries(contexts).map(
          ([name, { files, writable = false, protectedPaths = [], teamProtectedPaths = [] }]) => [
            name,
            { tree: this.#tree(files), writable, protectedPaths, teamProtectedPaths },
          ],
        ),
      ),
      ...(this.#setup.turns && { turns: this.#turns(this.#setup.turns) }),
      blobs: { read: async ({ hash }) => this.#read(hash) },
      read: new Set(read),
      own: new Set(own),
      directories: new Set(directories),
      readBeforeDelete,
      ...(stagedBytes !== undefined && { stagedBytes }),
      limits: limits ?? { fileBytes: 1_000, files: 100, treeBytes: 10_000 },
    });
  }

  /**
   * The staged changes, without empty parts. A file is its text, with `*` at the end if it is
   * executable.
   */
  changesOf(files: StagedFiles): Record<string, unknown> {
    const { workspace, contexts, blobs, read, own, foreign, directories } = files.staged();
    const texts = new Map([
      ...this.#texts,
      ...[...blobs].map(([hash, bytes]) => [hash, decoder.decode(bytes)] as const),
    ]);
    const before = this.#tree(this.#setup.workspace);
    const changes = mergeChanges(before, new Map(), workspace);
    const all = { workspace: toTexts(changes, texts), read, own, foreign, directories };
    const named = [...contexts].map(([name, changes]) => [name, toTexts(changes, texts)] as const);
    return Object.fromEntries(
      [...Object.entries(all), ...named].filter(([, value]) => Object.keys(value).length > 0),
    );
  }

  #turns(turns: TurnsSetup<Texts>): OneLoadedTurn {
    const trees = (turn: Readonly<Record<string, Texts>>) =>
      Object.fromEntries(Object.entries(turn).map(([name, files]) => [name, this.#tree(files)]));
    return new OneLoadedTurn(
      Object.fromEntries(Object.entries(turns).map(([name, turn]) => [name, trees(turn)])),
    );
  }

  #tree(texts: Texts = {}): Tree {
    return new Map(
      Object.entries(texts).map(([path, text]): [string, FileEntry] => [
        path,
        { hash: this.#hashes.get(text) ?? "", size: encoder.encode(text).byteLength },
      ]),
    );
  }

  #read(hash: string): Uint8Array {
    this.readHashes.push(hash);
    const text = this.#texts.get(hash);
    if (text === undefined) throw new Error(`nobody has the contents ${hash}`);
    return encoder.encode(text);
  }
}

function toTexts(
  changes: TreeChanges,
  texts: ReadonlyMap<string, string>,
): Record<string, string | null> {
  const words = ([path, entry]: readonly [string, FileEntry | null]) =>
    [
      path,
      entry === null
        ? null
        : `${texts.get(entry.hash) ?? entry.hash}${entry.executable ? "*" : ""}`,
    ] as const;
  return Object.fromEntries([...changes].map(words));
}
