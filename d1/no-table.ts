/** What a query of D1 finds; null in a database to which the migration that makes its table or column was not applied yet. */
export async function nullIfNoTable<T>(query: Promise<T | null>): Promise<T | null> {
  return query.catch((error: unknown) => {
    if (error instanceof Error && /no such (table|column)/.test(error.message)) return null;
    throw error;
  });
}
