import type { Context, ContextChanges } from "../../src/protocol/api/contexts";
import { CliError, EXIT } from "../exit-codes";
import type { RequestContext } from "../service/problem";
import { toLine } from "../terminal/sanitize";
import {
  type ContentFetcher,
  fetchFromContext,
  fetchFromTurn,
  readChangesIfKept,
  readContextIfKept,
  sidesOf,
} from "./context-client";
import { type SessionTurns, turnsOf } from "./changes-of-turn";
import type { StateFiles } from "./common-base";
import { forkOf, lineOf } from "./turn-line";

/** Most ancestors whose states are read to find out what a turn knows, one at a time. */
const MAX_READ_ANCESTORS = 32;

/**
 * The versions and states of one context that a command reads. Each version, and the list of a
 * session's turns, is read once.
 */
export class ContextFiles {
  readonly #sources = new Map<string, { path: string; fetch: ContentFetcher }[]>();
  readonly #versions = new Map<string, Promise<Context | null>>();
  readonly #sessions = new Map<string, Promise<SessionTurns>>();

  constructor(
    private readonly name: string,
    private readonly connection: RequestContext,
  ) {}

  /** Reads a version; `null` if the service has pruned it. Throws CliError. */
  version(version: string): Promise<Context | null> {
    const found = this.#versions.get(version) ?? this.#read(version);
    this.#versions.set(version, found);
    return found;
  }

  async #read(version: string): Promise<Context | null> {
    const context = await readContextIfKept(this.name, version, this.connection);
    if (context !== null) this.#addSources(context);
    return context;
  }

  /** Adds a version that was already read. */
  add(context: Context): void {
    this.#versions.set(context.version, Promise.resolve(context));
    this.#addSources(context);
  }

  /** The state of the context after a turn; `null` if its version was pruned. Throws CliError. */
  async stateOf(
    { session, turn }: { session: string; turn: number },
    { base_version: version, changes }: ContextChanges,
  ): Promise<StateFiles | null> {
    const context = await this.version(version);
    if (context === null) return null;
    const versionFiles = sidesOf(context);
    const files = new Map(versionFiles);
    const fetch = fetchFromTurn(session, turn, this.connection);
    for (const { path, hash, executable } of changes) {
      if (hash === null) files.delete(path);
      else {
        files.set(path, { hash, executable: executable ?? false });
        this.#addSource(path, hash, fetch);
      }
    }
    return { version, versionFiles, files };
  }

  /** The state after a noted turn; `null` if the service no longer has it. Throws CliError. */
  async stateIfKept(place: { session: string; turn: number }): Promise<StateFiles | null> {
    const changes = await readChangesIfKept(place.session, place.turn, this.connection);
    const own = changes?.data.find(({ context }) => context === this.name);
    return own ? this.stateOf(place, own) : null;
  }

  /** The latest turn that two turns are both based on; `null` if there is none. Throws CliError. */
  async forkOf(session: string, one: number, other: number): Promise<number | null> {
    return forkOf(one, other, (await this.#turns(session)).parents);
  }

  #turns(session: string): Promise<SessionTurns> {
    const found = this.#sessions.get(session) ?? turnsOf(session, this.connection);
    this.#sessions.set(session, found);
    return found;
  }

  /**
   * The files that a completed ancestor of a turn had, in its state or in its version. `files`: the
   * contents of files by path. Reads the latest `MAX_READ_ANCESTORS` ancestors. Throws CliError.
   */
  async hadBefore(
    { session, turn }: { session: string; turn: number },
    files: ReadonlyMap<string, string>,
  ): Promise<ReadonlySet<string>> {
    const { parents, completed } = await this.#turns(session);
    const ancestors = lineOf(turn, parents).slice(1);
    const known = new Set<string>();
    for (const one of ancestors
      .filter((ancestor) => completed.has(ancestor))
      .slice(0, MAX_READ_ANCESTORS)) {
      const state = await this.stateIfKept({ session, turn: one });
      for (const [path, hash] of files)
        if (state?.files.get(path)?.hash === hash || state?.versionFiles.get(path)?.hash === hash)
          known.add(path);
      if (known.size === files.size) break;
    }
    return known;
  }

  /**
   * Downloads contents by their hash, from a version or a turn that was read before. Prefers a
   * source in which the file has the same path. Throws CliError.
   */
  readonly fetch: ContentFetcher = async (path, hash) => {
    const sources = this.#sources.get(hash) ?? [];
    const source = sources.find((one) => one.path === path) ?? sources[0];
    if (source) return source.fetch(source.path, hash);
    throw new CliError(EXIT.execution, `The service has no contents for ${toLine(path)}.`);
  };

  #addSources({ version, tree }: Context): void {
    const fetch = fetchFromContext(this.name, version, this.connection);
    for (const { path, sha256 } of tree) this.#addSource(path, sha256, fetch);
  }

  #addSource(path: string, hash: string, fetch: ContentFetcher): void {
    const sources = this.#sources.get(hash);
    if (sources) sources.push({ path, fetch });
    else this.#sources.set(hash, [{ path, fetch }]);
  }
}
