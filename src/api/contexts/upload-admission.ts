import { sleep } from "../../async/sleep";
import { UploadRefusal } from "../../uploads/refusals";
import { MEMORY_LIMITS, type MemoryBudget, type Reservation } from "../../uploads/memory-budget";
import { ApiError } from "../errors";

/** Maximum time that an upload waits for memory before it starts. */
const MAX_WAIT_MS = 20_000;
/** Interval between two checks for free memory. */
const POLL_MS = 100;
const RETRY_AFTER_SECONDS = 5;

/** Maximum time that a running upload waits for more memory. */
const MAX_GROW_WAIT_MS = 5_000;

/**
 * An upload that needs `bytes` of memory. `signal` is aborted when the client disconnects; then the
 * memory is released.
 */
type MemoryRequest = { tenant: string; bytes: number; signal: AbortSignal };

/**
 * Methods by which a running upload reports its progress. All methods except `onWait` throw
 * `UploadRefusal` if the upload must stop.
 */
export type Progress = {
  /** Reports that some work on the upload is done. */
  report(): void;
  /** Reports that the service starts to wait for bytes of the body. */
  onWait(): void;
  /** Reports that `bytes` more bytes of the body have arrived. */
  onBytes(bytes: number): void;
  /**
   * Waits until the upload has `bytes` bytes of memory in total. Throws `uploads_busy` if the
   * memory does not become free soon.
   */
  requireMemory(bytes: number): Promise<void>;
};

/**
 * Runs `work` as soon as the budget has memory for the upload. Throws `uploads_busy` if the wait or
 * the queue is too long.
 */
export async function withMemory<T>(
  memory: MemoryBudget,
  { tenant, bytes, signal }: MemoryRequest,
  work: (progress: Progress) => Promise<T>,
): Promise<T> {
  const reservation = memory.enqueue(tenant, bytes, Date.now());
  if (reservation === null) throw busy();
  const release = () => memory.release(reservation);
  signal.addEventListener("abort", release);
  try {
    await waitForAdmission(memory, reservation, signal);
    return await work(progressOf(memory, reservation));
  } finally {
    signal.removeEventListener("abort", release);
    release();
  }
}

function progressOf(memory: MemoryBudget, reservation: Reservation): Progress {
  const stopUnless = (isAdmitted: boolean): void => {
    if (!isAdmitted) throw tooSlow();
  };
  const report = () => stopUnless(memory.reportProgress(reservation, Date.now()));
  return {
    report,
    onWait: () => memory.startWait(reservation, Date.now()),
    onBytes: (bytes) => stopUnless(memory.receive(reservation, bytes, Date.now())),
    async requireMemory(bytes) {
      const deadline = Date.now() + MAX_GROW_WAIT_MS;
      while (!memory.grow(reservation, bytes, Date.now())) {
        report();
        if (Date.now() >= deadline) throw busy();
        await sleep(POLL_MS);
      }
    },
  };
}

/**
 * Waits until the upload may start. Polls, because the platform can end a running upload without a
 * callback that would wake up the waiting ones.
 */
async function waitForAdmission(
  memory: MemoryBudget,
  reservation: Reservation,
  signal: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS;
  while (!memory.tryStart(reservation, Date.now())) {
    if (signal.aborted)
      throw new ApiError("upload_broken", "The client disconnected before its upload was read.");
    if (Date.now() >= deadline) throw busy();
    await sleep(POLL_MS);
  }
}

const busy = (): ApiError =>
  new ApiError("uploads_busy", "Too many uploads are in progress. Nothing was changed. Retry.", {
    headers: { "retry-after": String(RETRY_AFTER_SECONDS) },
  });

function tooSlow(): UploadRefusal {
  const { minBytesPerSecond, maxIdleMs, maxDurationMs } = MEMORY_LIMITS;
  const reasons = `slower than ${minBytesPerSecond / 1_000} kB per second, stalled for ${maxIdleMs / 1_000} seconds, or took more than ${maxDurationMs / 60_000} minutes`;
  return new UploadRefusal(
    "upload_broken",
    `The upload was ${reasons}. Nothing was changed. Retry; send a large upload as a manifest and blobs.`,
  );
}
