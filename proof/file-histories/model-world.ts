import { edited, EXCLUDE_FILE, type Files } from "./paths";
import { predictAsk } from "./predict-ask";
import { predictPull } from "./predict-pull";
import { predictPush } from "./predict-push";
import { startState } from "./play";
import type { History } from "./operations";
import { filesOf, type State } from "./state";
import type { Ask, World } from "./world";

/** A world that behaves as the model predicts. A test of the model plays histories in it. */
export class ModelWorld implements World {
  #state: State;

  constructor(history: Pick<History, "folders" | "sessions">) {
    this.#state = startState(history);
  }

  get state(): State {
    return this.#state;
  }

  async write(folder: number, path: string, contents: string | null) {
    const present = this.#state.folders[folder];
    if (!present) return;
    const changed =
      path === EXCLUDE_FILE
        ? { ...present, excludeRules: contents }
        : { ...present, files: edited(present.files, path, contents) };
    this.#state = { ...this.#state, folders: this.#state.folders.with(folder, changed) };
  }

  async push(folder: number, options: { included?: string; isKilled?: boolean } = {}) {
    const { status, after } = predictPush(this.#state, folder, options);
    this.#state = after;
    return { status };
  }

  async pull(folder: number, options: Parameters<World["pull"]>[1]) {
    const prediction = predictPull(this.#state, folder, options);
    if (prediction.outcome === "open") throw new Error("the model does not decide this pull");
    if (prediction.outcome === "pulled") this.#state = prediction.after;
    return {
      outcome: prediction.outcome,
      conflicts: prediction.outcome === "refused" ? [] : prediction.conflicts,
    };
  }

  async ask({ session, ends, ...options }: Ask) {
    const prediction = predictAsk(this.#state, session, {
      ...options,
      isCompleted: ends !== "failed",
    });
    if (prediction.outcome === "open") throw new Error("the model does not decide this turn");
    if (prediction.outcome === "missing") return { outcome: "missing" } as const;
    if (prediction.outcome === "refused") {
      const conflicts = new Map(
        [...prediction.conflicts].map(([name, { paths, colliding }]) => [
          name,
          [...paths, ...colliding],
        ]),
      );
      return { outcome: "refused", conflicts } as const;
    }
    this.#state = prediction.after;
    return { outcome: "started", ends: prediction.ends } as const;
  }

  async kill() {}

  async files(folder: number): Promise<Files> {
    return this.#state.folders[folder]?.files ?? {};
  }

  async newest(context: string): Promise<Files | null> {
    const newest = this.#state.contexts.get(context)?.at(-1);
    return newest ? filesOf(newest.marks, newest.leftOut) : null;
  }

  async close() {}
}
