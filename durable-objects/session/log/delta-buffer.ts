import type { DeltaSource } from "../../../src/engine/ports";
import type { DeltaItem } from "../../../src/protocol/events";
import { FLUSH, STORE } from "../../shared/limits";
import { chunks } from "./chunks";

/**
 * Collects what all agents write until it is worth a row: the first piece of a call at once, then
 * at most one row per quarter of a second while someone watches, one per second when nobody does.
 * Knows nothing of storage; the owner takes the items.
 */
export class DeltaBuffer {
  readonly #onDue: () => void;
  readonly #isWatched: () => boolean;
  /** Calls that have written something. */
  readonly #begun = new Set<string>();
  /** Characters written so far, by call, kind and tool call. */
  readonly #offsets = new Map<string, number>();
  #pieces = new Map<string, { source: DeltaSource; offset: number; texts: string[] }>();
  #chars = 0;
  #flushedAt = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;

  constructor(options: { onDue: () => void; isWatched: () => boolean }) {
    this.#onDue = options.onDue;
    this.#isWatched = options.isWatched;
  }

  add(source: DeltaSource, text: string): void {
    if (text === "") return;
    const key = offsetKey(source);
    const offset = this.#offsets.get(key);
    this.#offsets.set(key, (offset ?? 0) + text.length);
    const piece = this.#pieces.get(key);
    if (piece) piece.texts.push(text);
    else this.#pieces.set(key, { source, offset: offset ?? 0, texts: [text] });
    this.#chars += text.length;
    const isFirst = !this.#begun.has(source.call);
    this.#begun.add(source.call);
    if (isFirst || this.#chars >= STORE.deltaRowChars) this.#onDue();
    else this.#schedule();
  }

  /** What was stored of a call before a restart: its text goes on behind it. */
  seed(item: DeltaItem): void {
    this.#begun.add(item.call);
    this.#offsets.set(offsetKey(item), item.offset + item.text.length);
  }

  /** Takes everything collected, in rows that are small enough. */
  take(now: number): DeltaItem[][] {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#flushedAt = now;
    const items = [...this.#pieces.values()].map(({ source, offset, texts }) => ({
      ...source,
      offset,
      text: texts.join(""),
    }));
    this.#pieces = new Map();
    this.#chars = 0;
    return toRows(items.flatMap(split));
  }

  /** The call is over: its offsets are not needed any more. */
  forget(call: string): void {
    this.#begun.delete(call);
    for (const key of this.#offsets.keys())
      if (key.startsWith(`${call} `)) this.#offsets.delete(key);
  }

  #schedule(): void {
    if (this.#timer !== null) return;
    const wait = this.#isWatched() ? FLUSH.watchedMs : FLUSH.unwatchedMs;
    const due = Math.min(wait, Math.max(0, this.#flushedAt + wait - Date.now()));
    this.#timer = setTimeout(() => this.#onDue(), due);
  }
}

const offsetKey = ({
  call,
  kind,
  name,
  tool_index,
}: Pick<DeltaItem, "call" | "kind" | "name" | "tool_index">): string =>
  `${call} ${kind} ${tool_index ?? ""} ${name ?? ""}`;

/** One provider chunk may be larger than a row. */
function split(item: DeltaItem): DeltaItem[] {
  let offset = item.offset;
  return [...chunks(item.text, STORE.deltaRowChars)].map((text) => {
    const part = { ...item, offset, text };
    offset += text.length;
    return part;
  });
}

function toRows(items: DeltaItem[]): DeltaItem[][] {
  const rows: DeltaItem[][] = [];
  let chars = Number.POSITIVE_INFINITY;
  for (const item of items) {
    if (chars + item.text.length > STORE.deltaRowChars) {
      rows.push([]);
      chars = 0;
    }
    rows.at(-1)?.push(item);
    chars += item.text.length;
  }
  return rows;
}
