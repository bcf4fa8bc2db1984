import type { OfferedTool } from "../../../src/tools/mcp/offer";
import type { Sql } from "../object-storage";

/** A tool as its server defined it; bounded by `judgeListing`. */
export type ToolDefinition = OfferedTool["tool"];

/**
 * Definitions of tool servers' tools, by the hash that the log names them by: private, written before anything names them, never
 * changed. What was offered before a restart is offered after it, be the server there or not.
 */
export class ToolDefinitions {
  readonly #sql: Sql;
  readonly #known = new Map<string, ToolDefinition>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** To be called in the same breath as what names it is logged. */
  add(hash: string, definition: ToolDefinition): void {
    if (this.#known.has(hash)) return;
    this.#sql.exec(
      "INSERT OR IGNORE INTO tool_definitions VALUES (?, ?)",
      hash,
      JSON.stringify(definition),
    );
    this.#known.set(hash, definition);
  }

  /** Throws if it was never added. */
  find(hash: string): ToolDefinition {
    const known = this.#known.get(hash);
    if (known) return known;
    const { body } = this.#sql
      .exec<{ body: string }>("SELECT body FROM tool_definitions WHERE hash = ?", hash)
      .one();
    const definition: ToolDefinition = JSON.parse(body);
    this.#known.set(hash, definition);
    return definition;
  }
}
