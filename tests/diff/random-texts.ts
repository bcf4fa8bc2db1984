import fc from "fast-check";

/** Lines with few different texts, some of which look like parts of a patch. */
const line = fc.constantFrom("a", "b", "c", "", "}", "a\r", "é", "-x", "+x", "@@ -1 +1 @@", "\\ x");
export const textOfLines = fc
  .tuple(fc.array(line, { maxLength: 25 }), fc.boolean())
  .map(([lines, endsWithLineFeed]) => lines.join("\n") + (endsWithLineFeed ? "\n" : ""));

/** A text and an edited copy of it. */
export const editedText = fc
  .tuple(
    fc.array(line, { maxLength: 60 }),
    fc.array(fc.record({ at: fc.nat(), drop: fc.nat(4), add: fc.array(line, { maxLength: 4 }) }), {
      maxLength: 5,
    }),
    fc.boolean(),
    fc.boolean(),
  )
  .map(([lines, edits, oldEnd, newEnd]) => {
    const after = [...lines];
    for (const { at, drop, add } of edits) after.splice(at % (after.length + 1), drop, ...add);
    const join = (all: readonly string[], end: boolean) => all.join("\n") + (end ? "\n" : "");
    return [join(lines, oldEnd), join(after, newEnd)] as const;
  });

/** Processor time of this thread for a work in ms, without that of its preparation. */
export function processorMs(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}
