/**
 * The result of a D1 query; `null` if its table or column does not exist because a migration has
 * not been applied yet.
 */
export async function nullIfNoTable<T>(query: Promise<T | null>): Promise<T | null> {
  return query.catch((error: unknown) => {
    if (error instanceof Error && /no such (table|column)/.test(error.message)) return null;
    throw error;
  });
}
