/**
 * The result of a D1 query; `null` if its table or column does not exist because a migration has
 * not been applied yet.
 */
export async function nullIfNoTable<T>(query: Promise<T | null>): Promise<T | null> {
  return query.catch((error: unknown) => {
    if (isNoTable(error)) return null;
    throw error;
  });
}

/**
 * The result of a D1 statement that needs a table of the newest migration. If the migration has not
 * been applied yet, throws an error that is marked as temporary, so that clients retry.
 */
export async function retryIfNoTable<T>(statement: Promise<T>): Promise<T> {
  return statement.catch((cause: unknown) => {
    if (!isNoTable(cause)) throw cause;
    const error = new Error("a migration has not been applied yet", { cause });
    throw Object.assign(error, { retryable: true });
  });
}

const isNoTable = (error: unknown): boolean =>
  error instanceof Error && /no such (table|column)/.test(error.message);
