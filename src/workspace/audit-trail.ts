import { formatPlace, parentOf, parsePath, visiblePath } from "./paths";
import { type Accessed, FileError, type FileOperation, type Place } from "./types";

/** Notes everything that is done to files, or tried. The same again is one line, so that a loop in a script does not fill the log. */
export class AuditTrail {
  readonly #lines = new Map<string, Accessed>();

  get lines(): Accessed[] {
    return [...this.#lines.values()];
  }

  /** Does it, and notes what came of it. `act` gets the place that the path leads to. */
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

  /** The same for what takes time. */
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

  /** Whether it could be done: noted if not, since only that came of it. */
  ask(operation: FileOperation, typed: string, act: (place: Place) => void): void {
    const place = this.#locate(operation, typed);
    try {
      act(place);
    } catch (error) {
      throw this.#failed(operation, place, error);
    }
  }

  /** A look at a path that tells no more than its directory would: noted as a look at the directory. */
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

/** The lines of a call whose changes are not kept: what it changed did not come about, so it is no change on record either. */
export const withoutChanges = (lines: readonly Accessed[]): Accessed[] =>
  lines.map((line) =>
    line.refused === null && CHANGING.has(line.operation) ? { ...line, refused: "not_kept" } : line,
  );

const CHANGING: ReadonlySet<FileOperation> = new Set(["write", "delete"]);
