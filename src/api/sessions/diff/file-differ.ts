import { inOrder } from "../../../async/in-order";
import { StepBudget } from "../../../diff/changed-tokens";
import { DIFF_LIMITS } from "../../../diff/diff-limits";
import type { FileChange } from "../../../diff/file-changes";
import { lineChanges } from "../../../diff/hunks";
import { toText } from "../../../diff/texts";
import { wordParts } from "../../../diff/words";
import type { Diff, DiffAnswer, DiffFile } from "../../../protocol/api/diff";
import { hashOf } from "../../../workspace/snapshot";
import type { FileEntry } from "../../../workspace/types";
import type { ChangedRoot, FileContents } from "./diff-contents";

/**
 * Contents that are read together: their number, and their bytes. The next batch is read while one
 * is compared.
 */
const BATCH = { contents: 256, bytes: 4_000_000, atOnce: 2 } as const;

type Reason = NonNullable<DiffFile["not_compared"]>;
type Contents = ReadonlyMap<string, FileContents>;
type Batch = { files: readonly FileChange[]; entries: readonly FileEntry[] };

/**
 * Compares the files and the texts of one diff. All of them share the limits of the diff. These
 * limits bound its memory, its work and its response.
 */
export class FileDiffer {
  readonly counts: Diff["counts"] = { added: 0, deleted: 0, changed: 0, renamed: 0 };
  readonly files: DiffFile[] = [];
  readonly #budget = new StepBudget();
  #readBytes = 0;
  #hunkChars = 0;

  /** Number of files that differ and are not listed. */
  get more(): number {
    const { added, deleted, changed, renamed } = this.counts;
    return added + deleted + changed + renamed - this.files.length;
  }

  /** Compares the files of one root, in batches. Throws if contents cannot be read now. */
  async add(root: ChangedRoot): Promise<void> {
    for (const { change } of root.changes) this.counts[change] += 1;
    const listed = root.changes.slice(0, DIFF_LIMITS.files - this.files.length);
    const batches = inOrder(this.#batches(listed), BATCH.atOnce, async ({ files, entries }) => {
      const read = await root.read(entries);
      return { files, contents: new Map(entries.map(({ hash }, at) => [hash, read[at] ?? null])) };
    });
    for await (const { files, contents } of batches)
      for (const file of files) this.files.push(this.#compare(file, contents, root.prefix));
  }

  /** Compares two texts by words; `null` if there are none. */
  async answer(from: string | null, to: string | null): Promise<DiffAnswer | null> {
    if (from === null && to === null) return null;
    const sides = { from: await textSide(from), to: await textSide(to) };
    const parts = wordParts(from ?? "", to ?? "", this.#budget);
    const reason = parts === null ? { not_compared: this.#tooMany() } : {};
    return { ...sides, parts, ...reason };
  }

  /** Files whose contents fit into memory together, and these contents. */
  *#batches(listed: readonly FileChange[]): Generator<Batch> {
    for (let start = 0; start < listed.length; ) {
      const entries = new Map<string, FileEntry>();
      let [bytes, end] = [0, start];
      for (; end < listed.length; end += 1) {
        const wanted = contentsToRead(listed[end]).filter(({ hash }) => !entries.has(hash));
        const size = wanted.reduce((sum, entry) => sum + entry.size, 0);
        const isFull = entries.size + wanted.length > BATCH.contents || bytes + size > BATCH.bytes;
        if (isFull) break;
        if (this.#readBytes + size > DIFF_LIMITS.totalBytes) continue;
        for (const entry of wanted) entries.set(entry.hash, entry);
        bytes += size;
        this.#readBytes += size;
      }
      yield { files: listed.slice(start, end), entries: [...entries.values()] };
      start = end;
    }
  }

  #compare(file: FileChange, contents: Contents, prefix: string): DiffFile {
    const { change, path, fromPath, from, to } = file;
    const common = {
      change,
      path: `${prefix}${path}`,
      ...(fromPath !== null && { from_path: `${prefix}${fromPath}` }),
      from: from && toSide(from),
      to: to && toSide(to),
    };
    const lines = from?.hash === to?.hash ? NO_CHANGES : this.#lines(file, contents);
    return typeof lines === "string"
      ? { ...common, added: null, deleted: null, hunks: [], not_compared: lines }
      : { ...common, ...lines };
  }

  #lines({ from, to }: FileChange, contents: Contents): typeof NO_CHANGES | Reason {
    if (isTooLarge(from) || isTooLarge(to)) return "too_large";
    const [before, after] = [textOf(from, contents), textOf(to, contents)];
    if (!before.ok) return before.reason;
    if (!after.ok) return after.reason;
    const changes = lineChanges(before.text, after.text, this.#budget);
    if (changes === null) return this.#tooMany();
    const chars = changes.hunks.reduce((sum, { lines }) => sum + charsOf(lines), 0);
    if (this.#hunkChars + chars > DIFF_LIMITS.hunkChars) return "limit_reached";
    this.#hunkChars += chars;
    return changes;
  }

  #tooMany(): Reason {
    return this.#budget.isSpent ? "limit_reached" : "too_many_changes";
  }
}

const NO_CHANGES: { added: number; deleted: number; hunks: DiffFile["hunks"] } = {
  added: 0,
  deleted: 0,
  hunks: [],
};

const isTooLarge = (entry: FileEntry | null): boolean => (entry?.size ?? 0) > DIFF_LIMITS.fileBytes;

/** The contents that the comparison of a file needs. */
function contentsToRead(file: FileChange | undefined): FileEntry[] {
  const { from = null, to = null } = file ?? {};
  if (from?.hash === to?.hash || isTooLarge(from) || isTooLarge(to)) return [];
  return [from, to].filter((entry): entry is FileEntry => entry !== null && entry.size > 0);
}

type SideText = { ok: true; text: string } | { ok: false; reason: Reason };

/** The text of a file; "" for an empty file and for no file. */
function textOf(entry: FileEntry | null, contents: Contents): SideText {
  if (entry === null || entry.size === 0) return { ok: true, text: "" };
  const bytes = contents.get(entry.hash);
  if (bytes === undefined) return { ok: false, reason: "limit_reached" };
  if (bytes === null) return { ok: false, reason: "unavailable" };
  const text = toText(bytes);
  return text === null ? { ok: false, reason: "binary" } : { ok: true, text };
}

const charsOf = (lines: readonly string[]): number =>
  lines.reduce((sum, line) => sum + line.length + 4, 0);

const toSide = ({ hash, size, executable }: FileEntry) => ({
  sha256: hash,
  size,
  ...(executable && { executable }),
});

async function textSide(text: string | null): Promise<DiffAnswer["from"]> {
  if (text === null) return null;
  const bytes = new TextEncoder().encode(text);
  return { sha256: await hashOf(bytes), size: bytes.byteLength };
}
