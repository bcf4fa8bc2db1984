import type { DeltaSource } from "../../../src/engine/ports";
import type { DeltaItem } from "../../../src/protocol/events";
import { FLUSH, STORE } from "../../shared/object-limits";
import { chunks } from "./chunks";

/**
 * Collects the streamed text of all agents and decides when a row is due. The first text of a call
 * is due at once, but at most once per `FLUSH.firstMs`: the calls of a team often begin together.
 * Afterwards a row is due at most once per `FLUSH.watchedMs` if the session has readers, else once
 * per `FLUSH.unwatchedMs`. The buffer does not write rows: it calls `onDue`, and its owner takes
 * the items and writes them.
 */
export class DeltaBuffer {
  readonly #onDue: () => void;
  readonly #isWatched: () => boolean;
  /** Calls that have streamed text. */
  readonly #begun = new Set<string>();
  /** Characters streamed so far, by call, kind and tool call. */
  readonly #offsets = new Map<string, number>();
  #chunks = new Map<string, { source: DeltaSource; offset: number; texts: string[] }>();
  #chars = 0;
  #flushedAt = 0;
  #timer: { dueAt: number; handle: ReturnType<typeof setTimeout> } | null = null;

  constructor(options: { onDue: () => void; isWatched: () => boolean }) {
    this.#onDue = options.onDue;
    this.#isWatched = options.isWatched;
  }

  /** Adds streamed text. Calls `onDue` if a row is due now. */
  add(source: DeltaSource, text: string): void {
    if (text === "") return;
    const key = offsetKey(source);
    const offset = this.#offsets.get(key);
    this.#offsets.set(key, (offset ?? 0) + text.length);
    const chunk = this.#chunks.get(key);
    if (chunk) chunk.texts.push(text);
    else this.#chunks.set(key, { source, offset: offset ?? 0, texts: [text] });
    this.#chars += text.length;
    const isFirst = !this.#begun.has(source.call);
    this.#begun.add(source.call);
    const isDueNow = isFirst && Date.now() - this.#flushedAt >= FLUSH.firstMs;
    if (isDueNow || this.#chars >= STORE.deltaRowChars) this.#onDue();
    else if (isFirst) this.#schedule(FLUSH.firstMs);
    else this.#schedule(this.#isWatched() ? FLUSH.watchedMs : FLUSH.unwatchedMs);
  }

  /** Registers text that was stored before a restart: the call's next text continues after it. */
  seed(item: DeltaItem): void {
    this.#begun.add(item.call);
    this.#offsets.set(offsetKey(item), item.offset + item.text.length);
  }

  /** Removes all collected text and returns it as rows of limited size. `now`: unix ms. */
  take(now: number): DeltaItem[][] {
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    this.#timer = null;
    this.#flushedAt = now;
    const items = [...this.#chunks.values()].map(({ source, offset, texts }) => ({
      ...source,
      offset,
      text: texts.join(""),
    }));
    this.#chunks = new Map();
    this.#chars = 0;
    return toRows(items.flatMap(splitItem));
  }

  /** Deletes the offsets of a call that has ended. */
  forget(call: string): void {
    this.#begun.delete(call);
    for (const key of this.#offsets.keys())
      if (key.startsWith(`${call} `)) this.#offsets.delete(key);
  }

  /** Sets the timer to `waitMs` after the latest row, unless an earlier row is due. */
  #schedule(waitMs: number): void {
    const now = Date.now();
    const dueAt = Math.max(now, Math.min(now, this.#flushedAt) + waitMs);
    if (this.#timer !== null && this.#timer.dueAt <= dueAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    this.#timer = { dueAt, handle: setTimeout(() => this.#onDue(), dueAt - now) };
  }
}

const offsetKey = ({
  call,
  kind,
  name,
  tool_index,
}: Pick<DeltaItem, "call" | "kind" | "name" | "tool_index">): string =>
  `${call} ${kind} ${tool_index ?? ""} ${name ?? ""}`;

/** Splits an item that is too large for one row. */
function splitItem(item: DeltaItem): DeltaItem[] {
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
