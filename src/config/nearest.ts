/**
 * The word of `words` that `written` most likely misspells; `null` if none is close. `most` is the
 * number of edits allowed in a long word; a short one may have one per three letters.
 */
export function nearest(
  written: string,
  words: Iterable<string>,
  most = Number.POSITIVE_INFINITY,
): string | null {
  const tolerated = Math.min(most, Math.max(1, Math.floor(written.length / 3)));
  let best: { word: string; distance: number } | null = null;
  for (const word of words) {
    if (Math.abs(word.length - written.length) > tolerated) continue;
    const distance = editDistance(written.toLowerCase(), word.toLowerCase());
    if (distance <= tolerated && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { word, distance };
  }
  return best?.word ?? null;
}

/** Edit distance with swaps of neighbours. Only for bounded words. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const replaced = at(row - 1, column - 1) + (same ? 0 : 1);
      const swap = swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current.push(Math.min(replaced, swap, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(a.length, b.length);
}
