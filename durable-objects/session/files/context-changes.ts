import { decodeManifest, encodeManifest } from "../../../src/workspace/manifest";
import type { TreeChanges } from "../../../src/workspace/types";
import { STORE } from "../../shared/object-limits";
import { chunks } from "../log/chunks";
import type { Sql } from "../object-storage";

/**
 * The state of one context with a final text: the whole difference from its pinned version. It
 * includes the difference that the turn started with.
 */
export type ChangeSet = { context: string; version: string; changes: TreeChanges };

/**
 * The states of the user's contexts as presenters left them, stored with their final texts. Only
 * the latest final text of a turn counts, so each final text replaces the turn's change sets. Turns
 * of older versions of the service have no change set for a context that was not changed.
 */
export class ContextChanges {
  readonly #sql: Sql;
  /**
   * The change sets that were read last. A cache: a client that fetches their contents sends one
   * request per file.
   */
  #latest: { turn: number; sets: readonly ChangeSet[] } | null = null;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The change sets of a turn, sorted by context name. */
  of(turn: number): readonly ChangeSet[] {
    if (this.#latest?.turn !== turn) this.#latest = { turn, sets: this.#read(turn) };
    return this.#latest.sets;
  }

  #read(turn: number): ChangeSet[] {
    const query = "SELECT context, body FROM context_changes WHERE turn = ? ORDER BY context, part";
    const rows = this.#sql.exec<{ context: string; body: string }>(query, turn).toArray();
    return [...Map.groupBy(rows, ({ context }) => context)].map(([context, parts]) => {
      const { base, changes } = decodeManifest(parts.map(({ body }) => body).join(""));
      return { context, version: base ?? "", changes };
    });
  }

  /** Hashes of all contents in a turn's change sets. */
  hashes(turn: number): Set<string> {
    const entries = this.of(turn).flatMap(({ changes }) => [...changes.values()]);
    return new Set(entries.flatMap((entry) => (entry === null ? [] : [entry.hash])));
  }

  /** Numbers of the turns that have change sets. */
  turns(): number[] {
    return this.#sql
      .exec<{ turn: number }>("SELECT DISTINCT turn FROM context_changes")
      .toArray()
      .map(({ turn }) => turn);
  }

  /** Replaces a turn's change sets. To be called inside the transaction of the final text. */
  replace(turn: number, sets: readonly ChangeSet[]): void {
    this.#latest = null;
    this.#sql.exec("DELETE FROM context_changes WHERE turn = ?", turn);
    for (const { context, version, changes } of sets) {
      const manifest = encodeManifest({ base: version, changes });
      const parts = [...chunks(manifest, STORE.callChunkChars)];
      for (const [part, body] of parts.entries()) {
        this.#sql.exec(
          "INSERT INTO context_changes (turn, context, part, body) VALUES (?, ?, ?, ?)",
          turn,
          context,
          part,
          body,
        );
      }
    }
  }
}
