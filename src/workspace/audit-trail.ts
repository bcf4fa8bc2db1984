import { formatPlace, parentOf, parsePath, visiblePath } from "./paths";
import { type FileAccess, FileError, type FileOperation, type Place } from "./types";

/**
 * Records every operation on files, including refused operations. Identical entries are recorded
 * once, so that a loop in a script does not fill the log.
 */
export class AuditTrail {
  readonly #lines = new Map<string, FileAccess>();

  get lines(): FileAccess[] {
    return [...this.#lines.values()];
  }

  /** Parses the path, runs `act` with the place, and records the outcome. */
  attempt<T>(operation: FileOperation, path: string, act: (place: Place) => T): T {
    const place = this.#parse(operation, path);
    try {
      const result = act(place);
      this.#record(operation, formatPlace(place), null);
      return result;
    } catch (error) {
      throw this.failure(operation, place, error);
    }
  }

  /** Like `attempt`, for an asynchronous operation. */
  async attemptAsync<T>(
    operation: FileOperation,
    path: string,
    act: (place: Place) => Promise<T>,
  ): Promise<T> {
    const place = this.#parse(operation, path);
    try {
      const result = await act(place);
      this.#record(operation, formatPlace(place), null);
      return result;
    } catch (error) {
      throw this.failure(operation, place, error);
    }
  }

  /** Checks whether an operation is allowed. Records the operation only if it is refused. */
  check(operation: FileOperation, path: string, act: (place: Place) => void): void {
    const place = this.#parse(operation, path);
    try {
      act(place);
    } catch (error) {
      throw this.failure(operation, place, error);
    }
  }

  /**
   * Records an operation as a listing of the parent directory. Use it for operations that reveal no
   * more than a listing does.
   */
  attemptAsListing<T>(path: string, act: (place: Place) => T): T {
    const place = this.#parse("list", path);
    try {
      const result = act(place);
      this.#record("list", formatPlace({ ...place, path: parentOf(place.path) }), null);
      return result;
    } catch (error) {
      throw this.failure("list", place, error);
    }
  }

  /** Records a refused operation, and returns the error. Other errors are not recorded. */
  failure(operation: FileOperation, place: Place, error: unknown): unknown {
    if (error instanceof FileError) this.#record(operation, formatPlace(place), error.code);
    return error;
  }

  #parse(operation: FileOperation, path: string): Place {
    try {
      return parsePath(path);
    } catch (error) {
      if (error instanceof FileError) this.#record(operation, visiblePath(path), error.code);
      throw error;
    }
  }

  #record(operation: FileOperation, path: string, refused: string | null): void {
    const key = `${operation} ${refused ?? ""} ${path}`;
    if (!this.#lines.has(key)) this.#lines.set(key, { operation, path, refused });
  }
}

/** The entries of a call whose changes are dropped. Successful changes are marked as `not_kept`. */
export const withoutChanges = (lines: readonly FileAccess[]): FileAccess[] =>
  lines.map((line) =>
    line.refused === null && CHANGES.has(line.operation) ? { ...line, refused: "not_kept" } : line,
  );

const CHANGES: ReadonlySet<FileOperation> = new Set(["write", "delete"]);
