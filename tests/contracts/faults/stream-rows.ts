import { MAX_LINE_BYTES } from "../../../src/providers/call-limits";
import { ALWAYS, type FaultRow, MOST_REQUESTS } from "./fault-row";
import type { WireFault } from "./fault-server";

const streamWith =
  (
    change: (whole: Buffer) => readonly Buffer[],
    ending: "end" | "reset" | "silence" = "end",
    type = "text/event-stream",
  ) =>
  (): WireFault => ({ kind: "stream", change, ending, headers: { "content-type": type } });

/** A reply whose complete text is changed. */
export const whole = (change: (text: string) => string) =>
  streamWith((bytes) => [Buffer.from(change(bytes.toString()))]);
const singleBytes = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte));

function piecesOf(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
    bytes.subarray(n * size, (n + 1) * size),
  );
}

const SILENCE: readonly FaultRow[] = [
  {
    fault: "no headers, until its first round's time is up",
    calls: ALWAYS,
    make: () => ({ kind: "mute" }),
    codes: ["initial_round_timeout"],
    end: "fails",
  },
  {
    fault: "headers only, until its first round's time is up",
    calls: ALWAYS,
    make: streamWith(() => [], "silence"),
    codes: ["initial_round_timeout"],
    end: "fails",
  },
];

const cutAt = (share: number, ending: "end" | "reset"): FaultRow => ({
  fault: `${ending === "end" ? "ended" : "connection lost"} after ${share} % of the bytes`,
  calls: 1,
  make: streamWith(
    (bytes) => [bytes.subarray(0, Math.floor((bytes.length * share) / 100))],
    ending,
  ),
  codes: ["stream_cut", "connection_lost", "connection_failed", "empty_reply", "bad_response"],
  end: "goes on",
});
const CUTS: readonly FaultRow[] = [0, 10, 30, 50, 70].flatMap((share) => [
  cutAt(share, "end"),
  cutAt(share, "reset"),
]);

const BAD_STREAM = ["bad_response", "stream_cut", "empty_reply"];
const STREAMS: readonly FaultRow[] = [
  {
    fault: "SSE: CR only",
    calls: 1,
    make: whole((text) => text.replace(/\r?\n/g, "\r")),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: CRLF",
    calls: 1,
    make: whole((text) => text.replace(/\r?\n/g, "\r\n")),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: byte order mark",
    calls: 1,
    make: whole((text) => `\uFEFF${text}`),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: characters split, a byte at a time",
    calls: 1,
    make: streamWith(singleBytes),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: in pieces of 7 bytes",
    calls: 1,
    make: streamWith((bytes) => piecesOf(bytes, 7)),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: no blank line at the end",
    calls: 1,
    make: whole((text) => text.trimEnd()),
    codes: [],
    end: "goes on",
  },
  {
    fault: "SSE: comments only",
    calls: 1,
    make: whole(() => ": hello\n\n: bye\n\n"),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: a line of 5 MB",
    calls: 1,
    make: whole(() => `data: ${"x".repeat(MAX_LINE_BYTES + 1_000_000)}\n\n`),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: data that is no JSON",
    calls: 1,
    make: whole((text) => `event: message_start\ndata: oops\n\n${text}`),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: a web page with 200",
    calls: 1,
    make: streamWith(
      () => [Buffer.from("<!DOCTYPE html><title>Sign in</title>")],
      "end",
      "text/html",
    ),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: an empty 200",
    calls: 1,
    make: whole(() => ""),
    codes: BAD_STREAM,
    end: "goes on",
  },
  {
    fault: "SSE: an empty 200, always",
    calls: ALWAYS,
    make: whole(() => ""),
    codes: BAD_STREAM,
    end: "fails",
    requests: MOST_REQUESTS,
  },
];

/** The bytes of the reply are late, incomplete or changed. */
export const STREAM_ROWS: readonly FaultRow[] = [...SILENCE, ...CUTS, ...STREAMS];
