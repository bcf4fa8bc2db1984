import { formatPlace, parentOf, parsePath, visiblePath } from "./paths";
import { type FileAccess, FileError, type FileOperation, type Place } from "./types";

/**
 * Records every operation on files, including refused ones. Identical entries are recorded once, so
 * that a loop in a script does not fill the log.
 */
export class AuditTrail {
  readonly #lines = new Map<string, FileAccess>();

  get lines(): FileAccess[] {
    return [...this.#lines.values()];
  }

  /** Runs `act` with the parsed place and records the outcome. */
  attempt<T>(operation: FileOperation, typed: string, act: (place: Place) => T): T {
    const place = this.#locate(operation, typed);
    try {
      const result = act(place);
      this.#note(operation, formatPlace(place), null);
      return result;
    } catch (error) {
      throw this.#failed(operation, place, error);
    }
  }

  /** The same for asynchronous operations. */
  async attemptLater<T>(
    operation: FileOperation,
    typed: string,
    act: (place: Place) => Promise<T>,
  ): Promise<T> {
    const place = this.#locate(operation, typed);
    try {
      const result = await act(place);
      this.#note(operation, formatPlace(place), null);
      return result;
    } catch (error) {
      throw this.#failed(operation, place, error);
    }
  }

  /** Checks whether an operation would be allowed; records it only if not. */
  ask(operation: FileOperation, typed: string, act: (place: Place) => void): void {
    const place = this.#locate(operation, typed);
    try {
      act(place);
    } catch (error) {
      throw this.#failed(operation, place, error);
    }
  }

  /**
   * Records an operation that reveals no more than a listing as a listing of the parent directory.
   */
  glance<T>(typed: string, act: (place: Place) => T): T {
    const place = this.#locate("list", typed);
    try {
      const result = act(place);
      this.#note("list", formatPlace({ ...place, path: parentOf(place.path) }), null);
      return result;
    } catch (error) {
      throw this.#failed("list", place, error);
    }
  }

  #locate(operation: FileOperation, typed: string): Place {
    try {
      return parsePath(typed);
    } catch (error) {
      if (error instanceof FileError) this.#note(operation, visiblePath(typed), error.code);
      throw error;
    }
  }

  #failed(operation: FileOperation, place: Place, error: unknown): unknown {
    if (error instanceof FileError) this.#note(operation, formatPlace(place), error.code);
    return error;
  }

  #note(operation: FileOperation, path: string, refused: string | null): void {
    const key = `${operation} ${refused ?? ""} ${path}`;
    if (!this.#lines.has(key)) this.#lines.set(key, { operation, path, refused });
  }
}

/** The entries of a call whose changes are dropped: its changes are marked as not kept. */
export const withoutChanges = (lines: readonly FileAccess[]): FileAccess[] =>
  lines.map((line) =>
    line.refused === null && CHANGING.has(line.operation) ? { ...line, refused: "not_kept" } : line,
  );

const CHANGING: ReadonlySet<FileOperation> = new Set(["write", "delete"]);
