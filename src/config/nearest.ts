/**
 * The word in `words` that is most similar to `misspelled`; `null` if no word is similar enough. A
 * word may differ by one edit per three letters, but by at most `maxEdits`.
 */
export function nearest(
  misspelled: string,
  words: Iterable<string>,
  maxEdits = Number.POSITIVE_INFINITY,
): string | null {
  const allowedEdits = Math.min(maxEdits, Math.max(1, Math.floor(misspelled.length / 3)));
  let best: { word: string; distance: number } | null = null;
  for (const word of words) {
    if (Math.abs(word.length - misspelled.length) > allowedEdits) continue;
    const distance = editDistance(misspelled.toLowerCase(), word.toLowerCase());
    if (distance <= allowedEdits && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { word, distance };
  }
  return best?.word ?? null;
}

/**
 * The number of edits between two words: insert, delete or replace a letter, or swap two
 * neighbours. Time and memory grow with the product of both lengths, so the words must be short.
 */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const distanceAt = (row: number, column: number) =>
    rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isSwapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const replaceCost = distanceAt(row - 1, column - 1) + (isSame ? 0 : 1);
      const swapCost = isSwapped ? distanceAt(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      const deleteCost = distanceAt(row - 1, column) + 1;
      const insertCost = distanceAt(row, column - 1) + 1;
      current.push(Math.min(replaceCost, swapCost, deleteCost, insertCost));
    }
  }
  return distanceAt(a.length, b.length);
}
