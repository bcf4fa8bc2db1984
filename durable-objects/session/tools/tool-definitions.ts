import type { OfferedTool } from "../../../src/tools/mcp/offer";
import type { Sql } from "../object-storage";

/** A tool as its server defined it. `judgeListing` limits its size. */
type ToolDefinition = OfferedTool["tool"];

/**
 * Definitions of tool servers' tools, by the hash that the log names. They are private, are stored
 * before an event names them, and never change. So tools can be offered after a restart even if
 * their server is unreachable.
 */
export class ToolDefinitions {
  readonly #sql: Sql;
  readonly #known = new Map<string, ToolDefinition>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** Stores a definition. To be called in the transaction of the event that names it. */
  add(hash: string, definition: ToolDefinition): void {
    if (this.#known.has(hash)) return;
    this.#sql.exec(
      "INSERT OR IGNORE INTO tool_definitions VALUES (?, ?)",
      hash,
      JSON.stringify(definition),
    );
    this.#known.set(hash, definition);
  }

  /** A definition. Throws if it was never added. */
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
