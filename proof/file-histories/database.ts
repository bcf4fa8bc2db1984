import { readdirSync, readFileSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { toRows } from "./schema";

type Statement = {
  bind(...values: SQLInputValue[]): Statement;
  first<Row>(): Promise<Row | null>;
  all<Row>(): Promise<{ results: Row[]; meta: { changes: number } }>;
  run(): Promise<{ results: []; meta: { changes: number } }>;
};

/** The part of D1 that the service uses, on SQLite in memory, with all migrations applied. */
export function createDatabase() {
  const db = new DatabaseSync(":memory:");
  for (const file of readdirSync("migrations").sort())
    db.exec(readFileSync(`migrations/${file}`, "utf8"));
  const statementOf = (sql: string, values: SQLInputValue[] = []): Statement => {
    const rows = <Row>() => {
      const results = toRows<Row>(db.prepare(sql).all(...values));
      const counts = toRows<{ changes: number }>(db.prepare("SELECT changes() AS changes").all());
      const changes = counts[0]?.changes ?? 0;
      return { results, meta: { changes: /^\s*SELECT/i.test(sql) ? 0 : changes } };
    };
    return {
      bind: (...bound) => statementOf(sql, bound),
      first: async <Row>() => rows<Row>().results[0] ?? null,
      all: async <Row>() => rows<Row>(),
      run: async () => ({ ...rows(), results: [] }),
    };
  };
  return {
    prepare: (sql: string) => statementOf(sql),
    /** All statements are one transaction. */
    batch: async (statements: readonly Statement[]) => {
      db.exec("BEGIN");
      try {
        const results: unknown[] = [];
        for (const statement of statements) results.push(await statement.all());
        db.exec("COMMIT");
        return results;
      } catch (error) {
        db.exec("ROLLBACK");
        throw error;
      }
    },
    close: () => db.close(),
  };
}
