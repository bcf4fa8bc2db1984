import type { Basis, FileLimits } from "./agent-files";
import { isDirectory } from "./file-errors";
import { CONTEXTS, formatPlace, isShadowed, parsePath } from "./paths";
import { type Access, protectionOf } from "./permissions";
import type { TreePlace } from "./transfer";
import { EMPTY_TREE } from "./tree";
import type { AboveMounts, Place, Tree, TreeChanges, TurnTree } from "./types";
import { WorkingTree } from "./working-tree";

/** The trees of an agent's mounts during one tool call. Does not check permissions. */
export class MountedTrees {
  readonly #basis: Basis;
  /** Trees by the absolute path of their mount. Created when they are first needed. */
  readonly #trees = new Map<string, WorkingTree>();

  constructor(basis: Basis) {
    this.#basis = basis;
  }

  /** The mounts that the agent sees. `knows`: see `Access`. */
  access(knows: Access["knows"]): Access {
    const { peers, contexts, attempts, turns } = this.#basis;
    const permissions = [...contexts].map(
      ([name, context]) =>
        [name, { writable: context.writable, isProtected: protectionOf(context) }] as const,
    );
    return {
      peers,
      contexts: new Map(permissions),
      ...(attempts && { attempts }),
      ...(turns && { turns }),
      knows,
    };
  }

  /** Calls `act` while the tree of a visible place is loaded. */
  async withTree<T>({ mount }: Place, act: () => T): Promise<Awaited<T>> {
    const { turns } = this.#basis;
    return mount.kind === "turn" && turns ? turns.withTree(mount, act) : await act();
  }

  /**
   * The place with its tree. Throws `FileError` if the place is a directory above the mounts, which
   * is in no tree.
   */
  at(place: Place): TreePlace {
    const root = rootOf(place);
    if (place.mount.kind === "above") throw isDirectory(root);
    // Trees of earlier turns do not change, and must not stay in memory until the end of the call.
    if (place.mount.kind === "turn") return { place, tree: new WorkingTree(this.#baseOf(place)) };
    const existing = this.#trees.get(root);
    if (existing) return { place, tree: existing };
    const emptyDirectories = [...this.#basis.directories]
      .filter((path) => path.startsWith(`${root}/`))
      .map((path) => path.slice(root.length + 1))
      .filter((path) => !isShadowed({ ...place, path }));
    const tree = new WorkingTree(this.#baseOf(place), emptyDirectories);
    this.#trees.set(root, tree);
    return { place, tree };
  }

  limitsOf({ mount }: Place): FileLimits {
    const { contexts, limits } = this.#basis;
    return (mount.kind === "context" ? contexts.get(mount.name)?.limits : undefined) ?? limits;
  }

  /** The mounts directly below a directory, sorted by name. */
  mountsIn(at: AboveMounts): Place[] {
    return this.#namesIn(at)
      .sort()
      .map((name) => parsePath(`${at}/${name}`));
  }

  /** The mount inside of a place: the contexts of an earlier turn; `null` if there is none. */
  mountInside({ mount, path }: Place): Place | null {
    if (mount.kind !== "turn" || mount.context !== null || path !== "") return null;
    const names = this.#basis.turns?.contextsOf(mount.turn) ?? [];
    return names.length > 0 ? parsePath(`/turns/${mount.turn}/${CONTEXTS}`) : null;
  }

  /** The changes of a call. See `StagedChanges`. */
  changes(): { workspace: TreeChanges; contexts: Map<string, TreeChanges>; directories: string[] } {
    const contexts = [...this.#basis.contexts.keys()].map((name): [string, TreeChanges] => [
      name,
      this.#trees.get(`/contexts/${name}`)?.changes() ?? EMPTY_TREE,
    ]);
    return {
      workspace: this.#trees.get("/workspace")?.touched() ?? EMPTY_TREE,
      contexts: new Map(contexts.filter(([, changes]) => changes.size > 0)),
      directories: this.#emptyDirectories(),
    };
  }

  #namesIn(at: AboveMounts): string[] {
    const { peers, contexts, attempts, turns } = this.#basis;
    const [attemptNames, turnNames] = [[...(attempts?.keys() ?? [])], [...(turns?.keys() ?? [])]];
    switch (at) {
      case "/":
        return [
          ...(attemptNames.length > 0 ? ["attempts"] : []),
          ...(turnNames.length > 0 ? ["turns"] : []),
          ...["contexts", "peers", "workspace"],
        ];
      case "/peers":
        return [...peers.keys()];
      case "/contexts":
        return [...contexts.keys()];
      case "/attempts":
        return attemptNames;
      case "/turns":
        return turnNames;
      default:
        return [...(turns?.contextsOf(at.split("/")[2] ?? "") ?? [])];
    }
  }

  #baseOf({ mount }: Place): Tree {
    const { workspace, peers, contexts, attempts } = this.#basis;
    switch (mount.kind) {
      case "workspace":
        return workspace;
      case "peer":
        return peers.get(mount.alias) ?? EMPTY_TREE;
      case "context":
        return contexts.get(mount.name)?.tree ?? EMPTY_TREE;
      case "attempt":
        return attempts?.get(mount.number) ?? EMPTY_TREE;
      case "turn":
        return this.#turnTree(mount);
      case "above":
        return EMPTY_TREE;
    }
  }

  #turnTree({ turn, context }: TurnTree): Tree {
    return this.#basis.turns?.tree({ turn, context }) ?? EMPTY_TREE;
  }

  /** All directories that exist while empty. Unused mounts keep their directories. */
  #emptyDirectories(): string[] {
    const inUnusedMounts = [...this.#basis.directories].filter(
      (path) => !this.#trees.has(rootOf(parsePath(path))),
    );
    const inUsedMounts = [...this.#trees].flatMap(([root, tree]) =>
      tree.emptyDirectories().map((path) => `${root}/${path}`),
    );
    return [...inUnusedMounts, ...inUsedMounts].sort();
  }
}

/** The absolute path of a place's mount. */
const rootOf = (place: Place): string => formatPlace({ ...place, path: "" });
