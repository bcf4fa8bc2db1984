import type { OpenContext } from "../../../src/uploads/context-reader";
import { MOST_LOADED_TURNS } from "../../../src/workspace/earlier-turns";
import { type FileEntry, FileError } from "../../../src/workspace/types";
import { ReadAhead } from "./read-ahead";
import type { Pin, SessionContexts } from "./session-contexts";

/** A version of a context that an earlier turn used. `read` throws `FileError` if it fails. */
export type OlderContext = Pick<OpenContext, "tree" | "has"> & {
  read(entry: FileEntry): Promise<Uint8Array>;
};

/**
 * The versions of contexts that earlier turns used. They are opened when an agent reads them. At
 * most `MOST_LOADED_TURNS` of them stay open.
 */
export class OlderContexts {
  readonly #contexts: Pick<SessionContexts, "openVersion" | "runRead">;
  /** Open versions, and those that are being opened. The version that was used first is first. */
  readonly #open = new Map<string, Promise<OlderContext>>();

  constructor(contexts: Pick<SessionContexts, "openVersion" | "runRead">) {
    this.#contexts = contexts;
  }

  /**
   * A version. Concurrent callers share one load. Throws `FileError` if the version cannot be read
   * now, or was erased.
   */
  async open(pin: Pin): Promise<OlderContext> {
    const key = `${pin.name} ${pin.version}`;
    const context = this.#open.get(key) ?? this.#load(pin);
    this.#open.delete(key);
    this.#open.set(key, context);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MOST_LOADED_TURNS && oldest !== undefined) this.#open.delete(oldest);
    try {
      return await context;
    } catch (error) {
      if (this.#open.get(key) === context) this.#open.delete(key);
      throw error;
    }
  }

  async #load(pin: Pin): Promise<OlderContext> {
    const opened = await this.#contexts.openVersion(pin);
    if (!opened) {
      const message = `The version of ${pin.name} that this turn used was erased.`;
      throw new FileError("context_unavailable", message);
    }
    const { tree, has, read, objectOf } = opened;
    const readAhead = new ReadAhead(tree.values(), objectOf);
    return {
      tree,
      has,
      read: (entry) => {
        // If an agent searches through the files, whole packs are read.
        const { isSearch } = readAhead.noteRead(entry.hash);
        return this.#contexts.runRead(() => read(entry, isSearch));
      },
    };
  }
}
